package breaker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/server/supervisor"
)

// Cursors keep a few bytes under a name, for all servers that work on a queue. Nil bytes:
// there are none.
type Cursors interface {
	Cursor(ctx context.Context, name string) ([]byte, error)
	SaveCursor(ctx context.Context, name string, data []byte) error
}

// A downtime is the time for which an agent has failed. Its beginning is kept with the queue.
type downtime struct {
	cursors Cursors // nil: the beginning is not kept
	agent   string
	log     *slog.Logger

	mu     sync.Mutex // guards the fields below
	loaded bool       // since was read
	since  time.Time  // zero: the agent does not fail
}

// key names the cursor. No repository has that name.
func (d *downtime) key() string { return "agent " + d.agent }

// lasts returns how long the agent has failed; if it did not before, it does from now on. 0
// when that can be neither read nor kept.
func (d *downtime) lasts(ctx context.Context) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.load(ctx) {
		return 0
	}
	// A time in the future is from before the clock was set back.
	if now := time.Now(); d.since.IsZero() || d.since.After(now) {
		if !d.save(ctx, now.UTC().AppendFormat(nil, time.RFC3339Nano)) {
			return 0
		}
		d.since = now
	}
	return time.Since(d.since)
}

// end records that the agent works.
func (d *downtime) end(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.load(ctx) && !d.since.IsZero() && d.save(ctx, nil) {
		d.since = time.Time{}
	}
}

// load reads the beginning, once. The caller holds d.mu.
func (d *downtime) load(ctx context.Context) (ok bool) {
	if d.loaded || d.cursors == nil {
		return true
	}
	bounded, cancel := context.WithTimeout(ctx, supervisor.CallTimeout)
	defer cancel()
	data, err := d.cursors.Cursor(bounded, d.key())
	if err != nil {
		d.log.WarnContext(ctx, "reading the start of an agent's outage failed", "agent", d.agent, "error", err)
		return false
	}
	d.loaded = true
	d.since, _ = time.Parse(time.RFC3339Nano, string(data)) // empty or malformed: the agent works
	return true
}

// save keeps the beginning; nil: the agent works. The caller holds d.mu.
func (d *downtime) save(ctx context.Context, since []byte) (ok bool) {
	if d.cursors == nil {
		return true
	}
	bounded, cancel := context.WithTimeout(ctx, supervisor.CallTimeout)
	defer cancel()
	err := d.cursors.SaveCursor(bounded, d.key(), since)
	if err != nil {
		d.log.WarnContext(ctx, "storing the start of an agent's outage failed", "agent", d.agent, "error", err)
	}
	return err == nil
}
