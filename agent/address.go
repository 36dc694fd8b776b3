package agent

import (
	"errors"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/address"
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
	case !address.ValidHost(u.Hostname()):
		return nil, nil, errors.New("agent address: the host is neither a name nor an IP address")
	case !address.ValidPort(u.Port()):
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
