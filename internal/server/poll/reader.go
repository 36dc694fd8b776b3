package poll

import (
	"context"
	"fmt"
	"time"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/triage"
)

// settleTime is the age at which a change is settled: no further change can happen in its second.
const settleTime = 2 * time.Second

// A Source reads issues from GitHub: a *github.Client.
type Source interface {
	ListIssues(ctx context.Context, owner, repo string, q github.ListQuery) (github.ListPage, error)
	Issue(ctx context.Context, ref triage.Ref) (triage.Snapshot, error)
	Timeline(ctx context.Context, ref triage.Ref) (triage.Timeline, error)
	// Budget returns how many calls are left in this hour. ok is false if that is unknown.
	Budget() (left int, ok bool)
}

// A reader reads the issues of one repository. Its list requests are conditional: a page that has
// not changed since the last poll costs no call and is not handled again.
type reader struct {
	source Source
	repo   triage.Repo

	// The keys are queries without their ETag.
	answers map[github.ListQuery]answer // of the last poll and this one
	current map[github.ListQuery]answer // of this poll
	date    time.Time                   // GitHub's time in its last response
	recent  bool                        // this poll found a change that is not settled
}

// An answer is the last response to a query. All issues of the page were handled.
type answer struct {
	etag string
	more bool
	last int64 // the time of the last change on the page
}

// begin starts a poll.
func (r *reader) begin() { r.current, r.recent = map[github.ListQuery]answer{}, false }

// end removes the answers that this poll did not use.
func (r *reader) end() { r.answers = r.current }

// fetch reads one page.
func (r *reader) fetch(ctx context.Context, q github.ListQuery) (github.ListPage, error) {
	list, err := r.source.ListIssues(ctx, r.repo.Owner, r.repo.Name, q)
	r.date = list.Date
	return list, err
}

// list reads one page. If it has not changed since the last poll, Same is set.
func (r *reader) list(ctx context.Context, q github.ListQuery) (github.ListPage, error) {
	known, conditional := r.answers[q], q
	conditional.ETag = known.etag
	list, err := r.fetch(ctx, conditional)
	if err == nil && list.Same {
		r.keep(q, known)
	}
	return list, err
}

// keep stores an answer after all issues of the page were handled.
func (r *reader) keep(q github.ListQuery, a answer) { r.answers[q], r.current[q] = a, a }

// settled reports whether a change is settled, by GitHub's clock. It returns true if GitHub does
// not send its time.
func (r *reader) settled(i triage.Snapshot) bool {
	over := r.date.IsZero() || i.UpdatedAt.Before(r.date.Add(-settleTime))
	r.recent = r.recent || !over
	return over
}

// errUnstable returns the error that the pages of a list change faster than they can be read.
func (r *reader) errUnstable() error {
	return fmt.Errorf("list the issues of %s/%s: the list keeps changing", r.repo.Owner, r.repo.Name)
}

func (r *reader) issue(ctx context.Context, number int) (triage.Snapshot, error) {
	return r.source.Issue(ctx, triage.Ref{Owner: r.repo.Owner, Repo: r.repo.Name, Number: number})
}

func (r *reader) timeline(ctx context.Context, number int) (triage.Timeline, error) {
	return r.source.Timeline(ctx, triage.Ref{Owner: r.repo.Owner, Repo: r.repo.Name, Number: number})
}
