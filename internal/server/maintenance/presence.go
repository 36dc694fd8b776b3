package maintenance

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"time"
)

// Cursors keep a few bytes under a name, for all servers that work on a queue. Nil bytes:
// there are none.
type Cursors interface {
	Cursor(ctx context.Context, name string) ([]byte, error)
	SaveCursor(ctx context.Context, name string, data []byte) error
}

// presenceKey is the cursor of the time when a server was last there. No repository has
// that name.
const presenceKey = "presence"

// A presence records when a server was last there to receive the heartbeats of agents.
type presence struct {
	queue        Queue
	cursors      Cursors
	claimTimeout time.Duration
	log          *slog.Logger

	mu       sync.Mutex // guards recorded, and makes records one after the other
	recorded time.Time  // by this server
}

// record records that a server is there. After a downtime it prolongs all claims, for
// agents could not send heartbeats. A downtime of up to a third of the claim timeout does not
// matter, as agents send heartbeats that often: so a server that is restarted again and
// again, or runs beside another one, does not keep the claims of a dead agent alive.
func (p *presence) record(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	data, err := p.cursors.Cursor(ctx, presenceKey)
	if err != nil {
		return err
	}
	now, longest := time.Now(), p.claimTimeout/3
	last, err := time.Parse(time.RFC3339Nano, string(data))
	// A time in the future is from another machine, or the clock was set back: it means
	// nothing. A server that was there all the time goes by its own record, or else two servers
	// whose clocks differ would prolong all claims for ever.
	if (err != nil || now.Sub(last).Abs() > longest) && p.silence(now) > longest {
		n, err := p.queue.ExtendClaims(ctx, p.claimTimeout)
		if err != nil {
			return err
		}
		if n > 0 {
			p.log.InfoContext(ctx, "claims extended: agents could not send heartbeats", "claims", n)
		}
	}
	err = p.cursors.SaveCursor(ctx, presenceKey, now.UTC().AppendFormat(nil, time.RFC3339Nano))
	if err == nil {
		p.recorded = now
	}
	return err
}

// silence is the time since the last record of this server. The monotonic clock stands still
// while the machine sleeps, so the wall clock counts too. The caller holds p.mu.
func (p *presence) silence(now time.Time) time.Duration {
	if p.recorded.IsZero() {
		return math.MaxInt64
	}
	return max(now.Sub(p.recorded), now.Round(0).Sub(p.recorded.Round(0)))
}
