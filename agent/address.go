package agent

import (
	"errors"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/address"
)

// taskPath is the path, below its base address, at which an agent receives tasks.
const taskPath = "/task"

// parseAddress returns the address to post tasks to, without userinfo, and the userinfo.
func parseAddress(raw string) (*url.URL, *url.Userinfo, error) {
	u, user, err := parseBase("agent address", raw)
	if err != nil {
		return nil, nil, err
	}
	if strings.HasSuffix(u.EscapedPath(), taskPath) {
		return u, user, nil
	}
	return below(u, taskPath), user, nil
}

// below returns the address of a path below a base address.
func below(base *url.URL, path string) *url.URL {
	u := *base
	u.RawPath = base.EscapedPath() + path
	u.Path += path
	return &u
}

// parseBase returns a base address without userinfo and without trailing slashes, and the
// userinfo. No error contains any part of raw, because a mistyped address may contain a password
// anywhere.
func parseBase(what, raw string) (*url.URL, *url.Userinfo, error) {
	if strings.TrimSpace(raw) == "" {
		return nil, nil, errors.New(what + ": it is empty")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, nil, errors.New(what + ": it cannot be read as an address (special characters in a password are written as %XX)")
	}
	wrong := ""
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "":
		wrong = "want one that starts with https:// or http://"
	case u.Hostname() == "":
		wrong = "it names no host"
	case !address.ValidHost(u.Hostname()):
		wrong = "the host is neither a name nor an IP address"
	case !address.ValidPort(u.Port()):
		wrong = "the port is not between 1 and 65535"
	case u.Fragment != "":
		wrong = "it has a #fragment, which is never sent"
	}
	if wrong != "" {
		return nil, nil, errors.New(what + ": " + wrong)
	}
	user := u.User
	u.User = nil
	u.Host = strings.TrimSuffix(u.Host, ":")
	// Paths are kept in their escaped form, because %2F is not a separator.
	path := strings.TrimRight(u.EscapedPath(), "/")
	u.RawPath = path
	if u.Path, err = url.PathUnescape(path); err != nil {
		return nil, nil, errors.New(what + ": its path has a broken %XX")
	}
	return u, user, nil
}
