package runner

import (
	"context"
	"time"

	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// Host is the code host of the issues, in the parts that a run uses. One value may be all of
// them. No agent ever sees it, nor its credentials.
type Host struct {
	// Issues reads and writes issues. Nil: nothing can be read or written; only dry runs.
	Issues Issues
	// Repository reads the data that issues share. Nil only if Issues is.
	Repository Repository
	// Search finds the issues of scheduled runs. Nil: [Runner.Sweep] fails.
	Search Search
	// Login is the account that we act as; empty: [DefaultBot].
	Login string
	// Guard is called before each write, and may wait: for a rate limit, or to make sure that
	// the task is still this Runner's. Its error stops the run before the write, as
	// [triage.ErrHalted]. Nil: nothing stands in the way.
	Guard func(context.Context) error
}

// HostOf returns one value as all parts of a Host.
func HostOf(all interface {
	Issues
	Repository
	Search
},
) Host {
	return Host{Issues: all, Repository: all, Search: all}
}

// Issues reads and writes single issues. Implementations are safe for concurrent use.
//
// A read is repeated by the host within its own bound when it fails for a passing reason. A
// write that was certainly not carried out (a rate limit) is repeated too; when the outcome is
// unknown, because the connection broke, the time ran out or the service answered 5xx, the
// host does not repeat it and returns an error for which errors.Is(err, [triage.ErrUncertain])
// holds. The executor then reads back before it tries again. Before each request that may
// change something the host calls [effect.PassGate].
//
// Other errors that callers branch on are [triage.ErrGone], [triage.ErrNotFound],
// [triage.ErrTruncated], [triage.ErrLimited] and [triage.PermissionError].
type Issues interface {
	// Issue returns the issue as it is now.
	Issue(ctx context.Context, ref triage.Ref) (triage.Snapshot, error)
	// Comments returns the issue's comments created or changed at or after since
	// (the zero time: all), oldest first. It reads from the newest backwards, and no
	// further than to one for which until holds; nil: it reads all. ErrTruncated, with
	// the newest comments, when these are 1,900 or more and the reading did not come to
	// its end: a search for one comment must not take a part for the whole.
	Comments(ctx context.Context, ref triage.Ref, since time.Time, until func(triage.Comment) bool) ([]triage.Comment, error)
	// Comment returns one comment of the issue. ErrNotFound when the issue has none with
	// that id.
	Comment(ctx context.Context, ref triage.Ref, id int64) (triage.Comment, error)
	// Timeline returns the history of the issue, comments included, oldest first: up
	// to 500 events all of it, of a longer timeline the newest 300 to 400 events.
	// ErrTruncated when the service does not return the number of the last page.
	Timeline(ctx context.Context, ref triage.Ref) (triage.Timeline, error)
	// Earlier returns a timeline that is not complete with up to 100 more events, those before
	// its oldest. Timeline.Before is 0 when no more can be read: after the newest 2,000 events.
	// After these, or if the timeline is complete, Earlier returns it unchanged.
	Earlier(ctx context.Context, ref triage.Ref, t triage.Timeline) (triage.Timeline, error)
	// Write carries out one of the effects of package effect. Effects on the memory alone are an
	// error. An effect that holds already is not an error. ErrNotFound when a comment, a
	// milestone or another issue in it does not exist. A host that cannot remove several labels
	// by one write returns an error that is not listed for [Issues]: each is then removed by a
	// write of its own.
	Write(ctx context.Context, ref triage.Ref, e effect.Effect) (effect.Written, error)
}

// Repository reads the data that the issues of a repository share. Implementations are safe for
// concurrent use; errors are as for [Issues].
type Repository interface {
	// Label returns the name of a repository's label as the repository spells it;
	// names match without regard to case. ErrNotFound when there is none.
	Label(ctx context.Context, ref triage.Ref, name string) (string, error)
	// LabelPage returns a page of the list of the repository's labels, as the repository
	// spells them, and the number of the last page; the first one is 1.
	LabelPage(ctx context.Context, ref triage.Ref, page int) (names []string, last int, err error)
	// Permission returns the permission of an account in the repository: "admin", "maintain",
	// "write", "triage", "read" or "none".
	Permission(ctx context.Context, ref triage.Ref, login string) (string, error)
	// Opened returns the first 100 issues and pull requests that an account opened in the
	// repository, oldest first, in one call.
	Opened(ctx context.Context, ref triage.Ref, login string) ([]triage.Issue, error)
	Pulls
}

// Pulls reads the data that only pull requests have. Implementations are safe for concurrent
// use; errors are as for [Issues].
type Pulls interface {
	// Pull returns the fields that only pull requests have. ErrNotFound for an issue.
	Pull(ctx context.Context, ref triage.Ref) (triage.PullRequest, error)
	// Files returns the files that a pull request changes, an entry for each, and at most
	// the first 3,000: GitHub lists no more, and does not report that.
	Files(ctx context.Context, ref triage.Ref) ([]triage.ChangedFile, error)
	// Messages returns the messages of the commits of a pull request, the oldest first, and at
	// most the first 250: GitHub lists no more, and does not report that.
	Messages(ctx context.Context, ref triage.Ref) ([]string, error)
	// Reviews returns the reviews of a pull request, oldest first. ErrTruncated when there are
	// more than 1,000.
	Reviews(ctx context.Context, ref triage.Ref) ([]triage.Review, error)
}

// Search finds the issues of scheduled runs. Implementations are safe for concurrent use;
// errors are as for [Issues].
type Search interface {
	// Find returns the issues of ref's repository that a query in the language of
	// GitHub's issue search finds, most of them at most: those first that were not changed
	// for the longest time. Pull requests are among them only if the query asks for them
	// alone. The search may be some minutes behind.
	Find(ctx context.Context, ref triage.Ref, query string, most int) (Found, error)
	// Open returns all open issues and pull requests of ref's repository, those first that
	// were not changed for the longest time. ErrTruncated, after one call, when these take
	// more than so many calls.
	Open(ctx context.Context, ref triage.Ref, calls int) ([]triage.Issue, error)
	// Reactions returns who reacted with a content, such as "-1", to the issue, or if
	// comment is not 0, to that comment of it. ErrTruncated when there are more than 400,
	// ErrNotFound when the comment does not exist.
	Reactions(ctx context.Context, ref triage.Ref, comment int64, content string) ([]triage.Reaction, error)
	// Budget returns how many more calls the token may make in this hour, as far as GitHub
	// has reported; ok is false when it has not.
	Budget() (left int, ok bool)
}

// Found is the result of a search.
type Found struct {
	Issues []triage.Issue
	Total  int  // that match
	Whole  bool // the service looked at everything
}
