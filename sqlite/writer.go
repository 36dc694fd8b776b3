package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/org/foreman-action/internal/sqlstore"
	"github.com/org/foreman-action/queue"
)

// maxGroup is how many operations share a transaction at most.
const maxGroup = 256

// errClosed says that the store was closed.
var errClosed = fmt.Errorf("%w: it was closed", queue.ErrUnavailable)

// A writer runs operations on the one connection that writes. Those that wait while a
// transaction is being flushed to the disk share the next one.
type writer struct {
	conn *conn
	tx   tx
	ops  chan *op
	stop chan struct{}
	done chan struct{}
	once sync.Once
	// expected is how many operations the next group may have: those that waited when the
	// group before was over, and those of it, whose callers are likely to come back.
	expected int
	longest  int64 // how many pages the journal may have
	groups   int   // how many there were
	// failing is why something could not be kept, until Store.Healthy finds that it can be
	// again; nil if all could.
	failing atomic.Pointer[error]
}

// An op is one operation.
type op struct {
	f     func(sqlstore.Tx) error
	err   error
	done  chan struct{}
	state atomic.Int32 // opWaiting and its like
}

const (
	opWaiting   = iota
	opRunning   // by the writer
	opCancelled // by its caller; the writer passes it over
)

// startWriter starts a writer; close ends it.
func startWriter(c *conn, now func() int64) *writer {
	w := &writer{
		conn: c, tx: tx{conn: c, now: now},
		ops: make(chan *op, maxGroup), stop: make(chan struct{}), done: make(chan struct{}), longest: tooLong,
	}
	go w.run()
	return w
}

// close ends the writer, when it has answered those who wait.
func (w *writer) close() error {
	var err error
	w.once.Do(func() {
		close(w.stop)
		<-w.done
		err = w.conn.close()
	})
	return err
}

// write runs f in a transaction, maybe with others, and returns when it is durable.
func (w *writer) write(ctx context.Context, f func(sqlstore.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o := &op{f: f, done: make(chan struct{})}
	select {
	case w.ops <- o:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.stop:
		return errClosed
	}
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
		if o.state.CompareAndSwap(opWaiting, opCancelled) {
			return ctx.Err()
		}
	case <-w.done:
		if o.state.CompareAndSwap(opWaiting, opCancelled) {
			return errClosed
		}
	}
	<-o.done // it is being run, and may be kept
	return o.err
}

func (w *writer) run() {
	defer close(w.done)
	group := make([]*op, 0, maxGroup)
	for {
		select {
		case o := <-w.ops:
			group = w.gather(append(group[:0], o))
			w.commit(group)
			w.shorten()
		case <-w.stop:
			return
		}
	}
}

// gather adds to a group what waits. Those who were answered together come back
// together, so it lets them run before it begins with fewer.
func (w *writer) gather(group []*op) []*op {
	for yields := 0; len(group) < maxGroup; {
		select {
		case o := <-w.ops:
			group = append(group, o)
			continue
		default:
		}
		if len(group) >= w.expected || yields >= maxYields {
			break
		}
		yields++
		runtime.Gosched()
	}
	return group
}

// maxYields is how often a writer lets others run in the hope of a larger group.
const maxYields = 50

// commit runs a group in one transaction. If one of it fails after it changed
// something, each is run by itself.
func (w *writer) commit(group []*op) {
	n := 0
	for _, o := range group {
		if o.state.CompareAndSwap(opWaiting, opRunning) {
			group[n] = o
			n++
		}
	}
	group = group[:n]
	err := w.together(group)
	for _, o := range group {
		switch {
		case errors.Is(err, errApart):
			o.err = nil
			w.alone(o)
		case err != nil:
			o.err = err
		}
	}
	w.expected = len(w.ops) + len(group)
	for _, o := range group {
		close(o.done)
	}
}

// errApart says that the operations of a group are to be run each by itself.
var errApart = errors.New("apart")

// together runs the operations of a group in one transaction.
func (w *writer) together(group []*op) error {
	if len(group) == 0 {
		return nil
	}
	if _, err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
		return w.failed(err)
	}
	for _, o := range group {
		w.tx.dirty = false
		o.err = o.f(&w.tx)
		if o.err != nil && w.tx.dirty {
			w.rollback()
			return errApart
		}
	}
	return w.end()
}

// alone runs one operation in a transaction of its own.
func (w *writer) alone(o *op) {
	if _, err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
		o.err = w.failed(err)
		return
	}
	if err := o.f(&w.tx); err != nil {
		w.rollback()
		o.err = w.failed(err)
		return
	}
	o.err = w.end()
}

// end commits.
func (w *writer) end() error {
	if _, err := w.conn.exec("COMMIT"); err != nil {
		w.rollback()
		return w.failed(err)
	}
	return nil
}

// rollback ends a transaction, if SQLite did not do so itself.
func (w *writer) rollback() {
	_, _ = w.conn.exec("ROLLBACK") // its only error is that there is no transaction any more
}

// failed notes an error of the medium, and makes it the one that callers know.
func (w *writer) failed(err error) error {
	mapped := medium(err)
	if errors.Is(mapped, queue.ErrUnavailable) {
		w.failing.Store(&mapped)
	}
	return mapped
}
