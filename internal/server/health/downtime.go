package health

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/internal/text"
)

// Cursors store a few bytes under a name, for all servers that use the queue. Nil bytes mean that
// nothing is stored.
type Cursors interface {
	Cursor(ctx context.Context, name string) ([]byte, error)
	SaveCursor(ctx context.Context, name string, data []byte) error
}

// cursor returns the name of the cursor of an agent. No repository has such a name.
func cursor(agent string) string { return "agent " + agent }

// Stored returns since when an agent has failed, and the newest failure, which may contain untrusted
// text, as the Breaker of any server stored them. A zero time means that the agent works.
func Stored(ctx context.Context, c Cursors, agent string) (since time.Time, why string, err error) {
	since, why, _, err = stored(ctx, c, agent)
	return since, why, err
}

// notifiedMark begins the stored outage of an agent that is notified of its tasks.
const notifiedMark = "notified "

// stored is [Stored], and reports whether the agent was notified of its tasks.
func stored(ctx context.Context, c Cursors, agent string) (since time.Time, why string, notified bool, err error) {
	data, err := c.Cursor(ctx, cursor(agent))
	text, notified := strings.CutPrefix(string(data), notifiedMark)
	begin, why, _ := strings.Cut(text, " ")
	since, _ = time.Parse(time.RFC3339Nano, begin) // empty or malformed: the agent works
	return since, why, notified, err
}

// maxWhy is the maximum length, in characters, of the failure that is stored.
const maxWhy = 200

// A downtime measures how long an agent has failed. Its beginning is stored with the queue.
type downtime struct {
	now      func() time.Time
	cursors  Cursors // nil: since is not stored
	agent    string
	notified bool // as BreakerOptions.Notified
	log      *slog.Logger

	mu     sync.Mutex // guards the fields below
	loaded bool       // since was loaded from cursors
	since  time.Time  // zero: the agent does not fail
	why    string     // the failure that is stored
}

// lasts returns how long the agent has failed. If it did not fail before, the measurement starts
// now. A failure with another cause than that before is stored. lasts returns 0 if the beginning can be
// neither loaded nor stored.
func (d *downtime) lasts(ctx context.Context, why string) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.load(ctx) {
		return 0
	}
	// If the beginning is in the future, the clock was set back, so start again.
	now, since, why := d.now(), d.since, text.Shorten(why, maxWhy)
	if since.IsZero() || since.After(now) {
		since = now
	}
	if since.Equal(d.since) && why == d.why {
		return now.Sub(since)
	}
	mark := ""
	if d.notified {
		mark = notifiedMark
	}
	switch {
	case d.save(ctx, []byte(mark+since.UTC().Format(time.RFC3339Nano)+" "+why)):
		d.since, d.why = since, why
	case !since.Equal(d.since):
		return 0
	}
	return now.Sub(since)
}

// end records that the agent works.
func (d *downtime) end(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.load(ctx) && !d.since.IsZero() && d.save(ctx, nil) {
		d.since, d.why = time.Time{}, ""
	}
}

// load loads the beginning, if it was not loaded before. The caller holds d.mu.
func (d *downtime) load(ctx context.Context) (ok bool) {
	if d.loaded || d.cursors == nil {
		return true
	}
	bounded, cancel := context.WithTimeout(ctx, supervisor.CallTimeout)
	defer cancel()
	since, why, notified, err := stored(bounded, d.cursors, d.agent)
	if err != nil {
		d.log.WarnContext(ctx, "reading the start of an agent's outage failed", "agent", d.agent, "error", err)
		return false
	}
	if notified && !d.notified { // the configuration has changed, and the outage was of notifications
		if !d.save(ctx, nil) {
			return false
		}
		since, why = time.Time{}, ""
	}
	d.loaded, d.since, d.why = true, since, why
	return true
}

// save stores the beginning; nil: the agent works. The caller holds d.mu.
func (d *downtime) save(ctx context.Context, since []byte) (ok bool) {
	if d.cursors == nil {
		return true
	}
	bounded, cancel := context.WithTimeout(ctx, supervisor.CallTimeout)
	defer cancel()
	err := d.cursors.SaveCursor(bounded, cursor(d.agent), since)
	if err != nil {
		d.log.WarnContext(ctx, "storing the start of an agent's outage failed", "agent", d.agent, "error", err)
	}
	return err == nil
}
