package health

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/server/supervisor"
)

// Cursors store a few bytes under a name, for all servers that use the queue. Nil bytes mean that
// nothing is stored.
type Cursors interface {
	Cursor(ctx context.Context, name string) ([]byte, error)
	SaveCursor(ctx context.Context, name string, data []byte) error
}

// A downtime measures how long an agent has failed. Its beginning is stored with the queue.
type downtime struct {
	now     func() time.Time
	cursors Cursors // nil: since is not stored
	agent   string
	log     *slog.Logger

	mu     sync.Mutex // guards the fields below
	loaded bool       // since was loaded from cursors
	since  time.Time  // zero: the agent does not fail
}

// key returns the name of the cursor. No repository has such a name.
func (d *downtime) key() string { return "agent " + d.agent }

// lasts returns how long the agent has failed. If it did not fail before, the measurement starts
// now. lasts returns 0 if the beginning can be neither loaded nor stored.
func (d *downtime) lasts(ctx context.Context) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.load(ctx) {
		return 0
	}
	// If the beginning is in the future, the clock was set back, so start again.
	now := d.now()
	if d.since.IsZero() || d.since.After(now) {
		if !d.save(ctx, now.UTC().AppendFormat(nil, time.RFC3339Nano)) {
			return 0
		}
		d.since = now
	}
	return now.Sub(d.since)
}

// end records that the agent works.
func (d *downtime) end(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.load(ctx) && !d.since.IsZero() && d.save(ctx, nil) {
		d.since = time.Time{}
	}
}

// load loads the beginning, if it was not loaded before. The caller holds d.mu.
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

// save stores the beginning; nil: the agent works. The caller holds d.mu.
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
