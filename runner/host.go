package runner

import (
	"context"
	"encoding/json"
	"time"

	"github.com/org/foreman-action/triage"
)

// A Host is the service that the issues live on: every read and write that the
// executor makes. Implementations are safe for concurrent use.
//
// A read is repeated by the host within its own bound when it fails for a passing
// reason. A write that was certainly not carried out (a rate limit) is repeated
// too; when it is unknown whether a write was carried out, because the connection
// broke, the time ran out or the service answered 5xx, the host does not repeat it
// and returns an error for which errors.Is(err, [triage.ErrUncertain]) holds. The executor
// then reads back before it tries again. Before each request that may change something
// the host calls [PassGate].
//
// Other errors that callers branch on are [triage.ErrGone], [triage.ErrNotFound],
// [triage.ErrTruncated] and [triage.PermissionError].
type Host interface {
	// Issue returns the issue as the service's JSON.
	Issue(ctx context.Context, ref triage.Ref) (json.RawMessage, error)
	// Label returns the name of a repository's label as the repository spells it;
	// names match without regard to case. ErrNotFound when there is none.
	Label(ctx context.Context, ref triage.Ref, name string) (string, error)
	// Comments returns the issue's comments created or changed at or after since
	// (the zero time: all), oldest first. ErrTruncated when there are more than 400:
	// who looks for a comment must not take a part for the whole.
	Comments(ctx context.Context, ref triage.Ref, since time.Time) ([]triage.Comment, error)
	// Timeline returns what happened on the issue, comments included, oldest first: up
	// to 500 events all of it, of a longer timeline the newest 300 to 400 events.
	// ErrTruncated when the service does not tell how to get at the newest ones.
	Timeline(ctx context.Context, ref triage.Ref) (triage.Timeline, error)

	// Permission returns what an account may do in the repository: "admin", "maintain",
	// "write", "triage", "read" or "none".
	Permission(ctx context.Context, ref triage.Ref, login string) (string, error)
	// Files returns the files that a pull request changes, an entry for each, and at most
	// the first 3,000: GitHub lists no more, and does not say so.
	Files(ctx context.Context, ref triage.Ref) ([]triage.ChangedFile, error)

	// AddLabels adds labels that exist in the repository; those already there stay.
	AddLabels(ctx context.Context, ref triage.Ref, names []string) error
	// RemoveLabel takes a label off the issue; one that is not there is no error.
	RemoveLabel(ctx context.Context, ref triage.Ref, name string) error
	// CreateComment posts a comment.
	CreateComment(ctx context.Context, ref triage.Ref, body string) (triage.Comment, error)
	// UpdateComment replaces the body of a comment.
	UpdateComment(ctx context.Context, ref triage.Ref, id int64, body string) (triage.Comment, error)
	// CloseIssue closes the issue; reason is "completed", "not_planned" or empty for
	// the service's default.
	CloseIssue(ctx context.Context, ref triage.Ref, reason string) error
	// ReopenIssue opens the issue again.
	ReopenIssue(ctx context.Context, ref triage.Ref) error
	// MarkDuplicate closes the issue as a duplicate of another of the same
	// repository. ErrNotFound when that one does not exist.
	MarkDuplicate(ctx context.Context, ref triage.Ref, of int) error
	// Assign adds assignees and returns those that the service accepted: it drops
	// silently who cannot be assigned.
	Assign(ctx context.Context, ref triage.Ref, logins []string) ([]string, error)
	// Unassign removes assignees; those not assigned are no error.
	Unassign(ctx context.Context, ref triage.Ref, logins []string) error
	// SetMilestone sets the open milestone with that title. ErrNotFound when there
	// is none.
	SetMilestone(ctx context.Context, ref triage.Ref, title string) error
	// SetType sets the issue type by its name.
	SetType(ctx context.Context, ref triage.Ref, name string) error
	// Lock locks the conversation; reason may be empty.
	Lock(ctx context.Context, ref triage.Ref, reason string) error
	// React adds a reaction to the issue; the same one twice is one.
	React(ctx context.Context, ref triage.Ref, content string) error
	// ReactToComment adds a reaction to a comment of the issue; the same one twice is
	// one. ErrNotFound when the comment is not there any more.
	ReactToComment(ctx context.Context, ref triage.Ref, comment int64, content string) error
}
