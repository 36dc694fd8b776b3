package rest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/org/foreman-action/triage"
)

// The permissions that calls need, in the syntax of a workflow.
const (
	NeedIssuesRead   = "issues: read"
	NeedPullsRead    = "pull-requests: read"
	NeedPullsWrite   = "pull-requests: write"
	NeedIssuesWrite  = "issues: write"
	NeedContentsRead = "contents: read"
)

// A Scope is the kind of object that a call is about.
type Scope int

// The scopes; the zero value is an issue.
const (
	OneIssue      Scope = iota
	OneRepository       // the number of the reference is ignored
	NoRepository        // the reference is ignored
)

// An Op describes a call, for its errors.
type Op struct {
	What   string     // the start of an error, such as "add labels to"
	Ref    triage.Ref // the issue, or the repository
	Scope  Scope
	Need   string // the permission that the call needs
	Absent error  // the meaning of 404 and 410: triage.ErrGone or triage.ErrNotFound
	// Refusals are parts of GitHub's sentences, in lower case, when it answers 422 because it refuses the
	// write for good; it also refuses writes as in final.
	Refusals []string
	Pages    int // maximal number of pages of a list; less than 4 means 4
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

// repo returns the repository, "owner/name", or "".
func (o Op) repo() string {
	if o.Scope == NoRepository {
		return ""
	}
	return o.Ref.Owner + "/" + o.Ref.Repo
}

// OnIssue returns an Op that writes to the issue itself: "not found" means that the issue is gone.
func OnIssue(what string, ref triage.Ref) Op {
	return Op{What: what, Ref: ref, Need: NeedIssuesWrite, Absent: triage.ErrGone}
}

// ReadIssue returns an Op that reads the issue itself: "not found" means that the issue is gone.
func ReadIssue(what string, ref triage.Ref) Op {
	return Op{What: what, Ref: ref, Need: NeedIssuesRead, Absent: triage.ErrGone}
}

// LookUp returns an Op that reads an object other than the issue.
func LookUp(what string, ref triage.Ref) Op {
	return Op{What: what, Ref: ref, Need: NeedIssuesRead, Absent: triage.ErrNotFound}
}

// InRepository returns an Op that reads an object of a repository.
func InRepository(what, owner, repo, need string) Op {
	return Op{What: what, Ref: triage.Ref{Owner: owner, Repo: repo}, Scope: OneRepository, Need: need, Absent: triage.ErrNotFound}
}

// cause returns the error for a failed call, as the contract of runner.Issues requires. It prefers
// the transport's record of the failure to go-github's error err.
func (o Op) cause(ex *exchange, err error) error {
	switch {
	case ex.err != nil:
		// go-github returns the context's error instead of the transport's if there are both, so
		// ex.err is checked.
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
		// A redirect means that the repository was moved or the issue transferred. The token of
		// this repository is not valid there.
		return fmt.Errorf("%w: %w", o.Absent, a)
	case a.limit():
		return a
	case a.Status == http.StatusForbidden && a.permission():
		return &triage.PermissionError{Need: o.Need, Accepted: a.accepted, Err: a}
	case a.closed():
		refused := &triage.RefusedError{Reason: a.Error(), Repository: true, Err: a}
		if write {
			return refused
		}
		return fmt.Errorf("%w: %w", o.Absent, refused) // without its issues, the repository has not this one either
	case write && (a.final() || a.refuses(o.Refusals)):
		return &triage.RefusedError{Reason: a.Error(), Parameter: a.Status == http.StatusUnprocessableEntity, Err: a}
	case a.Status == http.StatusNotFound, a.Status == http.StatusGone:
		return fmt.Errorf("%w: %w", o.Absent, a)
	}
	return a
}

// Unreadable returns the error for a write with a successful but invalid response. The outcome of
// the write is unknown.
func (o Op) Unreadable(err error) error { return fmt.Errorf("%s: %w", o, unreadable(err)) }

func unreadable(err error) error {
	return fmt.Errorf("%w: the answer is unreadable: %w", triage.ErrUncertain, err)
}

// Check refuses a reference that would change the path of a request. The error does not contain the
// operation.
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

// plain reports whether a name contains only characters that GitHub allows in names of owners and
// repositories. It uses no regular expression, because compiling one at the start takes longer than
// all the calls.
func plain(name string) bool {
	const others = "-._"
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(others, r) {
			return false
		}
	}
	return strings.Trim(name, ".") != "" && len(name) <= 100
}

// Segment reports whether a name can be one segment of a path. "." and ".." cannot, because proxies
// remove them. The path to remove a label named "." would become the path that removes all labels.
// Names longer than maxName are refused too, because GitHub has none and refuses longer addresses
// without a reason.
func Segment(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxName
}

const maxName = 1000 // bytes
