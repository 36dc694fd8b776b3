// Package roundtrip makes HTTP transports.
package roundtrip

import "net/http"

// New returns a copy of [http.DefaultTransport], which the caller may change: it uses the proxies
// of the environment. A program that put something else in that place gets one that is new.
func New() *http.Transport {
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		return t.Clone()
	}
	return &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
}
