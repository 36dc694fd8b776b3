// Package judging judges in the background what became of the actions in each repository: see
// [runner.Runner.Judge]. It reports the permissions that rules and agents earn and lose.
//
// Of several servers on one database, one judges at a time. Judging is the least important use of
// GitHub's calls, so it ends while few calls are left.
package judging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/outcomes"
	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

const (
	// share is the part of an account's calls in GitHub's hour, a fifth, that judging leaves to polls and decisions, and the part
	// after which it begins no pass any more. It leaves more than polling does.
	share = 5
	// usualLimit is an account's calls in GitHub's hour if they are not known.
	usualLimit      = 5000
	defaultInterval = time.Hour
	// maxTick is the longest time between two looks for a repository to judge. With many repositories it
	// is shorter, so that their passes are spread over the interval.
	maxTick = time.Minute
	// lowWait is the pause of a repository whose account has few calls left, or whose calls GitHub limits.
	lowWait = 15 * time.Minute
	// firstRetry is the pause after a failure. It doubles up to the interval.
	firstRetry = 5 * time.Minute
	// unhealthyAfter is the number of failures in a row from which the loop is not healthy.
	unhealthyAfter = 2
)

// Cursors store when the repositories are due, for all servers on one database.
type Cursors interface {
	Cursor(ctx context.Context, name string) ([]byte, error)
	SaveCursor(ctx context.Context, name string, data []byte) error
}

// Options configure a Judger.
type Options struct {
	Repos []string // "owner/name"
	// Runner returns the Runner of a repository, whose memory has an Agenda, and the calls that its account
	// has left in GitHub's hour; see [runner.Search]. limit is the number of the account's calls in that hour; 0: unknown. Must be
	// set.
	Runner  func(ctx context.Context, repo triage.Repo) (*runner.Runner, func() (left, limit int, ok bool), error)
	Cursors Cursors // must be set
	// Lead runs f while this process leads, for a name, among those that share the memory. Nil: it always
	// leads.
	Lead     func(ctx context.Context, name string, f func(context.Context) error) error
	Pauses   queue.Pauses     // of repositories, which are not judged then; nil: none
	Interval time.Duration    // between two passes over a repository; 0: an hour
	Now      func() time.Time // nil: time.Now
	Observe  observe.Func     // gets ActionsJudged, JudgingWaits, PermissionChanged and LoopFailed
	Log      *slog.Logger     // nil discards
}

// A Judger judges the actions of repositories. It is safe for concurrent use.
type Judger struct {
	o       Options
	loop    *supervisor.Loop
	drained atomic.Bool

	mu    sync.Mutex
	repos []repository
	taken map[string]taken // by owner, in lower case: each has an account of its own, with an App
}

// taken is what judging took of an account in an hour.
type taken struct {
	until time.Time // end of the hour
	calls int
}

// A repository is the state of judging it.
type repository struct {
	name     string
	due      time.Time // when this process looks at it again
	failures int       // in a row
	err      error     // the last failure; nil: none
}

// New returns a Judger that does not run yet. The error names the option that is wrong.
func New(o Options) (*Judger, error) {
	if o.Runner == nil || o.Cursors == nil {
		return nil, errors.New("judging: Runner or Cursors is not set")
	}
	o.Interval = cmp.Or(o.Interval, defaultInterval)
	o.Now = wait.Clock(o.Now)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Lead == nil {
		o.Lead = func(ctx context.Context, _ string, f func(context.Context) error) error { return f(ctx) }
	}
	j := &Judger{o: o, taken: map[string]taken{}}
	for _, name := range o.Repos {
		if !slices.ContainsFunc(j.repos, func(r repository) bool { return strings.EqualFold(r.name, name) }) {
			j.repos = append(j.repos, repository{name: name})
		}
	}
	tick := min(maxTick, o.Interval/time.Duration(max(1, len(j.repos))))
	// A pass waits while another server judges.
	j.loop = supervisor.NewLoop(supervisor.LoopOptions{Name: "judging", Interval: tick, Blocks: true, Now: o.Now, Observe: o.Observe, Log: o.Log})
	return j, nil
}

// Run judges one repository after another until ctx ends.
func (j *Judger) Run(ctx context.Context) { j.loop.Run(ctx, j.look) }

// Drain ends the judging. It continues on another server, or after the next start.
func (j *Judger) Drain() { j.drained.Store(true) }

// Health returns the state of the loop. It is not healthy either while the actions of a repository could
// not be judged twice in a row.
func (j *Judger) Health() supervisor.Health {
	h := j.loop.Health()
	h.Optional = true
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.repos {
		if h.OK && r.failures >= unhealthyAfter {
			h.OK = false
			h.Reason = fmt.Sprintf("judging the actions of %s failed %d times in a row: %v", r.name, r.failures, r.err)
		}
	}
	return h
}

// look judges the repository that is due for the longest time.
func (j *Judger) look(ctx context.Context) error {
	i, ok := j.next()
	if !ok {
		return nil
	}
	return j.o.Lead(ctx, "judging", func(ctx context.Context) error { return j.turn(ctx, i) })
}

// next returns the index of the repository that is due for the longest time; ok is false if none is due.
func (j *Judger) next() (i int, ok bool) {
	if j.drained.Load() || len(j.repos) == 0 {
		return 0, false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for n, r := range j.repos {
		if r.due.Before(j.repos[i].due) {
			i = n
		}
	}
	return i, !j.repos[i].due.After(j.o.Now())
}

// turn judges a repository, unless another server has judged it in the meantime, or it is paused.
func (j *Judger) turn(ctx context.Context, i int) error {
	name, now := j.repos[i].name, j.o.Now()
	data, err := j.o.Cursors.Cursor(ctx, cursor(name))
	if err != nil {
		return fmt.Errorf("read when %s is to be judged: %w", name, err)
	}
	var due time.Time
	if due.UnmarshalText(data) != nil || due.After(now.Add(j.o.Interval)) { // the clock was set back
		due = now
	}
	if due.After(now) {
		j.o.Observe.Report(observe.Observation{Event: observe.JudgingWaits, Repo: name}) // the other server reports the number
		j.set(i, due)
		return nil
	}
	paused, err := j.paused(ctx, name)
	if err != nil {
		return fmt.Errorf("judge the actions of %s: %w", name, err)
	}
	if paused {
		j.set(i, now.Add(maxTick))
		return nil
	}
	// The cursor is saved before, so that a pass which ends the process is not repeated at once.
	if err := j.save(ctx, i, now.Add(j.o.Interval)); err != nil {
		return err
	}
	again, err := j.pass(ctx, i)
	if err != nil || again == 0 || ctx.Err() != nil { // another server may lead by now
		return err
	}
	return j.save(ctx, i, j.o.Now().Add(again))
}

// pass judges a repository now. again is the time until the next pass; 0: the interval.
func (j *Judger) pass(ctx context.Context, i int) (again time.Duration, err error) {
	name := j.repos[i].name
	owner, repo, _ := strings.Cut(name, "/")
	r, calls, err := j.o.Runner(ctx, triage.Repo{Owner: owner, Name: repo})
	if err != nil {
		return j.failed(ctx, i, err), nil
	}
	var low, paused bool
	stop := func() bool {
		left, limit, known := calls()
		most := cmp.Or(limit, usualLimit) / share
		if low = known && left < most; !low {
			paused, _ = j.paused(ctx, name) // while the pauses cannot be read, nothing can be saved either
		}
		return low || paused || j.drained.Load()
	}
	if _, limit, _ := calls(); j.took(owner, 0) >= cmp.Or(limit, usualLimit)/share {
		j.o.Log.InfoContext(ctx, "judging took its share of the API calls in this hour; judging actions later", "repo", name, "wait", lowWait)
		return lowWait, nil
	}
	got, err := r.Judge(ctx, triage.Repo{Owner: owner, Name: repo}, stop, func(format string, args ...any) {
		j.o.Log.WarnContext(ctx, "warning while judging actions", "repo", name, "warning", fmt.Sprintf(format, args...))
	})
	j.took(owner, got.Reads)
	j.report(ctx, name, got)
	switch {
	case ctx.Err() != nil:
		return 0, nil //nolint:nilerr // the server stops, or does not lead any more: the rest is judged later
	case errors.Is(err, queue.ErrUnavailable):
		return 0, fmt.Errorf("judge the actions of %s: %w", name, err)
	case errors.Is(err, triage.ErrLimited):
		low = true
	case err != nil:
		return j.failed(ctx, i, err), nil
	}
	early := low || paused || j.drained.Load()
	if !early || got.Judged > 0 { // else GitHub was perhaps not called
		j.succeeded(ctx, i)
	}
	switch {
	case low:
		j.o.Log.InfoContext(ctx, "few API calls are left in this hour; judging actions later", "repo", name, "waiting", got.Waiting, "wait", lowWait)
		return lowWait, nil
	case early:
		return maxTick, nil
	}
	return 0, nil
}

// took adds calls to those that judging took of the account of an owner in this hour, and returns their sum.
func (j *Judger) took(owner string, calls int) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	owner = strings.ToLower(owner)
	t, now := j.taken[owner], j.o.Now()
	if !now.Before(t.until) || t.until.After(now.Add(time.Hour)) { // the clock was set back
		t = taken{until: now.Add(time.Hour)}
	}
	t.calls += calls
	j.taken[owner] = t
	return t.calls
}

// report logs and counts what a pass judged.
func (j *Judger) report(ctx context.Context, repo string, got runner.Judgment) {
	if got.Judged > 0 {
		j.o.Log.InfoContext(ctx, "judged what became of actions", "repo", repo, "judged", got.Judged, "undone", got.Undone, "waiting", got.Waiting)
	}
	outcomes.Summary{Repo: repo, Judged: got.Judged, Undone: got.Undone, Changes: got.Changes}.Report(ctx, j.o.Log, j.o.Observe)
	j.o.Observe.Report(observe.Observation{Event: observe.JudgingWaits, Repo: repo, N: got.Waiting})
}

// failed records a failure, and returns the time until the next pass.
func (j *Judger) failed(ctx context.Context, i int, err error) time.Duration {
	j.mu.Lock()
	r := &j.repos[i]
	r.failures++
	r.err = err
	failures := r.failures
	j.mu.Unlock()
	again := wait.Backoff(failures-1, firstRetry, max(firstRetry, j.o.Interval))
	j.o.Observe.Report(observe.Observation{Event: observe.LoopFailed, Status: "judging", Repo: r.name, N: 1})
	j.o.Log.WarnContext(ctx, "judging actions failed; the next pass continues", "repo", r.name, "error", err, "failures", failures, "wait", again)
	return again
}

func (j *Judger) succeeded(ctx context.Context, i int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r := &j.repos[i]; r.failures > 0 {
		j.o.Log.InfoContext(ctx, "judging actions succeeded again", "repo", r.name, "failures", r.failures)
		r.failures, r.err = 0, nil
	}
}

// save stores when a repository is due.
func (j *Judger) save(ctx context.Context, i int, due time.Time) error {
	j.set(i, due)
	data, err := due.UTC().MarshalText()
	if err == nil {
		err = j.o.Cursors.SaveCursor(ctx, cursor(j.repos[i].name), data)
	}
	if err != nil {
		return fmt.Errorf("save when %s is to be judged: %w", j.repos[i].name, err)
	}
	return nil
}

func (j *Judger) set(i int, due time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.repos[i].due = due
}

// paused reports whether everything is paused, or a repository is.
func (j *Judger) paused(ctx context.Context, repo string) (bool, error) {
	if j.o.Pauses == nil {
		return false, nil
	}
	list, err := j.o.Pauses.ListPauses(ctx, false)
	return slices.ContainsFunc(list, func(p queue.Pause) bool {
		return p.Scope.Kind == queue.ScopeEverything || p.Scope.Kind == queue.ScopeRepo && p.Scope.Has("", repo)
	}), err
}

func cursor(repo string) string { return "judging:" + strings.ToLower(repo) }
