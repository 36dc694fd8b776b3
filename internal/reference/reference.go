// Package reference parses references to issues as people write them.
package reference

import (
	"net/url"
	"strings"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// A Reference is an issue or pull request, and how it was written.
type Reference struct {
	triage.Ref

	Scheme, Host string // of its address in a browser; empty for OWNER/REPO#N
	Pull         bool   // it is the address of a pull request
	Digits       string // the number as it was written, such as 05
}

// Parse parses OWNER/REPO#N or the address of an issue or pull request in a browser, on any host. ok
// is false for other texts.
func Parse(s string) (r Reference, ok bool) {
	repo, number, ok := strings.Cut(s, "#")
	if u, err := url.Parse(s); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
		parts := strings.Split(strings.Trim(u.Path, "/"), "/")
		if ok = len(parts) == 4 && (parts[2] == "issues" || parts[2] == "pull"); !ok {
			return Reference{}, false
		}
		repo, number = parts[0]+"/"+parts[1], parts[3]
		r = Reference{Scheme: u.Scheme, Host: u.Host, Pull: parts[2] == "pull"}
	}
	owner, name, known := protocol.SplitRepo(repo)
	n, err := triage.ParseNumber(number)
	r.Ref, r.Digits = triage.Ref{Owner: owner, Repo: name, Number: n}, number
	return r, ok && known && err == nil
}
