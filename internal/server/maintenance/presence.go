package maintenance

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"time"
)

// Cursors store a few bytes under a name, for all servers that use the queue. Nil bytes mean that
// nothing is stored.
type Cursors interface {
	Cursor(ctx context.Context, name string) ([]byte, error)
	SaveCursor(ctx context.Context, name string, data []byte) error
}

// presenceKey is the name of the cursor with the time when a server last ran. No repository has
// that name.
const presenceKey = "presence"

// LastPresence returns when a server last ran, by the clock of that server; zero: it is not known.
func LastPresence(ctx context.Context, c Cursors) (time.Time, error) {
	data, err := c.Cursor(ctx, presenceKey)
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, string(data))
	if err != nil {
		return time.Time{}, nil //nolint:nilerr // an unreadable time is not known
	}
	return at, nil
}

// A presence records when a server last ran, and so could receive the heartbeats of agents.
type presence struct {
	queue        Queue
	cursors      Cursors
	claimTimeout time.Duration
	now          func() time.Time
	log          *slog.Logger

	mu       sync.Mutex // guards recorded, and serializes calls of record
	recorded time.Time  // by this server; zero: never
}

// record records that a server is running. If no server ran for longer than a third of the claim
// timeout, it first extends all claims, because agents could not send heartbeats. Shorter downtimes
// do not matter, because agents send a heartbeat every third of the claim timeout. So frequent
// restarts, or a second server, do not keep the claims of a dead agent alive.
func (p *presence) record(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	data, err := p.cursors.Cursor(ctx, presenceKey)
	if err != nil {
		return err
	}
	now, longest := p.now(), p.claimTimeout/3
	last, err := time.Parse(time.RFC3339Nano, string(data))
	// A stored time in the near future counts, because the clocks of two servers differ a little. A
	// time in the far future is ignored: the clocks differ by much, or the clock of this machine was
	// set back. A server that ran all the time uses its own record. Otherwise two servers with different clocks would
	// extend all claims for ever.
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

// silence returns the time since this server's last record. The monotonic clock may stop while the
// machine sleeps, so the wall clock is used as well. The caller holds p.mu.
func (p *presence) silence(now time.Time) time.Duration {
	if p.recorded.IsZero() {
		return math.MaxInt64
	}
	return max(now.Sub(p.recorded), now.Round(0).Sub(p.recorded.Round(0)))
}
