package facts

import (
	"errors"
	"slices"
	"time"

	"github.com/org/foreman-action/triage"
)

// A Lookup answers what an event does not tell. A method is called only when an
// expression that is evaluated asks, and its error fails that expression. It may be
// called several times for one event: implementations keep what they found.
type Lookup interface {
	// Permission returns what an account may do in the repository: "admin", "maintain",
	// "write", "triage", "read" or "none".
	Permission(login string) (string, error)
	// Past returns what happened on the issue.
	Past() (Past, error)
	// Earlier returns the past further back than Past did. It is called where Past.More is
	// true and no change was found.
	Earlier() (Past, error)
	// Memory returns our earlier work on the issue.
	Memory() (Memory, error)
	// Author returns what the author of the issue opened before.
	Author() (Author, error)
	PullLookup
}

// A PullLookup answers what an event does not tell of a pull request. Its answers are empty
// for an issue.
type PullLookup interface {
	// Pull returns the fields of the pull request. It is not called for an event that carries
	// them.
	Pull() (triage.PullRequest, error)
	// Files returns the paths of the files that the pull request changes.
	Files() ([]string, error)
	// Messages returns the messages of its commits, the oldest first.
	Messages() ([]string, error)
	// Reviews returns who approved it, and who requested changes.
	Reviews() (Reviews, error)
}

// A Past is what happened on an issue.
type Past struct {
	Changes []Change // the oldest first
	// Partial is whether the oldest changes are missing.
	Partial bool
	// More is whether Lookup.Earlier has some of these.
	More bool
}

// Last returns the newest change that matches; found is false when there is none.
func (p Past) Last(match func(Change) bool) (last Change, found bool) {
	for _, c := range slices.Backward(p.Changes) {
		if match(c) {
			return c, true
		}
	}
	return Change{}, false
}

// A Change is something that happened on an issue.
type Change struct {
	Kind  string // GitHub's name for it, such as "labeled" or "commented"
	At    time.Time
	Login string // who did it; empty for a deleted account
	Label string // of "labeled" and "unlabeled"; else empty
	Human bool   // neither we nor another program did it
	Ours  bool   // it happened under our login
}

// A Memory is what we remember of an issue.
type Memory struct {
	Tasks    int      `expr:"tasks"`    // how often we decided on it
	Comments int      `expr:"comments"` // that we posted
	Labels   []string `expr:"labels"`   // that we added, whatever became of them
	Never    []string `expr:"never"`    // labels that are never added again
	Closing  bool     `expr:"closing"`  // it is to be closed after a grace period
}

// An Author is what the author of an issue opened in the repository before it.
type Author struct {
	Issues int `expr:"issues"` // issues and pull requests
	Pulls  int `expr:"pulls"`  // count up to 100 together
}

// Reviews are the people whose last review of a pull request approves it or requests changes.
// Those count who may approve it: owners, members and collaborators.
type Reviews struct {
	ApprovedBy         []string `expr:"approved_by"`          // logins
	ChangesRequestedBy []string `expr:"changes_requested_by"` // logins
}

// A Known is a Lookup with answers that are known already. It is safe for concurrent use as
// long as it is not changed. Missing answers are empty: accounts without an entry have
// the permission "none".
type Known struct {
	Permissions map[string]string // by login, as it is spelled
	History     Past
	PullRequest triage.PullRequest
	Changed     []string // paths
	Commits     []string // messages
	Reviewed    Reviews
	Opened      Author
	Before      Memory
}

// Permission returns the entry of the login.
func (k Known) Permission(login string) (string, error) {
	if p := k.Permissions[login]; p != "" {
		return p, nil
	}
	return "none", nil
}

// Past returns k.History.
func (k Known) Past() (Past, error) { return k.History, nil }

// Earlier returns k.History.
func (k Known) Earlier() (Past, error) { return k.History, nil }

// Pull returns k.PullRequest.
func (k Known) Pull() (triage.PullRequest, error) { return k.PullRequest, nil }

// Files returns k.Changed.
func (k Known) Files() ([]string, error) { return k.Changed, nil }

// Messages returns k.Commits.
func (k Known) Messages() ([]string, error) { return k.Commits, nil }

// Reviews returns k.Reviewed.
func (k Known) Reviews() (Reviews, error) { return k.Reviewed, nil }

// Author returns k.Opened.
func (k Known) Author() (Author, error) { return k.Opened, nil }

// Memory returns k.Before.
func (k Known) Memory() (Memory, error) { return k.Before, nil }

// ErrUnasked is the error of a [Lookup] that only repeats the answers of an earlier run, to
// explain it: the run did not ask this, because it did not reach the rule.
var ErrUnasked = errors.New("nothing asked for it, so it was not looked up")
