package access

import (
	"context"
	"net/http"
	"net/netip"
	"strings"

	"github.com/org/foreman-action/internal/address"
)

// ClientAddr returns the address of a request's sender as found by [Proxies.With]. For IPv6 it is
// the /64 network, because one machine may own all of its addresses.
func ClientAddr(r *http.Request) string {
	addr, ok := r.Context().Value(clientKey{}).(netip.Addr)
	if !ok {
		at, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil {
			return r.RemoteAddr
		}
		addr = at.Addr()
	}
	addr = addr.Unmap()
	if p, err := addr.WithZone("").Prefix(64); addr.Is6() && err == nil {
		return p.String()
	}
	return addr.String()
}

// clientKey is the key of a client's address in the context of its request.
type clientKey struct{}

// Proxies are the networks of the trusted proxies. The address that they add to X-Forwarded-For or
// Forwarded is the client's. In requests from other senders, these headers are ignored.
type Proxies []netip.Prefix

// ParseProxies returns the proxies of a configuration: networks such as 10.0.0.0/8, and
// single addresses.
func ParseProxies(list []string) (Proxies, error) {
	var out Proxies
	for _, text := range list {
		p, err := address.ParseNetwork(text)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// With returns the request with the client's address in its context, as the trusted proxies report
// it. It returns r unchanged if no trusted proxy sent it.
func (p Proxies) With(r *http.Request) *http.Request {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !p.has(at.Addr()) {
		return r
	}
	chain := forwardedFor(r.Header)
	if other := forwarded(r.Header); chain == nil {
		chain = other
	} else if other != nil && p.client(at.Addr(), chain) != p.client(at.Addr(), other) {
		chain = nil // a proxy sets only one of the headers, so the client made up the other one
	}
	return r.WithContext(context.WithValue(r.Context(), clientKey{}, p.client(at.Addr(), chain)))
}

func (p Proxies) has(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	for _, network := range p {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// maxHops is the maximum number of addresses that are read from a chain.
const maxHops = 32

// client returns the last address of a chain that is not a trusted proxy. Earlier entries may be
// made up. If an entry is not an address, client returns the proxy that added it.
func (p Proxies) client(addr netip.Addr, chain []string) netip.Addr {
	for i := len(chain) - 1; i >= max(0, len(chain)-maxHops) && p.has(addr); i-- {
		next, ok := parseHop(chain[i])
		if !ok {
			return addr
		}
		addr = next
	}
	return addr
}

// forwardedFor returns the chain in X-Forwarded-For, or nil if there is none.
func forwardedFor(h http.Header) []string {
	lines := h.Values("X-Forwarded-For")
	if len(lines) == 0 {
		return nil
	}
	return strings.Split(strings.Join(lines, ","), ",")
}

// forwarded returns the chain in Forwarded (RFC 7239); nil: no such header. An element without an
// address becomes an invalid entry.
func forwarded(h http.Header) []string {
	lines := h.Values("Forwarded")
	if len(lines) == 0 {
		return nil
	}
	var chain []string
	for element := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		hop := ""
		for pair := range strings.SplitSeq(element, ";") {
			if name, value, _ := strings.Cut(strings.TrimSpace(pair), "="); strings.EqualFold(name, "for") {
				hop = strings.Trim(value, `"`)
			}
		}
		chain = append(chain, hop)
	}
	return chain
}

// parseHop returns the address of an entry, which may have a port.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr(), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return addr, err == nil
}
