// Package poll periodically lists the issues of repositories on GitHub, and hands each change to
// the intake as an event. It loses no change and hands on no change twice, even if the process is
// killed.
//
// Each repository has a cursor: every change up to it was handed on. The cursor advances only after
// an event is stored durably. Changes are listed in the order of their time, in windows. Each
// window begins where the previous one ended, so an issue that changes in the meantime moves to the
// end and is listed later. The cursor also contains the issues that changed in the last half
// minute, because GitHub lists some changes late. A change in the same second as GitHub's response
// is left to the next poll, because that second may bring more changes. All times are by GitHub's
// clock, so a jump of the machine's clock has no effect.
//
// The first poll of a repository, the backfill, hands on its open issues, the newest first, up to a
// limit. After that, each change of an open issue is an event:
//
//   - "opened" if the issue is newer than the last poll, and for issues of the backfill,
//   - "reopened" if its timeline contains a reopening,
//   - "edited" otherwise.
//
// Pull requests and closed issues are skipped. Issues of maintainers are skipped unless
// Options.Maintainers is set. Issues of other bots are included, except for those of
// Options.Ignore. The sender of an event is the author of the issue. If the timeline was read, the
// sender is the account that changed the issue, people before bots. Without the timeline, a change
// of a bot's issue has no sender.
//
// If an issue with a task in flight changes, the change is postponed until the task has ended.
// Foreman's own changes are not events: if Foreman has written to an issue, its timeline shows
// whether others changed it since.
package poll

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

const defaultParallel = 8

// A Repository is a repository to poll.
type Repository struct {
	Name   string // "owner/name"
	Source Source // must be set; several repositories may share one
}

// Options configure a [Poller].
type Options struct {
	Repositories []Repository
	Interval     time.Duration // time between two polls of a repository; must be set, positive
	// FirstRun limits the tasks that the first poll of a repository makes; 0: none.
	FirstRun int
	// Parallel is the maximum number of concurrent polls; 0: 8.
	Parallel int
	// Reserve is how many calls per hour are left to others, such as writes. When only this many are
	// left, each repository is polled every 15 minutes.
	Reserve int
	// Take makes a task from an event durably, and reports whether there is a task. It also returns
	// true if the task already exists. An event that needs no task is not an error. Take makes at
	// most one task for a dedup key. An error that matches queue.ErrUnavailable stops the poll. After
	// any other error the issue is retried at the next poll, and the poll continues with other
	// issues. Must be set.
	Take    func(ctx context.Context, e triage.Delivery, dedup string) (made bool, err error)
	Tasks   Tasks   // must be set
	Memory  Memory  // nil: only tasks show whether we have written to an issue
	Cursors Cursors // must be set
	Bot     string  // our own login; empty: only comments with our marker are ours
	// Ignore are logins, such as "stale[bot]", whose issues are skipped, and whose changes
	// count as our own.
	Ignore []string
	// Maintainers includes the issues of owners, members and collaborators.
	Maintainers bool

	Now    func() time.Time                                 // for Health only; nil: time.Now
	Sleep  func(ctx context.Context, d time.Duration) error // nil: wait.For
	Random func() float64                                   // in [0, 1), spreads the polls; nil: math/rand
	Log    *slog.Logger                                     // nil discards
}

// A Poller polls repositories. It is safe for concurrent use.
type Poller struct {
	interval time.Duration
	permits  chan struct{} // one element for each poll that runs
	repos    []*repoPoller
}

// New returns a Poller. The error names the option that is not valid.
func New(o Options) (*Poller, error) {
	switch {
	case o.Interval <= 0:
		return nil, fmt.Errorf("poll: interval %s: want more than 0", o.Interval)
	case o.FirstRun < 0, o.Parallel < 0, o.Reserve < 0:
		return nil, errors.New("poll: first run, parallel and reserve: want 0 or more")
	case o.Take == nil, o.Tasks == nil, o.Cursors == nil:
		return nil, errors.New("poll: Take, Tasks and Cursors must be set")
	}
	o.Now = wait.Clock(o.Now)
	if o.Sleep == nil {
		o.Sleep = wait.For
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &Poller{interval: o.Interval, permits: make(chan struct{}, cmp.Or(o.Parallel, defaultParallel))}
	seen := map[string]bool{}
	for _, r := range o.Repositories {
		owner, name, ok := protocol.SplitRepo(r.Name)
		key := strings.ToLower(r.Name)
		switch {
		case !ok:
			return nil, fmt.Errorf("poll: repository %q: want owner/name", r.Name)
		case r.Source == nil:
			return nil, fmt.Errorf("poll: repository %s: its Source must be set", r.Name)
		case seen[key]:
			return nil, fmt.Errorf("poll: repository %s is listed twice", r.Name)
		}
		seen[key] = true
		p.repos = append(p.repos, newRepoPoller(&o, r, triage.Repo{Owner: owner, Name: name}))
	}
	return p, nil
}

// newRepoPoller connects the parts that poll one repository.
func newRepoPoller(o *Options, r Repository, repo triage.Repo) *repoPoller {
	log, key := o.Log.With("repo", r.Name), strings.ToLower(r.Name)
	read := &reader{source: r.Source, repo: repo, answers: map[github.ListQuery]answer{}}
	store := &checkpoints{cursors: o.Cursors, key: key, repo: r.Name, log: log}
	handle := &handler{
		reader: read, history: history{tasks: o.Tasks, memory: o.Memory, repo: r.Name},
		filter: filter{bot: o.Bot, ignore: o.Ignore, maintainers: o.Maintainers},
		dedup:  "poll:" + key, take: o.Take, log: log,
	}
	return &repoPoller{
		name: r.Name, interval: o.Interval, reserve: o.Reserve, budget: r.Source.Budget,
		sync: &syncer{reader: read, store: store, handler: handle, log: log, backfillLimit: o.FirstRun},
		now:  o.Now, sleep: o.Sleep, random: o.Random, log: log,
	}
}

// Run polls until ctx ends, and returns ctx's error. Only one of the processes on a database should
// run it. If two run it for a moment, such as during a change of leader, no change is lost, and
// dedup keys prevent duplicate tasks.
func (p *Poller) Run(ctx context.Context) error {
	var group sync.WaitGroup
	for i, r := range p.repos {
		// Spread the first polls over the interval, and so all later ones.
		offset := p.interval * time.Duration(i) / time.Duration(len(p.repos))
		group.Go(func() { r.run(ctx, p.permits, offset) })
	}
	group.Wait()
	<-ctx.Done()
	return ctx.Err()
}

// Health returns the state of each repository, in the order of the options.
func (p *Poller) Health() []Health {
	list := make([]Health, 0, len(p.repos))
	for _, r := range p.repos {
		list = append(list, r.state())
	}
	return list
}
