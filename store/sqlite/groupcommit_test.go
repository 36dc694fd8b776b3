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
	"testing"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// blocked blocks the writer while start starts n operations, so that they become one group.
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

// enter starts an operation behind those that wait already. The channel receives its error.
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

// TestPanic makes one operation of a group panic after it changed something. Only its caller is
// affected.
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

// TestPanicReading makes more reads panic than there are connections.
func TestPanicReading(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "foreman.db"))
	for range maxReaders + 1 {
		func() {
			defer func() { _ = recover() }()
			_ = s.engine.Read(t.Context(), func(sqlstore.Tx) error { panic("boom") })
		}()
	}
	if _, err := s.Queue().Inspect(t.Context(), "1"); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

// A faulty is a driver. Its statements fail if fail returns an error for them.
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
	return faultyStatement{s.(statement), c.f, query}, nil
}

// A statement is a driver's statement.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type faultyStatement struct {
	statement

	f     *faulty
	query string
}

func (s faultyStatement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if s.f.fail != nil {
		if err := s.f.fail(s.query); err != nil {
			return nil, err
		}
	}
	return s.statement.ExecContext(ctx, args)
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

// TestLocked runs each operation of a group by itself, while transactions can no longer begin.
// The writer waits for the lock once, not for each operation.
func TestLocked(t *testing.T) {
	t.Parallel()
	s, f := openFaulty(t)
	locked := errors.New("locked")
	begun := 0
	f.fail = func(query string) error {
		if !strings.HasPrefix(query, "BEGIN") {
			return nil
		}
		if begun++; begun > 2 { // the group's transaction and the first operation's begin
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
				return err // all but the first violate a unique key
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

// TestCommitOfReader makes the commit of a reading transaction fail. The next reads get a
// connection that is in no transaction.
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

// TestGroupFailure runs a failing operation in the middle of a group: the other operations are
// kept.
func TestGroupFailure(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "foreman.db"))
	boom := errors.New("boom")
	add := func(id string, then error) func(sqlstore.Tx) error {
		return func(tx sqlstore.Tx) error {
			_, err := tx.Exec("INSERT INTO poll_cursor (repo, at, data) VALUES ($1, 0, $2)", id, []byte{})
			return errors.Join(err, then)
		}
	}
	calm := func(sqlstore.Tx) error { return boom }
	var group []<-chan error
	blocked(t, s, 5, func() {
		for _, f := range []func(sqlstore.Tx) error{add("a", nil), calm, add("b", boom), add("a", nil), add("c", nil)} {
			group = append(group, enter(t, s, f))
		}
	})
	for i, want := range []bool{false, true, true, true, false} {
		if err := <-group[i]; (err != nil) != want {
			t.Errorf("operation %d: got %v, want an error: %v", i, err, want)
		}
	}
	for repo, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if data, err := s.Cursor(t.Context(), repo); err != nil || (data != nil) != want {
			t.Errorf("%s: got %v, %v", repo, data, err)
		}
	}
}

// TestCancelled cancels a call that waits for its group: it is not run.
func TestCancelled(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "foreman.db"))
	blocked(t, s, 0, func() {
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		go func() {
			_, err := s.Queue().Enqueue(ctx, filler("1"))
			result <- err
		}()
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
	if _, err := s.Queue().Inspect(t.Context(), "1"); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("Inspect: got %v, want ErrNotFound", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close again: %v", err)
	}
	if _, err := s.Queue().Enqueue(t.Context(), filler("2")); !errors.Is(err, queue.ErrUnavailable) {
		t.Errorf("Enqueue after Close: got %v", err)
	}
	if _, err := queue.List(t.Context(), s.Queue(), queue.Filter{}); !errors.Is(err, queue.ErrUnavailable) {
		t.Errorf("List after Close: got %v", err)
	}
}
