// Package roundtrip makes HTTP transports, reads the header Retry-After, and describes failed requests.
package roundtrip

import "net/http"

// New returns a copy of [http.DefaultTransport], which the caller may change. It uses the proxies
// of the environment. If the program replaced the default transport by another type, New returns a
// new transport.
func New() *http.Transport {
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		return t.Clone()
	}
	return &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
}
