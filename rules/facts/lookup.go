package facts

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// A Lookup returns data that an event does not contain. A method is called only when the evaluation
// of an expression needs it; its error makes the expression fail. A method may be called several
// times for one event, so implementations should keep their results.
type Lookup interface {
	// Permission returns the permission of an account in the repository: "admin", "maintain",
	// "write", "triage", "read" or "none".
	Permission(ctx context.Context, login string) (string, error)
	// Timeline returns the changes of the issue.
	Timeline(ctx context.Context) (Timeline, error)
	// Earlier returns changes older than those of Timeline. It is called when Timeline.More is true
	// and the wanted change was not found.
	Earlier(ctx context.Context) (Timeline, error)
	// Read sets the field of k that contains a part, as [LookupSpec.Value] returns it. It leaves the
	// other fields unchanged. PullPart is not read for an event that contains it. With an
	// [*UnsuppliedError] it has set the values of the part that the error does not name.
	Read(ctx context.Context, p Part, k *Known) error
}

// A Timeline lists the changes of an issue.
type Timeline struct {
	Changes []Change // the oldest first
	// Partial is true when the oldest changes are missing.
	Partial bool
	// More is true when [Lookup.Earlier] has some of the missing changes.
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

// Opening returns the timeline of an issue on which nothing happened since it was opened: its labels
// came with it.
func Opening(i triage.Issue) Timeline {
	var t Timeline
	for _, label := range i.Labels {
		t.Changes = append(t.Changes, Change{Kind: "labeled", At: i.CreatedAt, Login: i.Author, Label: label})
	}
	return t
}

// Addition returns the change that added a label which the issue has, out of all its labels. found
// is false if the change is older than the timeline. The timeline contains the names that labels had
// then. If the label was renamed, its newest change is not an addition under its name. Then the
// addition is that of the earlier name: the only name that was added last, although the issue has no
// such label. unknown is the reason if there is more than one such name, or none in a complete
// timeline. The labels may be those of the time of the event, without Foreman's changes since. So
// these neither remove the label nor add an earlier name. The zero time means that there are none.
func (p Timeline) Addition(label string, labels []string, event time.Time) (c Change, found bool, unknown string) {
	undone := func(c Change) bool {
		return c.Ours && !event.IsZero() && !c.At.Before(event.Truncate(time.Second))
	}
	last, found := p.Last(func(c Change) bool {
		return text.SameLabel(c.Label, label) && (c.Kind == "labeled" || c.Kind == "unlabeled" && !undone(c))
	})
	if found && last.Kind == "labeled" {
		return last, true, ""
	}
	seen, names := map[string]bool{}, 0
	for _, l := range labels {
		seen[text.LabelKey(l)] = true
	}
	for _, e := range slices.Backward(p.Changes) {
		if !e.aboutLabel() || undone(e) || seen[text.LabelKey(e.Label)] {
			continue
		}
		if seen[text.LabelKey(e.Label)] = true; e.Kind == "labeled" {
			c, names = e, names+1
		}
	}
	switch {
	case names == 1:
		return c, true, ""
	case names > 1: // each of them may be newer than the timeline's first change
		return Change{}, false, "the timeline of the issue shows several labels that may be its earlier name"
	case p.Partial:
		return Change{}, false, ""
	}
	return Change{}, false, "the timeline of the issue does not show when the label was added, which may have been renamed or have come with a transfer"
}

// A Change is something that happened on an issue.
type Change struct {
	Kind  string // GitHub's name for the change, such as "labeled" or "commented"
	At    time.Time
	Login string // who did it; empty for a deleted account
	Label string // of "labeled" and "unlabeled"; else empty
	Human bool   // the change was made by a person, not by Foreman or another program
	Ours  bool   // the change was made by Foreman's account
}

// aboutLabel reports whether the change added or removed a label.
func (c Change) aboutLabel() bool { return c.Kind == "labeled" || c.Kind == "unlabeled" }

// A Memory is the memory's record of an issue.
type Memory struct {
	Tasks    int      `expr:"tasks"`    // Foreman's earlier decisions on the issue
	Comments int      `expr:"comments"` // comments that Foreman posted
	Labels   []string `expr:"labels"`   // labels that Foreman added, even if removed since
	Never    []string `expr:"never"`    // labels that are never added again
	Closing  bool     `expr:"closing"`  // a close after a grace period is scheduled
}

// An Author counts the earlier issues and pull requests of an issue's author in the repository.
type Author struct {
	Issues int `expr:"issues"` // number of issues
	Pulls  int `expr:"pulls"`  // number of pull requests; counting stops at 100 of both together
}

// A Contrib is contribflow's score of how well an issue suits contributors. It is computed from the
// event and the repository's open pull requests.
type Contrib struct {
	Score             int    `expr:"score"`              // 0 to 100
	DuplicateEvidence string `expr:"duplicate_evidence"` // evidence of work on the issue: "low", "medium" or "high"
	SecuritySensitive bool   `expr:"security_sensitive"` // it may need private disclosure
}

// Reviews are the people whose last review of a pull request approves it or requests changes. Only
// owners, members and collaborators count, because only they may approve it.
type Reviews struct {
	ApprovedBy         []string `expr:"approved_by"`          // logins
	ChangesRequestedBy []string `expr:"changes_requested_by"` // logins
}

// ErrUnasked is the error of a [Lookup] that repeats the results of an earlier run in order to
// explain it. The run did not look this up, because it did not reach the rule.
var ErrUnasked = errors.New("it was not looked up, because the run did not need it")

// The names of an [UnsuppliedError] that are no fields of a [LookupSpec].
const (
	PermissionName = "actor.permission" // of [Lookup.Permission]
	TimelineName   = "past"             // of [Lookup.Timeline]
)

// An UnsuppliedError is the error of a [Lookup] that only knows what somebody supplied who tries the
// rules. Names lists the missing values, such as "author.issues". A rule whose result depends on one
// of them is undecided, and does nothing.
type UnsuppliedError struct{ Names []string }

// Error lists the values.
func (e *UnsuppliedError) Error() string {
	verb := " is"
	if len(e.Names) > 1 {
		verb = " are"
	}
	list := strings.Join(e.Names, ", ")
	if list == TimelineName {
		list = "the timeline of the issue (past)"
	}
	return list + verb + " not known here"
}

// An UnknownError is the error of an expression that needs a value which cannot be known, such as
// the age of a label whose addition is not in the timeline. A rule that needs the value does
// nothing. A [Lookup] may return it.
type UnknownError struct{ Reason string }

// Error returns the reason.
func (e *UnknownError) Error() string { return e.Reason }
