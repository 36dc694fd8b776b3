package controller

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/reference"
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
	short, prefixed := strings.CutPrefix(arg, "github:")
	issue, ok := reference.Parse(short)
	web := issue.Scheme == "https" && issue.Host == "github.com" && !issue.Pull && !prefixed
	if !ok || issue.Host != "" && !web || issue.Digits != strconv.Itoa(issue.Number) || !IsOwner(issue.Owner) || !IsRepo(issue.Repo) {
		return triage.Ref{}, fmt.Errorf("want OWNER/REPO#NUMBER or https://github.com/OWNER/REPO/issues/NUMBER, got %q", text.Quote(arg))
	}
	return issue.Ref, nil
}
