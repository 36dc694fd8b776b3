package drain

import (
	"context"
	"math"
	"sync"
	"time"
)

// Marks keep a few bytes under a name, for all who work on a queue. Nil bytes: none were
// kept.
type Marks interface {
	Cursor(ctx context.Context, name string) ([]byte, error)
	SaveCursor(ctx context.Context, name string, data []byte) error
}

// presenceMark is where it is kept when a server was last there. No repository has that
// name.
const presenceMark = "presence"

// attend notes that a server is there. If none was there for a while, claims last longer:
// agents could not send heartbeats. In a shorter while they had no need to: they send them
// three times as often as claims last. So a server that starts again and again, or beside
// another one, does not keep up what a dead agent claimed.
func (d *Drainer) attend(ctx context.Context) error {
	d.attending.Lock()
	defer d.attending.Unlock()
	data, err := d.o.Marks.Cursor(ctx, presenceMark)
	if err != nil {
		return err
	}
	now := time.Now()
	last, err := time.Parse(time.RFC3339Nano, string(data))
	// A time ahead is another machine's, or the clock was set back: it tells nothing. Who was
	// there all the time need not be told, else two servers whose clocks differ would keep up
	// all claims for ever.
	gap, most := now.Sub(last).Abs(), d.o.ClaimTimeout/3
	if (err != nil || gap > most) && d.away(now) > most {
		n, err := d.o.Queue.Grace(ctx, d.o.ClaimTimeout)
		if err != nil {
			return err
		}
		if n > 0 {
			d.o.Log.InfoContext(ctx, "claims were made longer: agents could not be heard", "claims", n)
		}
	}
	err = d.o.Marks.SaveCursor(ctx, presenceMark, now.UTC().AppendFormat(nil, time.RFC3339Nano))
	if err == nil {
		d.attended = now
	}
	return err
}

// away is how long ago this server noted last that it is there. The clock that only goes
// forward stands still while the machine sleeps: the one on the wall counts too. The caller
// holds d.attending.
func (d *Drainer) away(now time.Time) time.Duration {
	if d.attended.IsZero() {
		return math.MaxInt64
	}
	return max(now.Sub(d.attended), now.Round(0).Sub(d.attended.Round(0)))
}

// ownMarks are those of this process alone.
type ownMarks struct {
	mu   sync.Mutex
	kept map[string][]byte
}

// Cursor implements Marks.
func (m *ownMarks) Cursor(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[name], nil
}

// SaveCursor implements Marks.
func (m *ownMarks) SaveCursor(_ context.Context, name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[name] = data
	return nil
}
