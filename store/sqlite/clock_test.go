package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// A day is a simulated machine whose time of day can be set.
type day struct {
	up   time.Duration // time since the boot
	wall time.Time
}

func (d *day) open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{machine: machine{
		since: func() time.Duration { return d.up }, wall: func() time.Time { return d.wall },
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// pass advances the time since the boot and the time of day.
func (d *day) pass(by time.Duration) { d.up, d.wall = d.up+by, d.wall.Add(by) }

// set moves the time of day only.
func (d *day) set(by time.Duration) { d.wall = d.wall.Add(by) }

// reboot boots the machine again. The time of day was moved meanwhile.
func (d *day) reboot(by time.Duration) {
	d.up = time.Minute
	d.set(by)
}

const dayTask = "7d0c0000-0000-4000-8000-00000000000a"

// claimed opens a store, and claims a task for ten minutes.
func (d *day) claimed(t *testing.T, path string) *Store {
	t.Helper()
	s := d.open(t, path)
	task := queue.Task{ID: dayTask, Agent: "http://agent:9001", Repo: "org/repo", Issue: 1, Message: []byte("{}")}
	if _, err := s.Queue().Enqueue(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Queue().ClaimNext(t.Context(), task.Agent, queue.ClaimOptions{Lease: 10 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	return s
}

// stale returns how many expired claims a store requeues.
func stale(t *testing.T, s *Store) int {
	t.Helper()
	list, err := s.Queue().RequeueStale(t.Context(), queue.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func noon() *day {
	return &day{up: time.Hour, wall: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
}

// TestClockStays sets the time of day while a process runs. Its claim lasts as long as before.
func TestClockStays(t *testing.T) {
	t.Parallel()
	for _, jump := range []time.Duration{time.Hour, -48 * time.Hour} {
		d := noon()
		s := d.claimed(t, filepath.Join(t.TempDir(), "foreman.db"))
		d.set(jump)
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{10*time.Minute - time.Second, 0}, {time.Second, 1}} {
			d.pass(step.after)
			if n := stale(t, s); n != step.want {
				t.Errorf("jump of %s, %s later: %d claims ran out, want %d", jump, step.after, n, step.want)
			}
		}
	}
}

// TestClockOfOther sets the time of day back while a server runs, and opens the file a second
// time, as a command does. The claims and delays of the server stay as they are.
func TestClockOfOther(t *testing.T) {
	t.Parallel()
	d, path := noon(), filepath.Join(t.TempDir(), "foreman.db")
	s := d.claimed(t, path)
	if _, err := s.Queue().Enqueue(t.Context(), queue.Task{ID: "waits", Agent: "http://agent:9001", Repo: "org/repo", Message: []byte("{}"), Wait: 10 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Queue().LeaseDecisions(t.Context(), queue.DrainOptions{Owner: "server", Lease: time.Minute, Limit: 1}); err != nil {
		t.Fatal(err)
	}
	d.set(-48 * time.Hour)
	d.open(t, path).Close()
	claim := func() error {
		_, err := s.Queue().ClaimNext(t.Context(), "http://agent:9001", queue.ClaimOptions{Lease: time.Hour})
		return err
	}
	d.pass(10*time.Minute - time.Second)
	if err := claim(); stale(t, s) != 0 || !errors.Is(err, queue.ErrEmpty) {
		t.Errorf("before the time: a claim ran out, or got %v", err)
	}
	d.pass(time.Second)
	if err := claim(); stale(t, s) != 1 || err != nil {
		t.Errorf("at the time: no claim ran out, or got %v", err)
	}
}

// TestClockSetBack sets the time of day back while no process runs. The next process starts with
// the time of day. A claim and a lease of a decision then last no longer than they did before.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	d, path := noon(), filepath.Join(t.TempDir(), "foreman.db")
	s := d.claimed(t, path)
	if _, err := s.Queue().Enqueue(t.Context(), queue.Task{ID: "decided", Repo: "org/repo", Message: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	list, err := s.Queue().LeaseDecisions(t.Context(), queue.DrainOptions{Owner: "server", Lease: 10 * time.Minute, Limit: 1})
	if err != nil || len(list) != 1 {
		t.Fatalf("got %d decisions, %v", len(list), err)
	}
	s.Close()
	d.reboot(-48 * time.Hour)
	s = d.open(t, path)
	if got := time.UnixMilli(s.engine.now()); !got.Equal(d.wall) {
		t.Errorf("the clock shows %s, want %s", got.UTC(), d.wall)
	}
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{10*time.Minute - time.Second, 0}, {time.Second, 2}} {
		d.pass(step.after)
		if n := stale(t, s); n != step.want {
			t.Errorf("%s later: %d ran out, want %d", step.after, n, step.want)
		}
	}
}

// TestClockIsReal checks that the clock of this machine shows the time of day and advances.
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

// TestHoldsAfterBoot restarts the machine while tasks are held back; the clock was set back while
// it was off. Each task waits only the rest of its time.
func TestHoldsAfterBoot(t *testing.T) {
	t.Parallel()
	d, path := noon(), filepath.Join(t.TempDir(), "foreman.db")
	s := d.open(t, path)
	add := func(s *Store, task queue.Task) queue.Enqueued {
		t.Helper()
		task.Agent, task.Repo, task.Message = "http://agent:9001/"+task.ID, "org/repo", []byte("{}")
		got, err := s.Queue().Enqueue(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	add(s, queue.Task{ID: "waits", Wait: 10 * time.Minute})
	for _, id := range []string{"first", "second"} {
		add(s, queue.Task{ID: id, HourlyLimit: 1})
	}
	d.pass(5 * time.Minute)
	if err := s.SaveCursor(t.Context(), "presence", nil); err != nil {
		t.Fatal(err)
	}
	s.Close()
	d.reboot(-48 * time.Hour)
	s = d.open(t, path)
	if got := add(s, queue.Task{ID: "third", HourlyLimit: 1}); got.Ready.After(d.wall.Add(2 * time.Hour)) {
		t.Errorf("the third task may go at %s, more than two hours after %s", got.Ready, d.wall)
	}
	for _, step := range []struct {
		id    string
		after time.Duration
	}{{"waits", 5 * time.Minute}, {"second", 50 * time.Minute}, {"third", time.Hour}} {
		claim := func() error {
			_, err := s.Queue().ClaimNext(t.Context(), "http://agent:9001/"+step.id, queue.ClaimOptions{Lease: time.Minute})
			return err
		}
		d.pass(step.after - time.Second)
		if err := claim(); !errors.Is(err, queue.ErrEmpty) {
			t.Errorf("%s, before its time: got %v", step.id, err)
		}
		d.pass(time.Second)
		if err := claim(); err != nil {
			t.Errorf("%s, at its time: %v", step.id, err)
		}
	}
}

// TestLeadAfterBoot turns the machine of a leader off, and sets its clock back. The leader's
// lease still ends, and another process leads.
func TestLeadAfterBoot(t *testing.T) {
	t.Parallel()
	d, path := noon(), filepath.Join(t.TempDir(), "foreman.db")
	s := d.open(t, path)
	err := s.engine.Write(t.Context(), func(tx sqlstore.Tx) error {
		_, err := tx.Exec("INSERT INTO leader (name, owner, until) VALUES ($1, $2, $3)", "poll", "one that was killed", s.engine.now()+15_000)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	d.reboot(-48 * time.Hour)
	s = d.open(t, path)
	d.pass(maxLead)
	// Less than the 5 s between two tries to lead.
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	resigned := errors.New("resigned")
	if err := s.Lead(ctx, "poll", func(context.Context) error { return resigned }); !errors.Is(err, resigned) {
		t.Errorf("got %v, want that it leads at once", err)
	}
}

// TestPurgeAfterSetting sets the time of day. Tasks are kept as long as before.
func TestPurgeAfterSetting(t *testing.T) {
	t.Parallel()
	const kept = 30 * 24 * time.Hour
	for _, by := range []time.Duration{90 * 24 * time.Hour, -90 * 24 * time.Hour} {
		d := noon()
		s := d.claimed(t, filepath.Join(t.TempDir(), "foreman.db"))
		if err := s.Queue().Cancel(t.Context(), queue.Seen{ID: dayTask}, "test"); err != nil {
			t.Fatal(err)
		}
		d.set(by)
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{kept - time.Hour, 0}, {2 * time.Hour, 1}} {
			d.pass(step.after)
			if n, err := s.Queue().Purge(t.Context(), d.wall.Add(-kept), 10); err != nil || n != step.want {
				t.Errorf("set by %s, %s later: %d were purged, %v, want %d", by, step.after, n, err, step.want)
			}
		}
	}
}
