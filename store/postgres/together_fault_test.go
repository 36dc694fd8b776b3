package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/org/foreman-action/queue"
)

// A cutConn closes after it has read left bytes; 0: never.
type cutConn struct {
	net.Conn

	left *atomic.Int64
}

func (c cutConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.left.Load() > 0 && c.left.Add(int64(-n)) <= 0 {
		c.left.Store(0)
		return 0, errors.Join(io.ErrUnexpectedEOF, c.Close())
	}
	return n, err
}

// TestCutLease loses the connection after it has read the first of several leases. The leases may
// be rolled back, so none is returned.
func TestCutLease(t *testing.T) {
	t.Parallel()
	config, err := parse(Server(t).Schema(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var left atomic.Int64
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		return cutConn{c, &left}, err
	}
	s, err := open(t.Context(), config, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.AwaitSession(t)
	long := slices.Concat([]byte(`"`), bytes.Repeat([]byte("x"), 2<<20), []byte(`"`))
	for i := range 8 {
		if _, err := s.Queue().Enqueue(t.Context(), queue.Task{ID: fmt.Sprint(i), Repo: "o/r", Message: long}); err != nil {
			t.Fatal(err)
		}
	}
	left.Store(3 << 20)
	if list, err := s.Queue().LeaseDecisions(t.Context(), queue.DrainOptions{Lease: time.Hour, Limit: 8}); len(list) > 0 || !errors.Is(err, queue.ErrUnavailable) {
		t.Errorf("got %d decisions, %v, want none and ErrUnavailable", len(list), err)
	}
}

// TestStuck adds a task while the open transaction of another process adds one with the same id.
// Only this call waits, not the calls that are made together with it.
func TestStuck(t *testing.T) {
	t.Parallel()
	s, r, url := openCounted(t, false)
	ctx := t.Context()
	if err := stepEnqueue(ctx, s, "22"); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "BEGIN; INSERT INTO task (task_id, agent, repo, issue, lane, state, priority, joinable, created_at) VALUES ('stuck', '', 'o/r', 1, 'x', 2, 0, 0, 0)"); err != nil {
		t.Fatal(err)
	}
	others := make(chan struct{}, 2)
	var end atomic.Value // set when the other transaction ends
	var ended sync.WaitGroup
	ended.Go(func() {
		<-others
		<-others
		end.Store(true)
		if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
			t.Error(err)
		}
	})
	r.together(t,
		func(ctx context.Context) { _ = stepEnqueue(ctx, s, "first") },
		func(ctx context.Context) {
			if err := stepEnqueue(ctx, s, "stuck"); err != nil || end.Load() == nil {
				t.Errorf("got %v, want it to wait for the end of the other transaction", err)
			}
		},
		func(ctx context.Context) {
			if _, err := s.Queue().Complete(ctx, queue.Ref{ID: "22"}, []byte("{}")); err != nil {
				t.Error(err)
			}
			others <- struct{}{}
		},
		func(ctx context.Context) {
			if _, err := stepClaim(ctx, s); err != nil && !errors.Is(err, queue.ErrEmpty) {
				t.Error(err)
			}
			others <- struct{}{}
		})
	ended.Wait()
}

// TestLeaveFlight claims a task, and ends the claim's context while its group is running. The
// claim is returned nevertheless.
func TestLeaveFlight(t *testing.T) {
	t.Parallel()
	s, r, _ := openCounted(t, false)
	ctx := t.Context()
	if err := stepEnqueue(ctx, s, "a"); err != nil {
		t.Fatal(err)
	}
	hold := func() (held, holds chan struct{}) {
		held, holds = make(chan struct{}), make(chan struct{})
		r.mu.Lock()
		defer r.mu.Unlock()
		r.held, r.holds = held, holds
		return held, holds
	}
	first, holds := hold()
	results := make(chan error, 3)
	go func() { results <- stepEnqueue(ctx, s, "first") }()
	<-holds
	group, holds := hold()
	leaving, leave := context.WithCancel(ctx)
	claim, add := &waiter{Context: leaving, waiting: make(chan struct{})}, &waiter{Context: ctx, waiting: make(chan struct{})}
	go func() { _, err := stepClaim(claim, s); results <- err }()
	<-claim.waiting
	go func() { results <- stepEnqueue(add, s, "second") }()
	<-add.waiting
	close(first)
	<-holds
	leave()
	close(group)
	for range 3 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}
