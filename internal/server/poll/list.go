package poll

import (
	"context"
	"time"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/triage"
)

// settleTime is how long after a change nothing more can happen in its second.
const settleTime = 2 * time.Second

// A Source reads issues from GitHub: a *github.Client.
type Source interface {
	ListIssues(ctx context.Context, owner, repo string, q github.ListQuery) (github.ListPage, error)
	Issue(ctx context.Context, ref triage.Ref) (triage.Snapshot, error)
	Timeline(ctx context.Context, ref triage.Ref) (triage.Timeline, error)
	// Budget returns how many calls are left in this hour, and whether that is known.
	Budget() (left int, ok bool)
}

// A lister lists the issues of one repository. Its requests are conditional: a page that is
// the same as at the last poll costs no call and is not handled again.
type lister struct {
	source Source
	ref    triage.Ref // without a number

	answers map[query]answer // of the last poll and this one
	current map[query]answer // those of this poll
	date    time.Time        // of GitHub's clock at its last response
	recent  bool             // this poll met a change that is not settled
}

// A query asks for one page of a list, without ETag.
type query = github.ListQuery

// An answer is the last response to a query. All issues of the page were handled.
type answer struct {
	etag string
	more bool
	last int64 // the time of the last change on the page
}

// begin starts a poll.
func (l *lister) begin() { l.current, l.recent = map[query]answer{}, false }

// end forgets the answers that this poll did not ask for again.
func (l *lister) end() { l.answers = l.current }

// fetch reads one page.
func (l *lister) fetch(ctx context.Context, q query) (github.ListPage, error) {
	list, err := l.source.ListIssues(ctx, l.ref.Owner, l.ref.Repo, q)
	l.date = list.Date
	return list, err
}

// list reads one page, or returns one that is the Same as at the last poll.
func (l *lister) list(ctx context.Context, q query) (github.ListPage, error) {
	known, conditional := l.answers[q], q
	conditional.ETag = known.etag
	list, err := l.fetch(ctx, conditional)
	if err == nil && list.Same {
		l.keep(q, known)
	}
	return list, err
}

// keep remembers an answer when all issues of the page were handled.
func (l *lister) keep(q query, a answer) { l.answers[q], l.current[q] = a, a }

// settled reports whether the second of a change is over by GitHub's clock. If GitHub does
// not send its time, it is.
func (l *lister) settled(i triage.Snapshot) bool {
	over := l.date.IsZero() || i.UpdatedAt.Before(l.date.Add(-settleTime))
	l.recent = l.recent || !over
	return over
}
