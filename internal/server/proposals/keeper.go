package proposals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/memory"
)

// grace is how long a proposal may be overdue before the Keeper requests work on it. Until then the task
// that made it may still post the comment.
const grace = 15 * time.Minute

// Options configure a Keeper.
type Options struct {
	Agenda memory.Agenda // must be set
	Repos  []string      // "owner/name"
	// Take requests work on the proposals of an issue. A request with the same dedup is ignored. Must be
	// set.
	Take     func(ctx context.Context, repo string, issue int, dedup string) error
	Interval time.Duration    // between looks; 0: 10 minutes
	Now      func() time.Time // nil: time.Now
	Observe  observe.Func
	Log      *slog.Logger // nil discards
}

// A Keeper requests work on issues with proposals that expired, and on those whose comment with the
// proposals was never posted: at most once a day for each issue. Several servers can do so on the same
// memory.
type Keeper struct {
	o    Options
	loop *supervisor.Loop
}

// NewKeeper returns a Keeper. The error names the option that is wrong.
func NewKeeper(o Options) (*Keeper, error) {
	if o.Agenda == nil || o.Take == nil {
		return nil, errors.New("proposals: Agenda or Take is not set")
	}
	o.Repos = unique(o.Repos)
	o.Interval = cmp.Or(o.Interval, 10*time.Minute)
	o.Now = wait.Clock(o.Now)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Keeper{o, supervisor.NewLoop(supervisor.LoopOptions{Name: "proposals", Interval: o.Interval, Now: o.Now, Observe: o.Observe, Log: o.Log})}, nil
}

// Run looks for such issues until ctx ends.
func (k *Keeper) Run(ctx context.Context) { k.loop.Run(ctx, k.look) }

// Health returns the state of the loop.
func (k *Keeper) Health() supervisor.Health { return k.loop.Health() }

func (k *Keeper) look(ctx context.Context) error {
	now := k.o.Now()
	for _, repo := range k.o.Repos {
		list, complete, err := k.o.Agenda.Pending(ctx, repo)
		if err != nil {
			return fmt.Errorf("look for overdue proposals of %s: %w", repo, err)
		}
		if !complete {
			k.o.Log.WarnContext(ctx, "some records cannot be read; their proposals may stay overdue", "repo", repo)
		}
		for _, due := range list {
			if due.At.After(now.Add(-grace)) {
				break
			}
			dedup := fmt.Sprintf("proposals:%s#%d:%s", strings.ToLower(repo), due.Issue, now.UTC().Format(time.DateOnly))
			if err := k.o.Take(ctx, repo, due.Issue, dedup); err != nil {
				return err
			}
		}
	}
	return nil
}
