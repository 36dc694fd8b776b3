package controller

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// The names of accounts and repositories on GitHub. The name of a managed user ends with "_" and the
// short code of the enterprise.
var (
	ownerName = regexp.MustCompile(`^[A-Za-z0-9](-?[A-Za-z0-9])*(_[A-Za-z0-9]+)?$`)
	repoName  = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
)

// excludedOwner matches names in excludeRepos. It allows names that are older than GitHub's rules,
// and names of enterprise accounts, which contain an underscore.
var excludedOwner = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// IsOwner reports whether a text can be the name of an account.
func IsOwner(login string) bool {
	const limit = 39
	return len(login) <= limit && ownerName.MatchString(login)
}

// IsRepo reports whether a text can be the name of a repository.
func IsRepo(name string) bool {
	const limit = 100
	return len(name) <= limit && repoName.MatchString(name) && name != "." && name != ".."
}

// ParseIssue parses an issue: owner/repo#1, github:owner/repo#1 or its URL on GitHub.
func ParseIssue(arg string) (triage.Ref, error) {
	wrong := fmt.Errorf("want OWNER/REPO#NUMBER or https://github.com/OWNER/REPO/issues/NUMBER, got %q", text.Quote(arg))
	repo, number, ok := strings.Cut(strings.TrimPrefix(arg, "github:"), "#")
	if u, err := url.Parse(arg); err == nil && u.Scheme == "https" && u.Host == "github.com" {
		parts := strings.Split(strings.Trim(u.Path, "/"), "/")
		if len(parts) != 4 || parts[2] != "issues" {
			return triage.Ref{}, wrong
		}
		repo, number, ok = parts[0]+"/"+parts[1], parts[3], true
	}
	owner, name, found := strings.Cut(repo, "/")
	n, err := triage.ParseNumber(number)
	if !ok || !found || err != nil || number != strconv.Itoa(n) || !IsOwner(owner) || !IsRepo(name) {
		return triage.Ref{}, wrong
	}
	return triage.Ref{Owner: owner, Repo: name, Number: n}, nil
}
