// Package poll asks GitHub from time to time which issues changed, and hands each change
// on as an event. It loses none and doubles none, whatever stops in between.
//
// For each repository a cursor is kept: up to which change everything was handed on. It
// moves on only after an event is kept durably. A list is read in the order of change,
// and each part of it begins where the one before ended, so what changes meanwhile moves
// to the end and is read later. Of the newest half minute the cursor also knows the issues
// one by one, for lists tell of some changes late. What changed in the very second in
// which GitHub answers waits for the next poll, for more may happen in that second. All
// times are of GitHub's clock: a jump of the machine's moves nothing.
//
// The first poll of a repository takes its open issues, the newest first, up to a limit.
// After that, every open issue that changed is an event:
//
//   - "opened", when it is newer than the last poll, and of those that the first poll takes,
//   - "reopened", when its timeline says so,
//   - "edited" else.
//
// Pull requests are left out; so are closed issues, and those of maintainers unless it is
// wanted otherwise. Issues of other bots count as anybody's; Options.Ignore names those
// that do not. The sender of an event is the issue's author, or who changed it, a person
// before a bot, if the timeline had to be read; of a bot's issue that was changed nobody is
// named else.
//
// While a task of an issue is in flight, a change of it is remembered, and looked at when
// the task is over. What we changed ourselves is no event: when we had to do with an issue
// before, its timeline says who changed it since.
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
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

const defaultParallel = 8

// A Source is where issues are read: a *github.Client.
type Source interface {
	ListIssues(ctx context.Context, owner, repo string, q github.ListQuery) (github.ListPage, error)
	Issue(ctx context.Context, ref triage.Ref) (triage.Snapshot, error)
	Timeline(ctx context.Context, ref triage.Ref) (triage.Timeline, error)
	// Budget returns how many calls are left in this hour, and whether that is known.
	Budget() (left int, ok bool)
}

// Tasks is what is read of queue.Queue.
type Tasks interface {
	List(ctx context.Context, f queue.Filter) ([]queue.Info, error)
	Inspect(ctx context.Context, id string) (queue.Details, error)
}

// A Memory is what is read of memory.Store.
type Memory interface {
	Load(ctx context.Context, repo string, issue int) (memory.Record, error)
}

// Cursors keep a text under a name, which is that of a repository in lower case. What SaveCursor returned nil for is durable.
type Cursors interface {
	// Cursor returns what was saved last under the name; nil: nothing was.
	Cursor(ctx context.Context, name string) ([]byte, error)
	SaveCursor(ctx context.Context, name string, data []byte) error
}

// A Repository is one that is polled.
type Repository struct {
	Name   string // "owner/name"
	Source Source // must be set; several repositories may share one
}

// Options say what a [Poller] works with.
type Options struct {
	Repositories []Repository
	Interval     time.Duration // between two polls of a repository; must be more than 0
	// FirstRun is how many tasks the first poll of a repository makes at most; 0: none.
	FirstRun int
	// Parallel is how many repositories are asked at once; 0: 8.
	Parallel int
	// Reserve is how many calls of the hour are left to others, such as writes: when no
	// more are left, a repository is polled every 15 minutes.
	Reserve int
	// Take makes the task of an event, durably, and reports whether there is one, which may
	// be there already; that none is wanted is no error. It makes only one for a dedup key,
	// as long as it is kept. An error that matches queue.ErrUnavailable stops the poll; after any other the issue is
	// tried again at the next poll, and the others go on. Must be set.
	Take    func(ctx context.Context, e triage.Delivery, dedup string) (made bool, err error)
	Tasks   Tasks   // must be set
	Memory  Memory  // nil: what was done is known of the tasks alone
	Cursors Cursors // must be set
	Bot     string  // our own login; empty: ours is what bears our marker
	// Ignore are logins, such as "stale[bot]", whose issues are left out, and whose changes
	// count as our own.
	Ignore []string
	// Maintainers says that issues of owners, members and collaborators are taken too.
	Maintainers bool

	Now    func() time.Time // for Health alone; nil: time.Now
	Sleep  func(ctx context.Context, d time.Duration) error
	Random func() float64 // from 0 to below 1, spreads the polls; nil: math/rand
	Log    *slog.Logger   // nil discards
}

// A Poller polls repositories. It is safe for concurrent use.
type Poller struct {
	o     Options
	slots chan struct{}
	repos []*follower
}

// New returns a Poller. The error names the option that cannot be used.
func New(o Options) (*Poller, error) {
	switch {
	case o.Interval <= 0:
		return nil, fmt.Errorf("poll: interval %s: want more than 0", o.Interval)
	case o.FirstRun < 0, o.Parallel < 0, o.Reserve < 0:
		return nil, errors.New("poll: first run, parallel and reserve: want 0 or more")
	case o.Take == nil, o.Tasks == nil, o.Cursors == nil:
		return nil, errors.New("poll: Take, Tasks and Cursors must be set")
	}
	o.Parallel = cmp.Or(o.Parallel, defaultParallel)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = wait.For
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &Poller{o: o, slots: make(chan struct{}, o.Parallel)}
	seen := map[string]bool{}
	for _, r := range o.Repositories {
		owner, name, ok := protocol.SplitRepo(r.Name)
		switch key := strings.ToLower(r.Name); {
		case !ok:
			return nil, fmt.Errorf("poll: repository %q: want owner/name", r.Name)
		case r.Source == nil:
			return nil, fmt.Errorf("poll: repository %s: its Source must be set", r.Name)
		case seen[key]:
			return nil, fmt.Errorf("poll: repository %s is there twice", r.Name)
		default:
			seen[key] = true
			p.repos = append(p.repos, &follower{
				o: &p.o, source: r.Source, ref: triage.Ref{Owner: owner, Repo: name}, name: r.Name, cursor: key, key: "poll:" + key,
				log: o.Log.With("repo", r.Name), asked: map[question]answer{},
			})
		}
	}
	return p, nil
}

// Run polls until ctx ends, whose error it returns. Nothing else ends it. Of several
// processes on one database only one should run it; when two do, for the time of a change
// over, nothing is lost, and the dedup keys keep tasks from being doubled.
func (p *Poller) Run(ctx context.Context) error {
	var group sync.WaitGroup
	for i, f := range p.repos {
		// The first polls are spread, or all would come at once for ever.
		offset := p.o.Interval * time.Duration(i) / time.Duration(len(p.repos))
		group.Go(func() { p.follow(ctx, f, offset) })
	}
	group.Wait()
	<-ctx.Done()
	return ctx.Err()
}

// A Health is how the polling of one repository goes.
type Health struct {
	Repo     string
	Success  time.Time // of the last poll that went well; zero: none did yet
	Failures int       // polls since then that did not
	Err      string    // why the last one did not; empty if it did. It may hold hostile text
	Waiting  int       // issues that are looked at again when their task is over
	Slowed   bool      // polled seldom, for few calls are left
}

// Health returns how it goes, in the order of the repositories.
func (p *Poller) Health() []Health {
	list := make([]Health, 0, len(p.repos))
	for _, f := range p.repos {
		f.mu.Lock()
		h := f.health
		f.mu.Unlock()
		h.Repo = f.name
		list = append(list, h)
	}
	return list
}
