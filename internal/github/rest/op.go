package rest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/org/foreman-action/triage"
)

// The permissions that calls need, as a workflow writes them.
const (
	NeedIssuesRead   = "issues: read"
	NeedPullsRead    = "pull-requests: read"
	NeedPullsWrite   = "pull-requests: write"
	NeedIssuesWrite  = "issues: write"
	NeedContentsRead = "contents: read"
)

// A Scope is the object of a call.
type Scope int

// The scopes; the zero value is an issue.
const (
	OneIssue      Scope = iota
	OneRepository       // the number of the reference does not count
	NoRepository        // the reference does not count
)

// An Op describes a call, for its errors.
type Op struct {
	What   string     // "add labels to"
	Ref    triage.Ref // the issue, or the repository
	Scope  Scope
	Need   string // the permission that it takes
	Absent error  // the meaning of 404 and 410: triage.ErrGone or triage.ErrNotFound
	Pages  int    // of a list, if more than 4
}

// String returns the operation, such as "add labels to o/r#7".
func (o Op) String() string {
	switch o.Scope {
	case NoRepository:
		return o.What
	case OneRepository:
		return fmt.Sprintf("%s %s/%s", o.What, o.Ref.Owner, o.Ref.Repo)
	case OneIssue:
	}
	return o.What + " " + o.Ref.String()
}

// OnIssue is an Op that writes the issue itself: "not found" means that the issue is gone.
func OnIssue(what string, ref triage.Ref) Op {
	return Op{What: what, Ref: ref, Need: NeedIssuesWrite, Absent: triage.ErrGone}
}

// ReadIssue is an Op that reads the issue itself: "not found" means that the issue is gone.
func ReadIssue(what string, ref triage.Ref) Op {
	return Op{What: what, Ref: ref, Need: NeedIssuesRead, Absent: triage.ErrGone}
}

// LookUp is an Op that reads something other than the issue.
func LookUp(what string, ref triage.Ref) Op {
	return Op{What: what, Ref: ref, Need: NeedIssuesRead, Absent: triage.ErrNotFound}
}

// InRepository is an Op that reads something of a repository.
func InRepository(what, owner, repo, need string) Op {
	return Op{What: what, Ref: triage.Ref{Owner: owner, Repo: repo}, Scope: OneRepository, Need: need, Absent: triage.ErrNotFound}
}

// cause converts the transport's record of a failed call, or else go-github's error, into the
// error that the contract of runner.Issues requires.
func (o Op) cause(ex *exchange, err error) error {
	switch {
	case ex.err != nil:
		// go-github replaces the transport's error by the context's when both are there.
		if _, unsent := errors.AsType[*unsentError](ex.err); ex.write && !unsent {
			return fmt.Errorf("%w: %w", triage.ErrUncertain, ex.err)
		}
		return ex.err
	case ex.answer != nil:
		return o.judge(ex.answer, ex.write)
	case ex.write && ex.answered:
		return unreadable(err)
	default:
		return err
	}
}

func (o Op) judge(a *AnswerError, write bool) error {
	switch {
	case (a.Status >= 500 || a.unsure) && write:
		return fmt.Errorf("%w: %w", triage.ErrUncertain, a)
	case a.redirect():
		// A redirect means a moved repository or a transferred issue, to which the token of
		// this repository does not apply.
		return fmt.Errorf("%w: %w", o.Absent, a)
	case a.Status == http.StatusNotFound, a.Status == http.StatusGone:
		return fmt.Errorf("%w: %w", o.Absent, a)
	case a.Status == http.StatusForbidden && a.permission():
		return &triage.PermissionError{Need: o.Need, Err: a}
	}
	return a
}

// Unreadable is the failure of a write that GitHub answered with success, and with
// something that it should not have said: its outcome is unknown.
func (o Op) Unreadable(err error) error { return fmt.Errorf("%s: %w", o, unreadable(err)) }

func unreadable(err error) error {
	return fmt.Errorf("%w: the answer is unreadable: %w", triage.ErrUncertain, err)
}

// Check refuses a reference that would change the path of a request. The error does not name
// the operation.
func (o Op) Check() error {
	if o.Scope == NoRepository {
		return nil
	}
	for _, part := range []struct{ field, value string }{{"owner", o.Ref.Owner}, {"repository", o.Ref.Repo}} {
		if !plain(part.value) {
			return fmt.Errorf("%s %q: want letters, digits, '.', '_' and '-'", part.field, Clip(part.value, 100))
		}
	}
	if o.Scope == OneIssue && o.Ref.Number < 1 {
		return fmt.Errorf("issue number %d: want 1 or more", o.Ref.Number)
	}
	return nil
}

// plain reports whether a name has only the letters that GitHub allows in owners and
// repositories. A regular expression would cost every start more than all the calls.
func plain(name string) bool {
	const others = "-._"
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(others, r) {
			return false
		}
	}
	return strings.Trim(name, ".") != "" && len(name) <= 100
}

// Segment reports whether a name can be one segment of a path. Dots alone cannot: proxies
// remove them, and the path to remove a label named "." would become the one that removes all
// labels. No name on GitHub is as long as maxName, and GitHub refuses longer addresses without
// a reason.
func Segment(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxName
}

const maxName = 1000 // bytes
