// Package address says which hosts an address may name, and which of them are near
// enough for a secret to go there unencrypted.
package address

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ValidHost reports whether a host, as url.URL.Hostname returns it, is an IP address or
// a name of letters, digits, '-', '_' and '.'. url.Parse takes nearly anything.
func ValidHost(host string) bool {
	if strings.Contains(host, ":") {
		host, zone, _ := strings.Cut(host, "%")
		addr, err := netip.ParseAddr(host)
		return err == nil && addr.Is6() && validName(zone)
	}
	return host != "" && validName(host)
}

func validName(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// ValidPort reports whether a port is empty or between 1 and 65535.
func ValidPort(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// Nearby reports whether a secret may go to the host unencrypted: this machine, a
// private or link-local IP address, or a name without a dot, as container networks
// give to their services.
func Nearby(host string) bool {
	host = strings.ToLower(host)
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast()
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	// Some resolvers take a bare number, decimal or 0x, for an IPv4 address.
	_, err := strconv.ParseUint(host, 0, 64)
	return err != nil && !strings.Contains(host, ".")
}
