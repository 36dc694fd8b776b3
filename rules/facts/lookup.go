package facts

import (
	"errors"
	"slices"
	"time"

	"github.com/org/foreman-action/triage"
)

// A Lookup returns data that an event does not contain. A method is called only when an
// expression that is evaluated asks, and its error fails that expression. It may be called
// several times for one event: implementations keep what they found.
type Lookup interface {
	// Permission returns the permission of an account in the repository: "admin", "maintain",
	// "write", "triage", "read" or "none".
	Permission(login string) (string, error)
	// Timeline returns the changes of the issue.
	Timeline() (Timeline, error)
	// Earlier returns older changes than Timeline did. It is called where Timeline.More is
	// true and no change was found.
	Earlier() (Timeline, error)
	// Memory returns our earlier work on the issue.
	Memory() (Memory, error)
	IssueLookup
	PullLookup
}

// An IssueLookup looks up facts about the issue that need a search. Its methods are those of
// [Lookup].
type IssueLookup interface {
	// Author returns how much the author of the issue opened before.
	Author() (Author, error)
	// Contrib returns how the issue suits contributors.
	Contrib() (Contrib, error)
}

// A PullLookup looks up the facts of a pull request that an event does not contain. Its answers
// are empty for an issue.
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

// A Timeline lists the changes of an issue.
type Timeline struct {
	Changes []Change // the oldest first
	// Partial is whether the oldest changes are missing.
	Partial bool
	// More is whether Lookup.Earlier has some of these.
	More bool
}

// Last returns the newest change that matches; found is false when there is none.
func (p Timeline) Last(match func(Change) bool) (last Change, found bool) {
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

// A Memory is the memory's record of an issue.
type Memory struct {
	Tasks    int      `expr:"tasks"`    // how often we decided on it
	Comments int      `expr:"comments"` // that we posted
	Labels   []string `expr:"labels"`   // that we added, also if removed since
	Never    []string `expr:"never"`    // labels that are never added again
	Closing  bool     `expr:"closing"`  // a close after a grace period is scheduled
}

// An Author counts the earlier issues and pull requests of an issue's author in the repository.
type Author struct {
	Issues int `expr:"issues"` // issues and pull requests
	Pulls  int `expr:"pulls"`  // count up to 100 together
}

// A Contrib is contribflow's score of how an issue suits contributors, from the event and the
// repository's open pull requests.
type Contrib struct {
	Score             int    `expr:"score"`              // 0 to 100
	DuplicateEvidence string `expr:"duplicate_evidence"` // evidence of work on the issue: "low", "medium" or "high"
	SecuritySensitive bool   `expr:"security_sensitive"` // it is for private disclosure
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
	History     Timeline
	PullRequest triage.PullRequest
	Changed     []string // paths
	Commits     []string // messages
	Reviewed    Reviews
	Opened      Author
	Scored      Contrib
	Before      Memory
}

// Permission returns the entry of the login.
func (k Known) Permission(login string) (string, error) {
	if p := k.Permissions[login]; p != "" {
		return p, nil
	}
	return "none", nil
}

// Timeline returns k.History.
func (k Known) Timeline() (Timeline, error) { return k.History, nil }

// Earlier returns k.History.
func (k Known) Earlier() (Timeline, error) { return k.History, nil }

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

// Contrib returns k.Scored.
func (k Known) Contrib() (Contrib, error) { return k.Scored, nil }

// Memory returns k.Before.
func (k Known) Memory() (Memory, error) { return k.Before, nil }

// ErrUnasked is the error of a [Lookup] that only repeats the answers of an earlier run, to
// explain it: the run did not ask this, because it did not reach the rule.
var ErrUnasked = errors.New("it was not looked up, because no condition uses it")
