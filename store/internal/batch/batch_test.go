package batch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/batch"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// A desk answers requests, and records which ones ran together and which ran alone. Its
// statements are the lists of their requests.
type desk struct {
	sqlstore.Engine

	engine  batch.Engine
	letters *batch.Kind[string]
	numbers *batch.Kind[int]
	serve   func(requests []string) ([]bool, error) // serves the requests of letters

	mu    sync.Mutex
	runs  []string
	holds map[string]chan struct{} // requests that wait until their channel is closed
}

func newDesk(serve func([]string) ([]bool, error), held ...string) *desk {
	d := &desk{serve: serve, holds: map[string]chan struct{}{}}
	for _, name := range held {
		d.holds[name] = make(chan struct{})
	}
	d.engine = batch.NewEngine(d)
	d.letters = &batch.Kind[string]{Order: 1, Join: func(_ any, requests []string, waits bool) (j batch.Joined) {
		served, err := all(requests)
		if waits && requests[0] == "bad" {
			err = errors.New("it is bad")
		} else if !waits {
			served, err = d.serve(requests)
		}
		j.Served, j.Each = served, func(sqlstore.Row) error { return err }
		j.Query = strings.Join(slices.Sorted(slices.Values(requests)), " ")
		return j
	}}
	d.numbers = &batch.Kind[int]{Order: 0, Join: func(_ any, requests []int, waits bool) (j batch.Joined) {
		j.Query = fmt.Sprint(slices.Sorted(slices.Values(requests)))
		if waits {
			j.Query = fmt.Sprint(requests[0])
		}
		j.Served, j.Each = slices.Repeat([]bool{true}, len(requests)), sqlstore.Ignore
		return j
	}}
	d.letters.Each = func(_ sqlstore.Tx, request string) (bool, error) { return request == "a", nil }
	d.letters.Size = func(request string) int { return len(request) }
	return d
}

func (d *desk) note(run string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.runs = append(d.runs, run)
}

// hold waits until the channel of a request is closed.
func (d *desk) hold(request string) {
	if c := d.holds[request]; c != nil {
		<-c
	}
}

// WriteAll implements batch.Writer.
func (d *desk) WriteAll(ctx context.Context, locked time.Duration, build func(any) []sqlstore.Statement) error {
	run := "together"
	if locked == 0 {
		run = "alone"
	}
	statements := build(nil)
	for _, s := range statements {
		run += " " + s.Query
	}
	d.note(run)
	for name := range d.holds {
		if slices.Contains(strings.Fields(run), name) {
			d.hold(name)
		}
	}
	err := ctx.Err()
	for _, s := range statements {
		err = errors.Join(err, s.Each(nil))
	}
	return err
}

func (d *desk) ask(ctx context.Context, request string) error {
	served, err := batch.Do(ctx, d.engine, d.letters, request)
	if err == nil && !served {
		err = errors.New("not served")
	}
	return err
}

// all reports every request as served.
func all(requests []string) ([]bool, error) { return slices.Repeat([]bool{true}, len(requests)), nil }

// want compares the runs. It sorts the runs after the second one, because they are concurrent.
func (d *desk) want(t *testing.T, want ...string) {
	t.Helper()
	slices.Sort(d.runs[min(2, len(d.runs)):])
	if !slices.Equal(d.runs, want) {
		t.Errorf("got %q, want %q", d.runs, want)
	}
}

func TestAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(all)
	for range 2 {
		if err := d.ask(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	d.want(t, "alone a", "alone a")
}

// A serial engine runs one transaction at a time.
type serial struct{ sqlstore.Engine }

// Write implements sqlstore.Engine.
func (serial) Write(_ context.Context, f func(sqlstore.Tx) error) error { return f(nil) }

func TestSerial(t *testing.T) {
	t.Parallel()
	d := newDesk(all)
	e := batch.NewEngine(serial{})
	for request, want := range map[string]bool{"a": true, "b": false} {
		if served, err := batch.Do(t.Context(), e, d.letters, request); err != nil || served != want {
			t.Errorf("%s: got %v, %v, want %v", request, served, err, want)
		}
	}
	d.want(t)
}

// TestTogether makes calls of two kinds while another call is running.
func TestTogether(t *testing.T) {
	t.Parallel()
	broken, unavailable := errors.New("broken"), fmt.Errorf("no answer: %w", queue.ErrUnavailable)
	tests := []struct {
		name  string
		serve func([]string) ([]bool, error)
		want  []string // runs of single calls afterwards
		err   error    // the error of all calls
	}{
		{"all are served", all, nil, nil},
		{"one is not", func(requests []string) (served []bool, err error) {
			for _, r := range requests {
				served = append(served, r != "b")
			}
			return served, nil
		}, []string{"alone b"}, nil},
		{"the group fails", func([]string) ([]bool, error) { return nil, broken }, []string{"alone 1", "alone a", "alone b", "alone bad"}, nil},
		{"nothing is known", func([]string) ([]bool, error) { return nil, unavailable }, nil, unavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { together(t, tt.serve, tt.want, tt.err) })
		})
	}
}

func together(t *testing.T, serve func([]string) ([]bool, error), want []string, err error) {
	t.Helper()
	d := newDesk(serve, "first")
	got := map[string]error{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	ask := func(r string, do func() error) {
		wg.Go(func() {
			err := do()
			mu.Lock()
			defer mu.Unlock()
			got[r] = err
		})
	}
	ask("first", func() error { return d.ask(t.Context(), "first") })
	synctest.Wait()
	for _, r := range []string{"a", "b", "bad"} {
		ask(r, func() error { return d.ask(t.Context(), r) })
	}
	ask("1", func() error {
		_, err := batch.Do(t.Context(), d.engine, d.numbers, 1)
		return err
	})
	synctest.Wait()
	if n := d.engine.Waiting(); n != 4 {
		t.Errorf("%d calls wait, want 4", n)
	}
	close(d.holds["first"])
	wg.Wait()
	d.want(t, append([]string{"alone first", "together [1] a b bad"}, want...)...)
	for r, got := range got {
		switch {
		case r == "bad" && slices.Contains(want, "alone bad"):
			if got == nil || got.Error() != "it is bad" {
				t.Errorf("%s: got %v", r, got)
			}
		case r != "first" && !errors.Is(got, err):
			t.Errorf("%s: got %v, want %v", r, got, err)
		}
	}
}

// TestLarge makes a call with a large text while another call is running. It is not joined with
// others.
func TestLarge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(all, "first")
		var wg sync.WaitGroup
		wg.Go(func() { _ = d.ask(t.Context(), "first") })
		synctest.Wait()
		large := strings.Repeat("x", batch.MaxText+1)
		if err := d.ask(t.Context(), large); err != nil {
			t.Error(err)
		}
		d.want(t, "alone first", "alone "+large)
		close(d.holds["first"])
		wg.Wait()
	})
}

// TestLeave ends the context of a call that waits, and of a call whose group is running.
func TestLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(all, "first", "gone")
		var wg sync.WaitGroup
		ask := func(ctx context.Context, r string, want error) {
			wg.Go(func() {
				if err := d.ask(ctx, r); !errors.Is(err, want) {
					t.Errorf("%s: got %v, want %v", r, err, want)
				}
			})
			synctest.Wait()
		}
		ask(t.Context(), "first", nil)
		leaving, leave := context.WithCancel(t.Context())
		ask(leaving, "gone", context.Canceled)
		leave()
		synctest.Wait()
		if n := d.engine.Waiting(); n != 0 {
			t.Fatalf("%d calls wait, want none", n)
		}
		leaving, leave = context.WithCancel(t.Context())
		ask(leaving, "gone", nil) // the call gets its result
		ask(t.Context(), "a", nil)
		close(d.holds["first"])
		synctest.Wait()
		leave()
		synctest.Wait()
		close(d.holds["gone"])
		wg.Wait()
		d.want(t, "alone first", "together a gone")
	})
}

// TestOverdue makes calls that wait for locks: the following calls start beside them.
func TestOverdue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(all, "first", "a")
		var wg sync.WaitGroup
		for _, r := range []string{"first", "a", "b"} {
			wg.Go(func() { _ = d.ask(t.Context(), r) })
			synctest.Wait()
			time.Sleep(batch.Overdue)
			synctest.Wait()
		}
		d.want(t, "alone first", "alone a", "alone b")
		close(d.holds["a"])
		close(d.holds["first"])
		wg.Wait()
		if err := d.ask(t.Context(), "c"); err != nil {
			t.Error(err)
		}
	})
}

// TestReturn lets callers that were answered together call again one after the other: they run
// together again. When only one caller is left, it does not wait.
func TestReturn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(all, "first")
		var wg sync.WaitGroup
		ask := func(r string) {
			wg.Go(func() { _ = d.ask(t.Context(), r) })
			synctest.Wait()
		}
		ask("first")
		time.Sleep(time.Millisecond) // the duration of the batch
		ask("a")
		ask("b")
		close(d.holds["first"])
		wg.Wait()
		ask("c")
		ask("d")
		wg.Wait()
		d.want(t, "alone first", "together a b", "together c d")
		for range 20 {
			_ = d.ask(t.Context(), "f")
		}
		began := time.Now()
		_ = d.ask(t.Context(), "f")
		if waited := time.Since(began); waited != 0 {
			t.Errorf("waited for %v", waited)
		}
	})
}

// TestNextWatched ends the context of the waiting call that has the timer. The next waiting call
// gets a timer.
func TestNextWatched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(all, "first")
		var wg sync.WaitGroup
		ask := func(ctx context.Context, r string) {
			wg.Go(func() { _ = d.ask(ctx, r) })
			synctest.Wait()
		}
		ask(t.Context(), "first")
		leaving, leave := context.WithCancel(t.Context())
		ask(leaving, "gone")
		ask(t.Context(), "b")
		leave()
		time.Sleep(10 * batch.Overdue)
		synctest.Wait()
		if n := d.engine.Waiting(); n != 0 {
			t.Errorf("%d still wait", n)
		}
		close(d.holds["first"])
		wg.Wait()
	})
}

// TestRestWatched makes more calls wait than fit into a group. The rest do not wait for the
// group's end.
func TestRestWatched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(all, "first", "x000")
		var wg sync.WaitGroup
		ask := func(r string) {
			wg.Go(func() { _ = d.ask(t.Context(), r) })
			synctest.Wait()
		}
		ask("first")
		for i := range 200 {
			ask(fmt.Sprintf("x%03d", i))
		}
		time.Sleep(10 * batch.Overdue)
		synctest.Wait()
		if n := d.engine.Waiting(); n != 0 {
			t.Errorf("%d still wait", n)
		}
		close(d.holds["first"])
		close(d.holds["x000"])
		wg.Wait()
	})
}
