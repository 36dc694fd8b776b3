package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
)

// A day is a machine whose time of the day can be set.
type day struct {
	boot string
	up   time.Duration // since it was started
	wall time.Time
}

func (d *day) open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{machine: machine{
		boot: d.boot, since: func() time.Duration { return d.up }, wall: func() time.Time { return d.wall },
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// pass lets time pass.
func (d *day) pass(by time.Duration) { d.up, d.wall = d.up+by, d.wall.Add(by) }

// set sets the time of the day.
func (d *day) set(by time.Duration) { d.wall = d.wall.Add(by) }

const dayTask = "7d0c0000-0000-4000-8000-00000000000a"

// claimed opens a store, and claims a task for ten minutes.
func (d *day) claimed(t *testing.T, path string) *Store {
	t.Helper()
	s := d.open(t, path)
	task := queue.Task{ID: dayTask, Agent: "http://agent:9001", Repo: "org/repo", Issue: 1, Message: []byte("{}")}
	if _, err := s.Enqueue(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ClaimNext(t.Context(), task.Agent, queue.ClaimOptions{Lease: 10 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	return s
}

// stale is how many claims ran out, as a store sees it.
func stale(t *testing.T, s *Store) int {
	t.Helper()
	list, err := s.RequeueStale(t.Context(), queue.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func noon() *day {
	return &day{boot: "first", up: time.Hour, wall: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
}

// TestClockAgrees: the time of the day jumps between the starts of two processes, and they
// agree on when a claim runs out.
func TestClockAgrees(t *testing.T) {
	t.Parallel()
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		d, path := noon(), filepath.Join(t.TempDir(), "foreman.db")
		first := d.claimed(t, path)
		d.set(jump)
		second := d.open(t, path)
		d.pass(9 * time.Minute)
		if a, b := stale(t, first), stale(t, second); a != 0 || b != 0 {
			t.Errorf("jump of %s, after 9 minutes: %d and %d claims ran out, want none", jump, a, b)
		}
		d.pass(2 * time.Minute)
		if n := stale(t, second); n != 1 {
			t.Errorf("jump of %s, after 11 minutes: %d claims ran out, want 1", jump, n)
		}
	}
}

// TestClockAfterBoot: a machine that was started again has the time of the day, and nothing
// is stuck when that was set back.
func TestClockAfterBoot(t *testing.T) {
	t.Parallel()
	d, path := noon(), filepath.Join(t.TempDir(), "foreman.db")
	d.claimed(t, path).Close()
	d.boot, d.up = "second", time.Minute
	d.set(-48 * time.Hour)
	s := d.open(t, path)
	if got := time.UnixMilli(s.engine.now()); !got.Equal(d.wall) {
		t.Errorf("the clock shows %s, want %s", got.UTC(), d.wall)
	}
	d.pass(maxLeft + time.Second)
	if n := stale(t, s); n != 1 {
		t.Errorf("after %s: %d claims ran out, want 1", maxLeft, n)
	}
}

// TestClockIsReal: the clock of this machine shows the time of the day, and goes on.
func TestClockIsReal(t *testing.T) {
	t.Parallel()
	c := newClock(machine{})
	before := c.now()
	if off := time.Since(time.UnixMilli(before)).Abs(); off > time.Minute {
		t.Errorf("the clock is %s off", off)
	}
	if after := c.now(); after < before {
		t.Errorf("the clock went back from %d to %d", before, after)
	}
}
