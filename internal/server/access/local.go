package access

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/address"
)

// CheckBind returns an error unless a server with these credentials may listen on addr, which is
// "host:port" as in net.Listen. With credentials for agents it may listen everywhere, else only on
// loopback addresses. Call it before listening.
func CheckBind(addr string, c *Credentials) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("listen on %q: want host:port", addr)
	}
	if agents, _ := c.Configured(); agents || address.Loopback(host) {
		return nil
	}
	return fmt.Errorf("listen on %s: any client that reaches it could claim and decide tasks; "+
		"configure server.credentials, or listen on 127.0.0.1", addr)
}

// CheckLocal returns nil if a request needs no credential, because a program on this machine sent
// it. Else the error contains the reason for the client: the request came from another machine,
// through a proxy, or for another host name. A malicious site can point its host name at this
// machine, so that its visitors' browsers read this server's pages. Browsers send the host name as
// Host.
func CheckLocal(r *http.Request) error {
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok && !addr.IP.IsLoopback() {
		return errors.New("from other machines a credential is needed, and none are configured (server.credentials, or Credentials of package harness)")
	}
	if by := proxied(r); by != "" {
		return errors.New("the request came through a proxy (" + by + "), whose clients are unknown: " +
			"a credential is needed, and none are configured (server.credentials, or Credentials of package harness)")
	}
	switch {
	case !address.Loopback(hostOf(r)):
		return errors.New("without credentials the server answers only under the name localhost or a loopback address")
	case !Addressed(r, address.Loopback):
		return errors.New("without credentials the server answers no page of another host")
	}
	return nil
}

// Addressed reports whether a request is for a host that is allowed, and does not come from a page
// of another host. Browsers send the host of the page as Origin. A host has no port.
func Addressed(r *http.Request, allowed func(host string) bool) bool {
	if !allowed(hostOf(r)) {
		return false
	}
	for _, origin := range r.Header["Origin"] {
		if u, err := url.Parse(origin); err != nil || !allowed(u.Hostname()) {
			return false
		}
	}
	return true
}

// proxied returns the sign that a request came through a proxy, or "". HTTP/1.0 is a sign: some
// proxies add no header but use it by default, and clients no longer do.
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

// hostOf returns the host of a request without its port.
func hostOf(r *http.Request) string {
	if host, port, err := net.SplitHostPort(r.Host); err == nil && address.ValidPort(port) {
		return host
	}
	return r.Host
}
