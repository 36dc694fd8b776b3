// Package address validates the hosts of addresses, and decides to which of them a secret may go
// unencrypted.
package address

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ValidHost reports whether a host, as url.URL.Hostname returns it, is an IP address or a name of
// letters, digits, '-', '_' and '.'. It exists because url.Parse accepts many other characters.
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

// Loopback reports whether a host is certainly this machine. The host may be in brackets, as in
// [::1].
func Loopback(host string) bool {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// Nearby reports whether a secret may go to the host unencrypted. The host must be this machine, a
// private or link-local IP address, or a name without a dot, such as the names of services in
// container networks.
func Nearby(host string) bool {
	host = strings.ToLower(host)
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast()
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	// Some resolvers interpret a bare number, decimal or with 0x, as an IPv4 address.
	_, err := strconv.ParseUint(host, 0, 64)
	return err != nil && !strings.Contains(host, ".")
}

// Canonical returns the normal form of an agent's base address. Tasks are stored under this form.
// Scheme and host are in lower case, and an IPv6 address is in its shortest form. Userinfo, the scheme's default port, trailing slashes and a
// last path element "task" are removed. The error contains no part of raw, because a password may
// be anywhere in it.
func Canonical(raw string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return "", errors.New("it cannot be read as an address (special characters in a password are written as %XX)")
	case u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "":
		return "", errors.New("want an address that starts with https:// or http://")
	case !ValidHost(u.Hostname()):
		return "", errors.New("the host of the address is neither a name nor an IP address")
	case !ValidPort(u.Port()):
		return "", errors.New("the port of the address is not between 1 and 65535")
	case u.Fragment != "" || u.RawQuery != "":
		return "", errors.New("the address has a query or a #fragment")
	}
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		if addr, err := netip.ParseAddr(host); err == nil { // always: the host is valid
			host = addr.String()
		}
		host = "[" + strings.Replace(host, "%", "%25", 1) + "]"
	}
	if port := u.Port(); port != "" && port != map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		host += ":" + port
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	path = strings.TrimRight(strings.TrimSuffix(path, "/task"), "/")
	return u.Scheme + "://" + host + path, nil
}

// ParseNetwork parses a network such as 10.0.0.0/8. For a single IP address it returns the network
// that contains only this address.
func ParseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q: want a network such as 10.0.0.0/8, or an IP address", text)
	}
	return p.Masked(), nil
}

// Web returns the address of GitHub's web pages for the address of its API; empty: github.com. An Enterprise
// Server has web pages and API on the same host.
func Web(api string) string {
	u, err := url.Parse(api)
	if api == "" || err != nil || u.Host == "api.github.com" {
		return ""
	}
	return u.Scheme + "://" + strings.TrimPrefix(u.Host, "api.")
}
