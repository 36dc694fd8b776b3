package background_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/server/maintenance"
	"github.com/org/foreman-action/queue"
)

// TestStopsAsking checks that a server that stops releases the tasks of synchronous agents:
// the next server continues at once, and no attempt is counted.
func TestStopsAsking(t *testing.T) {
	t.Parallel()
	onPatient(t, func(r *rig, p *patient) {
		p.takes = 50 * time.Second
		r.o.Cursors = &marks{}
		r.enqueueTo(1)
		for range 5 {
			_, stop := r.start()
			time.Sleep(20 * time.Second)
			r.is(1, queue.Claimed)
			stop()
			r.is(1, queue.Pending)
			time.Sleep(time.Second)
		}
		r.start()
		time.Sleep(51 * time.Second)
		r.is(1, queue.Done)
	})
}

// marks is a store of cursors, which record when servers were last alive.
type marks struct {
	mu   sync.Mutex
	kept map[string]string
	err  error
}

func (m *marks) Cursor(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return []byte(m.kept[name]), m.err
}

func (m *marks) SaveCursor(_ context.Context, name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[string]string{}
	}
	m.kept[name] = string(data)
	return m.err
}

// TestPresence checks that the claims of a dead agent expire even if servers restart, and that no
// claim expires while no server can receive heartbeats.
func TestPresence(t *testing.T) {
	t.Parallel()
	again := func(r *rig) {
		for range 7 {
			_, stop := r.start()
			time.Sleep(50 * time.Second)
			stop()
			time.Sleep(10 * time.Second)
		}
	}
	tests := []struct {
		name string
		do   func(r *rig)
		want queue.State
	}{
		{"one that is started every minute", again, queue.Pending},
		{"one that is started every minute, beside another", func(r *rig) { r.start(); again(r) }, queue.Pending},
		{"none for an hour", func(*rig) { time.Sleep(time.Hour) }, queue.Claimed},
		{"none for an hour, but another one since", func(r *rig) {
			time.Sleep(time.Hour)
			r.start()
			time.Sleep(4 * time.Minute)
			r.start()
			time.Sleep(3 * time.Minute)
		}, queue.Pending},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(r *rig) {
				r.o.Cursors = &marks{}
				if store, ok := r.q.(maintenance.Cursors); ok {
					r.o.Cursors = store
				}
				_, stop := r.start()
				time.Sleep(time.Minute)
				r.enqueue(1)
				r.claim(5 * time.Minute)
				stop()
				tt.do(r)
				r.start()
				time.Sleep(time.Second)
				r.is(1, tt.want)
			})
		})
	}
}

// ahead is the store of cursors as a server sees it whose clock is ahead of the others.
type ahead struct {
	maintenance.Cursors

	by time.Duration
}

func (a ahead) Cursor(ctx context.Context, name string) ([]byte, error) {
	data, err := a.Cursors.Cursor(ctx, name)
	return a.shift(data, -a.by), err
}

func (a ahead) SaveCursor(ctx context.Context, name string, data []byte) error {
	return a.Cursors.SaveCursor(ctx, name, a.shift(data, a.by))
}

func (ahead) shift(data []byte, by time.Duration) []byte {
	at, err := time.Parse(time.RFC3339Nano, string(data))
	if err != nil {
		return data
	}
	return at.Add(by).AppendFormat(nil, time.RFC3339Nano)
}

// TestPresenceSkewed checks that the tasks of a dead agent are requeued, even if the clocks of two
// servers differ by more than the duration of a claim.
func TestPresenceSkewed(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{2 * time.Minute, -time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(r *rig) {
				m := &marks{}
				r.o.Cursors = m
				r.start()
				r.o.Cursors = ahead{m, by}
				r.start()
				time.Sleep(time.Minute)
				r.enqueue(1)
				r.claim(5 * time.Minute)
				time.Sleep(7 * time.Minute)
				r.is(1, queue.Pending)
			})
		})
	}
}

// TestPresenceNearFuture checks that restarts do not keep the claims of a dead agent alive beside a
// server whose clock is a little ahead.
func TestPresenceNearFuture(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		m := &marks{}
		r.o.Cursors = ahead{m, 20 * time.Second}
		r.start()
		r.o.Cursors = m
		time.Sleep(time.Minute)
		r.enqueue(1)
		r.claim(5 * time.Minute)
		for range 7 {
			_, stop := r.start()
			time.Sleep(50 * time.Second)
			stop()
			time.Sleep(10 * time.Second)
		}
		r.is(1, queue.Pending)
	})
}

// TestPresenceUnknown checks that no claim expires while the record of presence is unreadable.
func TestPresenceUnknown(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		m := &marks{err: errors.New("the disk is gone")}
		r.o.Cursors = m
		r.enqueue(1)
		r.claim(time.Minute)
		d, _ := r.start()
		time.Sleep(10 * time.Minute)
		r.is(1, queue.Claimed)
		if unhealthy(d) == "" {
			t.Error("it says that all is well")
		}
		m.mu.Lock()
		m.err = nil
		m.mu.Unlock()
		time.Sleep(10 * time.Minute)
		r.is(1, queue.Pending)
	})
}
