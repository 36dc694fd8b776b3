package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// A Ref names one issue.
type Ref struct {
	Owner, Repo string
	Number      int
}

// String returns "owner/repo#number".
func (r Ref) String() string { return fmt.Sprintf("%s/%s#%d", r.Owner, r.Repo, r.Number) }

// A Comment is a comment on an issue.
type Comment struct {
	ID        int64
	URL       string // for humans (html_url)
	Author    string // login
	Body      string
	CreatedAt time.Time
}

// A ChangedFile is a file that a pull request changes.
type ChangedFile struct {
	Path   string
	Before string // where it lay when it was moved; else empty
}

// A Host is the service that the issues live on: every read and write that the
// executor makes. Implementations are safe for concurrent use.
//
// A read is repeated by the host within its own bound when it fails for a passing
// reason. A write that was certainly not carried out (a rate limit) is repeated
// too; when it is unknown whether a write was carried out, because the connection
// broke, the time ran out or the service answered 5xx, the host does not repeat it
// and returns an error for which errors.Is(err, [ErrUncertain]) holds. The executor
// then reads back before it tries again. Before each request that may change something
// the host calls [PassGate].
//
// Other errors that callers branch on are [ErrGone], [ErrNotFound],
// [ErrTruncated] and [PermissionError].
type Host interface {
	// Issue returns the issue as the service's JSON.
	Issue(ctx context.Context, ref Ref) (json.RawMessage, error)
	// Label returns the name of a repository's label as the repository spells it;
	// names match without regard to case. ErrNotFound when there is none.
	Label(ctx context.Context, ref Ref, name string) (string, error)
	// Comments returns the issue's comments created or changed at or after since
	// (the zero time: all), oldest first. ErrTruncated when there are more than 400:
	// who looks for a comment must not take a part for the whole.
	Comments(ctx context.Context, ref Ref, since time.Time) ([]Comment, error)
	// Timeline returns what happened on the issue, comments included, oldest first: up
	// to 500 events all of it, of a longer timeline the newest 300 to 400 events.
	// ErrTruncated when the service does not tell how to get at the newest ones.
	Timeline(ctx context.Context, ref Ref) (Timeline, error)

	// Permission returns what an account may do in the repository: "admin", "maintain",
	// "write", "triage", "read" or "none".
	Permission(ctx context.Context, ref Ref, login string) (string, error)
	// Files returns the files that a pull request changes, an entry for each, and at most
	// the first 3,000: GitHub lists no more, and does not say so.
	Files(ctx context.Context, ref Ref) ([]ChangedFile, error)

	// AddLabels adds labels that exist in the repository; those already there stay.
	AddLabels(ctx context.Context, ref Ref, names []string) error
	// RemoveLabel takes a label off the issue; one that is not there is no error.
	RemoveLabel(ctx context.Context, ref Ref, name string) error
	// CreateComment posts a comment.
	CreateComment(ctx context.Context, ref Ref, body string) (Comment, error)
	// UpdateComment replaces the body of a comment.
	UpdateComment(ctx context.Context, ref Ref, id int64, body string) (Comment, error)
	// CloseIssue closes the issue; reason is "completed", "not_planned" or empty for
	// the service's default.
	CloseIssue(ctx context.Context, ref Ref, reason string) error
	// ReopenIssue opens the issue again.
	ReopenIssue(ctx context.Context, ref Ref) error
	// MarkDuplicate closes the issue as a duplicate of another of the same
	// repository. ErrNotFound when that one does not exist.
	MarkDuplicate(ctx context.Context, ref Ref, of int) error
	// Assign adds assignees and returns those that the service accepted: it drops
	// silently who cannot be assigned.
	Assign(ctx context.Context, ref Ref, logins []string) ([]string, error)
	// Unassign removes assignees; those not assigned are no error.
	Unassign(ctx context.Context, ref Ref, logins []string) error
	// SetMilestone sets the open milestone with that title. ErrNotFound when there
	// is none.
	SetMilestone(ctx context.Context, ref Ref, title string) error
	// SetType sets the issue type by its name.
	SetType(ctx context.Context, ref Ref, name string) error
	// Lock locks the conversation; reason may be empty.
	Lock(ctx context.Context, ref Ref, reason string) error
	// React adds a reaction to the issue; the same one twice is one.
	React(ctx context.Context, ref Ref, content string) error
	// ReactToComment adds a reaction to a comment of the issue; the same one twice is
	// one. ErrNotFound when the comment is not there any more.
	ReactToComment(ctx context.Context, ref Ref, comment int64, content string) error
}
