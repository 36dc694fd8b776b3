package delivery

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/reference"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// ErrNoIssue means that a text names no issue on GitHub.
var ErrNoIssue = errors.New("want OWNER/REPO#N, or the address of an issue")

// IsIssue reports whether arg has the form of an issue, and not of a file name.
func IsIssue(arg string) bool {
	_, err := ParseIssue(arg, "")
	return !errors.Is(err, ErrNoIssue)
}

// ParseIssue parses OWNER/REPO#N or the address of an issue in a browser. The error matches
// [ErrNoIssue] if arg has neither form. Another error means that the address belongs to another
// host than the API at apiURL. An empty apiURL means GitHub's own API.
func ParseIssue(arg, apiURL string) (triage.Ref, error) {
	issue, ok := reference.Parse(arg)
	if !ok {
		return triage.Ref{}, fmt.Errorf("%w, got %q", ErrNoIssue, text.Quote(arg))
	}
	if api, host := apiHost(apiURL), issue.Host; host != "" && !strings.EqualFold(api, host) && !strings.EqualFold(api, "api."+host) {
		return triage.Ref{}, fmt.Errorf("%s is on %s, and issues are read from %s: set GITHUB_API_URL, such as https://%s/api/v3",
			text.Quote(arg), text.Quote(host), api, text.Quote(host))
	}
	return issue.Ref, nil
}

// apiHost returns the host of the API at apiURL; empty: GitHub's own host.
func apiHost(apiURL string) string {
	if u, err := url.Parse(apiURL); err == nil && u.Host != "" {
		return u.Host
	}
	return "api.github.com"
}
