// Package guard judges who sent a request before anybody says who it is: whether it comes
// from this machine, and whether its sender was wrong too often.
package guard

import (
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/org/foreman-action/internal/address"
)

// Near returns nil if a request may be answered without asking who sent it: it came from a
// program on this machine, for itself. The error is for its sender, and says which it was:
// from another machine, through a proxy, or by a name of a site elsewhere, which can have it
// lead here and read what its visitors can; a browser tells that name in Host.
func Near(r *http.Request) error {
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok && !addr.IP.IsLoopback() {
		return errors.New("from other machines a credential is needed, and none are configured (server.credentials)")
	}
	if by := proxied(r); by != "" {
		return errors.New("the request came through a proxy (" + by + "), which anybody may stand behind: " +
			"a credential is needed, and none are configured (server.credentials)")
	}
	host := r.Host
	if h, port, err := net.SplitHostPort(host); err == nil && address.ValidPort(port) {
		host = h
	}
	if !address.Loopback(host) {
		return errors.New("without credentials the server answers only under the name localhost or a loopback address")
	}
	return nil
}

// proxied returns what shows that a request was passed on; empty: nothing does. There are
// proxies that add no header, and speak HTTP/1.0 unless told otherwise, as no client of
// the last decades does.
func proxied(r *http.Request) string {
	for _, name := range []string{"Forwarded", "Via", "X-Real-Ip"} {
		if _, ok := r.Header[name]; ok {
			return name
		}
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Forwarded-") {
			return "X-Forwarded-…"
		}
	}
	if !r.ProtoAtLeast(1, 1) {
		return "HTTP/1.0"
	}
	return ""
}
