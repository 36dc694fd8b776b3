package agent

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// taskPath is where an agent takes tasks, below its base address.
const taskPath = "/task"

// parseAddress returns the address to post to, without userinfo, and the userinfo.
// No error repeats any part of raw: a mistyped address may hold a password anywhere.
func parseAddress(raw string) (*url.URL, *url.Userinfo, error) {
	if strings.TrimSpace(raw) == "" {
		return nil, nil, errors.New("agent address: it is empty")
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, nil, errors.New("agent address: it cannot be read as an address (special characters in a password are written as %XX)")
	case u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "":
		return nil, nil, errors.New("agent address: want one that starts with https:// or http://")
	case u.Hostname() == "":
		return nil, nil, errors.New("agent address: it names no host")
	case !validHost(u.Hostname()):
		return nil, nil, errors.New("agent address: the host is neither a name nor an IP address")
	case !validPort(u.Port()):
		return nil, nil, errors.New("agent address: the port is not between 1 and 65535")
	case u.Fragment != "":
		return nil, nil, errors.New("agent address: it has a #fragment, which is never sent")
	}
	user := u.User
	u.User = nil
	u.Host = strings.TrimSuffix(u.Host, ":")
	// The escaped form is what is compared and kept: %2F is no separator.
	path := strings.TrimRight(u.EscapedPath(), "/")
	if !strings.HasSuffix(path, taskPath) {
		path += taskPath
	}
	u.RawPath = path
	if u.Path, err = url.PathUnescape(path); err != nil {
		return nil, nil, errors.New("agent address: its path has a broken %XX")
	}
	return u, user, nil
}

// validHost reports whether a host is an IP address or a name of letters, digits,
// '-', '_' and '.'; url.Parse takes nearly anything.
func validHost(host string) bool {
	if strings.Contains(host, ":") {
		var zone string
		host, zone, _ = strings.Cut(host, "%")
		addr, err := netip.ParseAddr(host)
		return err == nil && addr.Is6() && validName(zone)
	}
	return validName(host)
}

func validName(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

func validPort(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// nearby reports whether a secret may go to the host unencrypted: this machine, a
// private or link-local IP address, or a name without a dot, as container networks
// give to their services.
func nearby(host string) bool {
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
