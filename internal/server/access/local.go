package access

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/org/foreman-action/internal/address"
)

// CheckBind returns an error unless a server with these credentials may listen on the
// address, "host:port" as net.Listen takes it. With credentials for agents it may listen
// everywhere, else only on loopback addresses. Call it before listening.
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

// CheckLocal returns nil if a request may be answered without a credential: a program on
// this machine sent it for itself. The error is for the client and contains the reason: the
// request came from another machine, through a proxy, or for the name of another site. Such
// a site can point its name at this machine and have its visitors' browsers read this
// server's pages; browsers send the name as Host.
func CheckLocal(r *http.Request) error {
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok && !addr.IP.IsLoopback() {
		return errors.New("from other machines a credential is needed, and none are configured (server.credentials)")
	}
	if by := proxied(r); by != "" {
		return errors.New("the request came through a proxy (" + by + "), whose clients are unknown: " +
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

// proxied returns the sign that a request came through a proxy, or "". Some proxies add no
// header, but speak HTTP/1.0 by default, which clients no longer do.
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
