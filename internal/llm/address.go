package llm

import (
	"errors"
	"net/url"
	"strings"
	"unicode"

	"github.com/org/foreman-action/internal/address"
)

// parseBase parses a base URL, to which request paths can be appended. Errors repeat no part of
// raw, because people may paste a key into the wrong field.
func parseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("llm base URL: it is not a valid URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "":
		return nil, errors.New("llm base URL: want one that starts with https:// or http://")
	case !address.ValidHost(u.Hostname()) || strings.ContainsRune(u.Host, '%') || strings.ContainsFunc(u.Host, func(r rune) bool { return r > unicode.MaxASCII }):
		return nil, errors.New("llm base URL: want a host name or an IP address")
	case !address.ValidPort(u.Port()):
		return nil, errors.New("llm base URL: the port is not between 1 and 65535")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.RawPath != "":
		return nil, errors.New("llm base URL: want a host and a path, without user, query, fragment and %XX; the key has a field of its own")
	}
	u.Host = strings.TrimSuffix(u.Host, ":")
	return u, nil
}
