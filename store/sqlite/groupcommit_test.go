package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// blocked keeps the writer busy while start starts n operations, so that they become one
// group.
func blocked(t *testing.T, s *Store, n int, start func()) {
	t.Helper()
	release, running := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	go func() {
		first <- s.engine.Write(context.WithoutCancel(t.Context()), func(sqlstore.Tx) error {
			close(running)
			<-release
			return nil
		})
	}()
	<-running
	start()
	for s.engine.writer.Waiting() < n {
		runtime.Gosched()
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// enter starts an operation behind those that wait already. Its error is sent when it ends.
func enter(t *testing.T, s *Store, f func(sqlstore.Tx) error) <-chan error {
	t.Helper()
	before := s.engine.writer.Waiting()
	result := make(chan error, 1)
	go func() { result <- s.engine.Write(context.WithoutCancel(t.Context()), f) }()
	for s.engine.writer.Waiting() == before {
		runtime.Gosched()
	}
	return result
}

// TestPanic has one of a group panic, after it changed something: that is the business of
// its caller alone.
func TestPanic(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "foreman.db"))
	add := func(id string, panics bool) func(sqlstore.Tx) error {
		return func(tx sqlstore.Tx) error {
			_, err := tx.Exec("INSERT INTO poll_cursor (repo, at, data) VALUES ($1, 0, $2)", id, []byte{})
			if panics {
				panic("boom")
			}
			return err
		}
	}
	var calls sync.WaitGroup
	errs := make([]error, 3)
	blocked(t, s, len(errs), func() {
		for i, id := range []string{"a", "b", "c"} {
			calls.Go(func() {
				defer func() {
					if value := recover(); value != nil {
						errs[i] = fmt.Errorf("panic: %v", value)
					}
				}()
				errs[i] = s.engine.Write(t.Context(), add(id, id == "b"))
			})
		}
	})
	calls.Wait()
	if errs[0] != nil || errs[2] != nil {
		t.Errorf("the others: got %v", errs)
	}
	if errs[1] == nil || !strings.Contains(errs[1].Error(), "panic: boom") || !strings.Contains(errs[1].Error(), "groupcommit_test.go") {
		t.Errorf("got %v, want the panic, and where it was", errs[1])
	}
	for repo, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if data, err := s.Cursor(t.Context(), repo); err != nil || (data != nil) != want {
			t.Errorf("%s: got %v, %v", repo, data, err)
		}
	}
}

// TestPanicReading has more of those who read panic than there are connections.
func TestPanicReading(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "foreman.db"))
	for range maxReaders + 1 {
		func() {
			defer func() { _ = recover() }()
			_ = s.engine.Read(t.Context(), func(sqlstore.Tx) error { panic("boom") })
		}()
	}
	if _, err := s.Inspect(t.Context(), "1"); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

// faulty is a driver of which statements fail when fail says so.
type faulty struct {
	driver.Driver

	fail func(query string) error
}

func (f *faulty) Open(name string) (driver.Conn, error) {
	c, err := f.Driver.Open(name)
	return faultyConn{c, f}, err
}

type faultyConn struct {
	driver.Conn

	f *faulty
}

func (c faultyConn) Prepare(query string) (driver.Stmt, error) {
	s, err := c.Conn.Prepare(query)
	if err != nil {
		return nil, err
	}
	r, ok := s.(runner)
	if !ok {
		return nil, errors.New("the driver is too old")
	}
	return faultyStatement{r, c.f, query}, nil
}

type faultyStatement struct {
	runner

	f     *faulty
	query string
}

func (s faultyStatement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if s.f.fail != nil {
		if err := s.f.fail(s.query); err != nil {
			return nil, err
		}
	}
	return s.runner.ExecContext(ctx, args)
}

func openFaulty(t *testing.T) (*Store, *faulty) {
	t.Helper()
	f := &faulty{Driver: registered()}
	s, err := openFile(t.Context(), f, filepath.Join(t.TempDir(), "foreman.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, f
}

// TestLocked has no transaction begin any more while each of a group is run by itself: it is
// waited for once, and not by each.
func TestLocked(t *testing.T) {
	t.Parallel()
	s, f := openFaulty(t)
	locked := errors.New("locked")
	begun := 0
	f.fail = func(query string) error {
		if !strings.HasPrefix(query, "BEGIN") {
			return nil
		}
		if begun++; begun > 2 { // those who are together, and the first one alone
			return locked
		}
		return nil
	}
	group := make([]<-chan error, 20)
	blocked(t, s, len(group), func() {
		begun = 0
		for i := range group {
			group[i] = enter(t, s, func(tx sqlstore.Tx) error {
				_, err := tx.Exec("INSERT INTO poll_cursor (repo, at, data) VALUES ($1, 0, $2)", "one", []byte{})
				return err // all but the first are in each other's way
			})
		}
	})
	for i, result := range group {
		if err := <-result; (i == 0) != (err == nil) || i > 0 && !errors.Is(err, locked) {
			t.Errorf("operation %d: got %v", i, err)
		}
	}
	if begun != 3 {
		t.Errorf("%d transactions were begun, want 3", begun)
	}
}

// TestCommitOfReader has the end of a transaction that reads fail: the next ones get a
// connection that is in none.
func TestCommitOfReader(t *testing.T) {
	t.Parallel()
	s, f := openFaulty(t)
	broken := errors.New("broken")
	look := func() error { return s.engine.Read(t.Context(), func(sqlstore.Tx) error { return nil }) }
	f.fail = func(query string) error {
		if query == "COMMIT" {
			return broken
		}
		return nil
	}
	for range maxReaders {
		if err := look(); !errors.Is(err, broken) {
			t.Errorf("got %v, want the error of the commit", err)
		}
	}
	f.fail = nil
	for range maxReaders {
		if err := look(); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	}
}

// TestClaimTogether has many claim in one group: for two agents, under two names, and more
// than there are tasks, one of which cannot be read. Time passes with every look at it.
func TestClaimTogether(t *testing.T) {
	t.Parallel()
	var ticks atomic.Int64
	ticks.Store(time.Now().UnixMilli())
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "foreman.db"), Options{Now: func() time.Time { return time.UnixMilli(ticks.Add(1)) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tasks := map[string]int{"http://a": 5, "http://b": 2}
	for agent, n := range tasks {
		for i := range n {
			id := fmt.Sprint(agent, i)
			if _, err := s.Enqueue(t.Context(), queue.Task{ID: id, Agent: agent, Repo: "o/r", Issue: i + 1, Priority: i, Message: []byte(`{}`)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = s.engine.Write(t.Context(), func(tx sqlstore.Tx) error {
		_, err := tx.Exec("UPDATE task_body SET message = $1 WHERE seq = (SELECT seq FROM task WHERE task_id = $2)", []byte("no JSON"), "http://a4")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	const each = 3 // claim for an agent under a name
	type got struct {
		claim queue.Claim
		by    string
	}
	var mu sync.Mutex
	claims := map[string]got{}
	empty := map[string]int{}
	var calls sync.WaitGroup
	blocked(t, s, 4*each, func() {
		for i := range 4 * each {
			agent, by := []string{"http://a", "http://b"}[i%2], []string{"x", "y"}[i/2%2]
			calls.Go(func() {
				c, err := s.ClaimNext(t.Context(), agent, queue.ClaimOptions{By: by, Lease: time.Minute})
				mu.Lock()
				defer mu.Unlock()
				if errors.Is(err, queue.ErrEmpty) {
					empty[agent]++
					return
				}
				if _, twice := claims[c.ID]; err != nil || twice || !strings.HasPrefix(c.ID, agent) {
					t.Errorf("%s got %s, %v", agent, c.ID, err)
				}
				claims[c.ID] = got{c, by}
			})
		}
	})
	calls.Wait()
	if len(claims) != 6 || empty["http://a"] != 2 || empty["http://b"] != 4 {
		t.Errorf("got %d claims, nothing: %v", len(claims), empty)
	}
	for id, c := range claims {
		info, err := s.Inspect(t.Context(), id)
		if err != nil || info.State != queue.Claimed || info.Owner != c.by || info.Attempt != c.claim.Attempt || !info.Until.Equal(c.claim.Until) {
			t.Errorf("%s: got %+v, %v, claimed by %s: %+v", id, info, err, c.by, c.claim)
		}
	}
	if info, err := s.Inspect(t.Context(), "http://a4"); err != nil || info.State != queue.Failed {
		t.Errorf("the one that cannot be read: %+v, %v", info, err)
	}
}
