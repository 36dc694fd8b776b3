package runner

import (
	"context"
	"time"

	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// Host is the code host of the issues, split into the interfaces that a run uses. One value may
// implement all of them. Agents have no access to it or to its credentials. Package hosttest has the
// tests that every host must pass.
type Host struct {
	// Issues reads and writes issues. Nil: neither is possible, so that only dry runs work.
	Issues Issues
	// Repository reads the data that issues share. It may be nil only if Issues is nil.
	Repository Repository
	// Search finds the issues of scheduled runs. Nil: [Runner.Sweep] fails.
	Search Search
	// Login is our account; empty: [DefaultBot]. LoginSetting names its setting; empty: the input bot-login.
	Login, LoginSetting string
	// KnownLabel returns a label of ref's repository that the host remembers, without a call; ok is false
	// if the label must be looked up. It is used for labels that are added. The label may have been deleted
	// or renamed since, so the write gets its id; see [effect.AddLabels]. Nil: each label is looked up.
	KnownLabel func(ref triage.Ref, name string) (label triage.LabelID, ok bool)
	// File returns a file of a repository from its default branch, at the newest commit or at that of the
	// event. It never returns the file of a checkout, which others may have changed. [triage.ErrNotFound]:
	// there is no such file. It reads the evidence that the policy names. Nil: there is no evidence.
	File func(ctx context.Context, repo triage.Repo, path string) ([]byte, error)
	// Guard is called before each write. It may wait for a rate limit, or check that the task still
	// belongs to this Runner. Its error stops the run before the write, as [triage.ErrHalted]. Nil:
	// writes are not guarded.
	Guard func(context.Context) error
}

// HostOf returns a Host that uses one value for all its parts.
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
// The host repeats a read that failed temporarily, within its own limits. It also repeats a write
// that was certainly not carried out, for example because of a rate limit. The outcome of a write
// is unknown if the connection broke, the time ran out, or the service answered 5xx. Then the host
// does not repeat the write, and returns an error that matches [triage.ErrUncertain]. The runner
// then reads the issue for some seconds before it tries again. Before each request that may change
// something, the host calls [effect.PassGate].
//
// Other errors that callers handle separately are [triage.ErrGone], [triage.ErrNotFound],
// [triage.ErrTruncated], [triage.ErrLimited], [triage.PermissionError] and [triage.RefusedError].
type Issues interface {
	// Issue returns the current issue. Raw is the JSON of the issue in the form of GitHub's REST API,
	// which agents receive; it may be empty, then it is made from the fields. ErrGone: the issue does
	// not exist, as in every method about one issue.
	Issue(ctx context.Context, ref triage.Ref) (triage.Snapshot, error)
	// Comments returns the issue's comments created or changed at or after since (the zero time:
	// all), oldest first. It reads backwards from the newest comment, and stops at a comment for
	// which until returns true; if until is nil, it reads all. It returns ErrTruncated with the
	// newest comments if there are 1,900 or more and it did not reach the end: a caller that
	// searches for one comment must know that the list is incomplete.
	Comments(ctx context.Context, ref triage.Ref, since time.Time, until func(triage.Comment) bool) ([]triage.Comment, error)
	// Comment returns one comment of the issue. ErrNotFound: the issue has no comment with that id.
	Comment(ctx context.Context, ref triage.Ref, id int64) (triage.Comment, error)
	// Timeline returns the history of the issue, including comments, oldest first. A timeline of up
	// to 500 events is complete; of a longer one, only the newest 300 to 400 events are returned.
	// ErrTruncated: the service did not return the number of the last page.
	Timeline(ctx context.Context, ref triage.Ref) (triage.Timeline, error)
	// Earlier returns t with up to 100 more events, those before its oldest. It reads back to the
	// newest 2,000 events; then Timeline.Before is 0. If Before is 0 or the timeline is complete,
	// Earlier returns t unchanged.
	Earlier(ctx context.Context, ref triage.Ref, t triage.Timeline) (triage.Timeline, error)
	// Write carries out one effect. Effects that change only the memory are an error. It is no
	// error if the issue already has the effect. ErrNotFound: a comment in the effect does not exist.
	// RefusedError: a milestone or another issue in the effect does not exist, or the service refuses
	// the write for another reason that does not pass. A host that cannot remove several labels by one write
	// returns an error other than those listed at [Issues]. Then each label is removed by a
	// separate write. For an effect that the host lacks, return a [triage.RefusedError] that wraps
	// [errors.ErrUnsupported].
	//
	// Names of labels match without regard to case; the issue gets the repository's spelling. A
	// replaced comment changes in the timeline, too. An empty Close.Reason leaves StateReason
	// "completed".
	Write(ctx context.Context, ref triage.Ref, e effect.Effect) (effect.Written, error)
}

// Repository reads the data that the issues of a repository share. Implementations are safe for
// concurrent use; errors are as in [Issues]. A host without one of the features embeds
// the type Repository of package unimplemented.
type Repository interface {
	// Label returns the name of a label in the repository's spelling. Names match without regard to
	// case. ErrNotFound: the repository has no such label. Used to add labels.
	Label(ctx context.Context, ref triage.Ref, name string) (string, error)
	// LabelPage returns one page of the repository's labels, in its spelling, and the number of the
	// last page. Pages are counted from 1. Used to add several labels; if it is not supported, each
	// label is looked up.
	LabelPage(ctx context.Context, ref triage.Ref, page int) (names []string, last int, err error)
	// Permission returns the permission of an account in the repository: "admin", "maintain",
	// "write", "triage", "read" or "none". Logins match without regard to case. Used by conditions on
	// actor.permission, and by commands in comments.
	Permission(ctx context.Context, ref triage.Ref, login string) (string, error)
	// Opened returns the first 100 issues and pull requests that an account opened in the
	// repository, oldest first, with State and Merged. It makes one call. Used by conditions on
	// author.issues, author.pulls, author.merged_pulls and author.closed_pulls.
	Opened(ctx context.Context, ref triage.Ref, login string) ([]triage.Issue, error)
	// Account returns the account with that login. It makes one call. ErrNotFound: there is none.
	// Used by conditions on author.created_at.
	Account(ctx context.Context, ref triage.Ref, login string) (triage.Account, error)
	Pulls
}

// Pulls reads the data that only pull requests have. Implementations are safe for concurrent
// use; errors are as in [Issues].
type Pulls interface {
	// Pull returns the fields that only pull requests have. ErrNotFound: ref is an issue. Used by
	// conditions on pr, by the action request_review, and in late runs on pull requests.
	Pull(ctx context.Context, ref triage.Ref) (triage.PullRequest, error)
	// Files returns the files that a pull request changes, but at most the first 3,000. GitHub
	// lists no more, and does not report that the list is incomplete. Used by conditions on pr.files.
	Files(ctx context.Context, ref triage.Ref) ([]triage.ChangedFile, error)
	// Messages returns the messages of the commits of a pull request, the oldest first, but at most
	// the first 250. GitHub lists no more, and does not report that the list is incomplete. Used by conditions on
	// pr.commit_messages.
	Messages(ctx context.Context, ref triage.Ref) ([]string, error)
	// Reviews returns the reviews of a pull request, oldest first. ErrTruncated: there are more
	// than 1,000. Used by conditions on pr.approved_by and pr.changes_requested_by.
	Reviews(ctx context.Context, ref triage.Ref) ([]triage.Review, error)
}

// Search finds the issues of scheduled runs. Implementations are safe for concurrent use;
// errors are as in [Issues]. A host without one of the features embeds
// the type Search of package unimplemented.
type Search interface {
	// Find returns the issues of ref's repository that match a query in GitHub's search syntax. The
	// number of results is limited to most. The oldest issues come first, unless the query has its
	// own sort. The result has pull requests only if the query asks for them, and then no issues. The
	// search index may be some minutes old. Used by rules with scan, and by conditions on contrib,
	// author.merged_pulls and author.closed_pulls.
	Find(ctx context.Context, ref triage.Ref, query string, most int) (Found, error)
	// Open returns all open issues and pull requests of ref's repository, oldest first. If this needs
	// more requests than the number calls, it returns ErrTruncated after the first request. Used by
	// several rules with scan; if it fails, each of them searches.
	Open(ctx context.Context, ref triage.Ref, calls int) ([]triage.Issue, error)
	// Reactions returns the reactions with a content, such as "-1", to the issue, or to one of its
	// comments if comment is not 0. ErrTruncated: there are more than 400. ErrNotFound: the comment
	// does not exist. Used by scheduled closes with a veto by reactions.
	Reactions(ctx context.Context, ref triage.Ref, comment int64, content string) ([]triage.Reaction, error)
	// Budget returns how many more calls the token may make in this hour; ok is false if GitHub has
	// not reported it. Used by scheduled runs, which end before the calls do.
	Budget() (left int, ok bool)
}

// Found is the result of a search.
type Found struct {
	Issues []triage.Issue
	Total  int  // number of matches
	Whole  bool // the service searched everything
}
