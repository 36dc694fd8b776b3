package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
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
	done chan struct{}
	once sync.Once

	mu      sync.Mutex
	waiting []*op
	closed  bool
	wanted  int           // how many have to wait for the writer to be woken
	wake    chan struct{} // has room for one

	// expected is how many operations the next group may have: those that waited when the
	// group before was over, and those of it, whose callers are likely to come back.
	expected int
	flush    time.Duration    // what it takes to make a group durable, of late
	timer    *time.Timer      // nil: the writer lets others run, and waits for no time
	wishes   []*sqlstore.Wish // of the group that is being run
	journal  journal
	// failing is why something could not be kept, until Store.Healthy finds that it can be
	// again; nil if all could.
	failing atomic.Pointer[error]
}

// An op is one operation: f, or what is done for all wishes of a group together.
type op struct {
	f     func(sqlstore.Tx) error
	all   func(sqlstore.Tx, []*sqlstore.Wish) error
	wish  *sqlstore.Wish
	err   error
	done  chan struct{}
	state atomic.Int32 // opWaiting and its like
}

const (
	opWaiting   = iota
	opRunning   // by the writer
	opCancelled // by its caller; the writer passes it over
)

// startWriter starts a writer; close ends it. A patient one waits a little, by the machine's
// clock, for those who are likely to come back.
func startWriter(c *conn, now func() int64, patient bool) *writer {
	w := &writer{
		conn: c, tx: tx{conn: c, now: now}, done: make(chan struct{}),
		wake: make(chan struct{}, 1), journal: newJournal(c),
	}
	if patient {
		w.timer = time.NewTimer(0)
	}
	go w.run()
	return w
}

// close ends the writer, when it has answered those who wait.
func (w *writer) close() error {
	var err error
	w.once.Do(func() {
		w.mu.Lock()
		w.closed = true
		w.rouse()
		w.mu.Unlock()
		<-w.done
		err = w.conn.close()
	})
	return err
}

// rouse wakes the writer; the caller holds the lock.
func (w *writer) rouse() {
	select {
	case w.wake <- struct{}{}:
	default: // it was woken already
	}
}

// enter has an operation wait for the writer, which closes its channel.
func (w *writer) enter(o *op) error {
	o.done = make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errClosed
	}
	if w.waiting = append(w.waiting, o); len(w.waiting) == w.wanted {
		w.rouse()
	}
	return nil
}

// write runs an operation in a transaction, maybe with others, and returns when it is
// durable. If the operation panics, so does write.
func (w *writer) write(ctx context.Context, o *op) error {
	err := w.wait(ctx, o)
	if p, ok := err.(*panicked); ok { //nolint:errorlint // no other error holds one
		panic(p)
	}
	return err
}

// wait is write, but returns panics.
func (w *writer) wait(ctx context.Context, o *op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.enter(o); err != nil {
		return err
	}
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
		if o.state.CompareAndSwap(opWaiting, opCancelled) {
			return ctx.Err()
		}
	}
	<-o.done // it is being run, and may be kept
	return o.err
}

func (w *writer) run() {
	defer close(w.done)
	group := make([]*op, 0, maxGroup)
	for {
		if group = w.gather(group[:0]); len(group) == 0 {
			return
		}
		w.commit(group)
		clear(group)
		w.journal.shorten()
	}
}

// gather returns those that wait, when there is one; none: the writer was closed. Those
// who were answered together come back together, and if they just missed a group they would
// do so again and again: so it waits for them, or at least lets them run. It waits for as
// long as it takes to make a group durable, which is what each group costs that there is
// more of. To wait longer would be a loss: half of the callers can be served while the
// others are on their way, so that neither they nor the writer are idle.
func (w *writer) gather(group []*op) []*op {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.waiting) == 0 && !w.closed {
		w.sleep(1, nil)
	}
	if n := min(w.expected, maxGroup); w.timer == nil {
		w.yield(n)
	} else if len(w.waiting) < n && !w.closed {
		w.timer.Reset(min(max(w.flush, minPatience), maxPatience))
		w.sleep(n, w.timer.C)
	}
	n := min(len(w.waiting), maxGroup)
	group = append(group, w.waiting[:n]...)
	w.waiting = slices.Delete(w.waiting, 0, n)
	return group
}

// The bounds of how long a writer waits for more operations than there are.
const (
	minPatience = time.Millisecond / 5
	maxPatience = 5 * time.Millisecond
)

// maxYields is how often a writer lets others run in the hope of a larger group.
const maxYields = 50

// yield lets others run until so many wait, if they come at once.
func (w *writer) yield(wanted int) {
	for yields := 0; yields < maxYields && len(w.waiting) < wanted && !w.closed; yields++ {
		w.mu.Unlock()
		runtime.Gosched()
		w.mu.Lock()
	}
}

// sleep gives the lock away until so many wait, or something else happens.
func (w *writer) sleep(wanted int, over <-chan time.Time) {
	w.wanted = wanted
	w.mu.Unlock()
	select {
	case <-w.wake:
	case <-over:
	}
	w.mu.Lock()
	w.wanted = 0
}

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
	if errors.Is(err, errApart) {
		w.apart(group)
		err = nil
	}
	w.mu.Lock()
	w.expected = max(len(w.waiting)+len(group), w.expected-(w.expected+7)/8)
	w.mu.Unlock()
	for _, o := range group {
		if err != nil {
			o.err = err
		}
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
	if err := w.begin(); err != nil {
		return err
	}
	shared := false
	for _, o := range group {
		switch {
		case o.all == nil:
			o.err = w.runOne(o)
		case shared:
			continue // it was done with the first one
		default:
			shared = true
			o.err = w.runWishes(group, o.all)
		}
		if o.err != nil && w.tx.dirty {
			w.rollback()
			return errApart
		}
	}
	return w.end()
}

// apart runs each operation of a group in a transaction of its own. If one cannot be
// begun, the rest does not wait for that again.
func (w *writer) apart(group []*op) {
	var unavailable error
	for _, o := range group {
		if unavailable == nil {
			unavailable = w.begin()
		}
		if unavailable != nil {
			o.err = unavailable
			continue
		}
		if o.err = w.runOne(o); o.err != nil {
			w.rollback()
			o.err = w.failed(o.err)
			continue
		}
		o.err = w.end()
	}
}

// begin begins a transaction.
func (w *writer) begin() error {
	_, err := w.conn.exec("BEGIN IMMEDIATE")
	if err != nil {
		err = w.failed(err)
	}
	return err
}

// runOne runs one operation, in a transaction that was begun.
func (w *writer) runOne(o *op) error {
	return w.guard(func(tx sqlstore.Tx) error {
		if o.all != nil {
			return o.all(tx, []*sqlstore.Wish{o.wish})
		}
		return o.f(tx)
	})
}

// runWishes fulfils all wishes of a group, and sets the errors of their operations.
func (w *writer) runWishes(group []*op, f func(sqlstore.Tx, []*sqlstore.Wish) error) error {
	w.wishes = w.wishes[:0]
	for _, o := range group {
		if o.all != nil {
			w.wishes = append(w.wishes, o.wish)
		}
	}
	err := w.guard(func(tx sqlstore.Tx) error { return f(tx, w.wishes) })
	clear(w.wishes)
	for _, o := range group {
		if o.all != nil {
			o.err = err
		}
	}
	return err
}

// A panicked is a panic of an operation, on its way to who asked for it.
type panicked struct {
	value any
	stack []byte // where it was
}

// Error tells what the panic told, and where it was.
func (p *panicked) Error() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }

// guard runs a function, and returns its panic as an error.
func (w *writer) guard(f func(sqlstore.Tx) error) (err error) {
	w.tx.dirty = false
	defer func() {
		if value := recover(); value != nil {
			w.tx.dirty = true // nobody knows how far it came
			err = &panicked{value, debug.Stack()}
		}
	}()
	return f(&w.tx)
}

// end commits.
func (w *writer) end() error {
	begun := time.Now()
	_, err := w.conn.exec("COMMIT")
	w.flush += (time.Since(begun) - w.flush) / 8
	if err != nil {
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
