package groupcommit

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

// ErrClosed is the error of operations after [Writer.Close]. It matches queue.ErrUnavailable.
var ErrClosed = fmt.Errorf("%w: it was closed", queue.ErrUnavailable)

// A Database is the connection that a [Writer] owns. Only the writer's goroutine uses it. Errors
// of the medium match queue.ErrUnavailable.
type Database interface {
	// Begin begins a transaction that keeps other writers out.
	Begin() error
	// Run runs f in the transaction, and reports whether f may have changed anything.
	Run(f func(sqlstore.Tx) error) (changed bool, err error)
	// Commit makes the transaction durable. After an error the caller rolls it back.
	Commit() error
	// Rollback ends the transaction, if there is one, and undoes its changes.
	Rollback()
	// Maintain is called after every group, outside of a transaction.
	Maintain()
	// Close closes the connection.
	Close() error
}

// A Writer runs operations in transactions that they share. It is safe for concurrent use.
type Writer struct {
	// Failure is the last error of the medium; nil: none. A caller that finds that the medium
	// works again clears it.
	Failure atomic.Pointer[error]

	db   Database
	done chan struct{}
	once sync.Once

	mu      sync.Mutex
	waiting []*op
	closed  bool
	wanted  int           // number of waiting operations that wakes the writer
	wake    chan struct{} // has a capacity of one

	// expected is the likely size of the next group. It counts the operations that waited when
	// the last group ended, and the operations of that group, because their callers are likely to
	// call again.
	expected int
	flush    time.Duration            // moving average of the time that a commit takes
	timer    *time.Timer              // nil: the writer yields to other goroutines instead of waiting
	requests []*sqlstore.ClaimRequest // requests of the current group
}

// An op is one operation. It has either f, or all, which serves the requests of a whole group.
type op struct {
	f       func(sqlstore.Tx) error
	all     func(sqlstore.Tx, []*sqlstore.ClaimRequest) error
	request *sqlstore.ClaimRequest
	err     error
	done    chan struct{}
	state   atomic.Int32 // opWaiting, opRunning or opCancelled
}

const (
	opWaiting   = iota
	opRunning   // the writer runs it
	opCancelled // its caller cancelled it; the writer skips it
)

// Start starts the writer of a database. The caller must close it. A patient writer waits
// briefly, in real time, for callers that are likely to call again.
func Start(db Database, patient bool) *Writer {
	w := &Writer{db: db, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	if patient {
		w.timer = time.NewTimer(0)
	}
	go w.run()
	return w
}

// Close waits until all operations are answered, and closes the database. A second call does
// nothing.
func (w *Writer) Close() error {
	var err error
	w.once.Do(func() {
		w.mu.Lock()
		w.closed = true
		w.rouse()
		w.mu.Unlock()
		<-w.done
		err = w.db.Close()
	})
	return err
}

// Write runs f in a transaction, which it may share with other operations, and returns when the
// changes are durable. f may run more than once. If f panics, Write panics, too. Errors: that of
// f, [ErrClosed], the context's, and those of the medium.
func (w *Writer) Write(ctx context.Context, f func(sqlstore.Tx) error) error {
	return w.write(ctx, &op{f: f})
}

// WriteBatch does the same as [Writer.Write] for operations that one call of f serves. f gets the
// requests of all callers in the group. All callers pass the same f.
func (w *Writer) WriteBatch(ctx context.Context, f func(sqlstore.Tx, []*sqlstore.ClaimRequest) error, request *sqlstore.ClaimRequest) error {
	return w.write(ctx, &op{all: f, request: request})
}

// Waiting returns the number of operations that wait for the next group.
func (w *Writer) Waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting)
}

// rouse wakes the writer; the caller holds the lock.
func (w *Writer) rouse() {
	select {
	case w.wake <- struct{}{}:
	default: // it was woken already
	}
}

// enter appends an operation to the queue. The writer closes o.done when the operation has ended.
func (w *Writer) enter(o *op) error {
	o.done = make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	if w.waiting = append(w.waiting, o); len(w.waiting) == w.wanted {
		w.rouse()
	}
	return nil
}

// write runs an operation. If the operation panicked, write panics with the *panicked.
func (w *Writer) write(ctx context.Context, o *op) error {
	err := w.wait(ctx, o)
	if p, ok := err.(*panicked); ok { //nolint:errorlint // no other error holds one
		panic(p)
	}
	return err
}

// wait enters an operation and waits for its result. A panic is returned as a *panicked.
func (w *Writer) wait(ctx context.Context, o *op) error {
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
	<-o.done // it is running, and may be committed
	return o.err
}

func (w *Writer) run() {
	defer close(w.done)
	group := make([]*op, 0, maxGroup)
	for {
		if group = w.gather(group[:0]); len(group) == 0 {
			return
		}
		w.commit(group)
		clear(group)
		w.db.Maintain()
	}
}

// gather waits for operations and returns a group of them, or an empty group after the writer was
// closed. It waits for the expected number of operations, but no longer than a flush takes. A
// longer wait would cost more than a second group, because the operations that wait already could
// be committed meanwhile.
func (w *Writer) gather(group []*op) []*op {
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

// The bounds of the time that gather waits for more operations.
const (
	minPatience = time.Millisecond / 5
	maxPatience = 5 * time.Millisecond
)

// maxYields is how many times a writer without a timer yields to other goroutines.
const maxYields = 50

// yield yields to other goroutines until the wanted number of operations waits.
func (w *Writer) yield(wanted int) {
	for yields := 0; yields < maxYields && len(w.waiting) < wanted && !w.closed; yields++ {
		w.mu.Unlock()
		runtime.Gosched()
		w.mu.Lock()
	}
}

// sleep releases the lock until the wanted number of operations waits, the writer is
// closed, or over fires.
func (w *Writer) sleep(wanted int, over <-chan time.Time) {
	w.wanted = wanted
	w.mu.Unlock()
	select {
	case <-w.wake:
	case <-over:
	}
	w.mu.Lock()
	w.wanted = 0
}

// commit runs a group in one transaction and answers the callers. If an operation fails after a
// change, it runs each operation in its own transaction instead.
func (w *Writer) commit(group []*op) {
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

// errApart means that each operation of a group has to run in a transaction of its own.
var errApart = errors.New("run each operation in its own transaction")

// together runs the operations of a group in one transaction.
func (w *Writer) together(group []*op) error {
	if len(group) == 0 {
		return nil
	}
	if err := w.begin(); err != nil {
		return err
	}
	shared := false
	for _, o := range group {
		var changed bool
		switch {
		case o.all == nil:
			changed, o.err = w.guard(o.f)
		case shared:
			continue // it ran together with the first one
		default:
			shared = true
			changed, o.err = w.runTogether(group, o.all)
		}
		if o.err != nil && changed {
			w.db.Rollback()
			return errApart
		}
	}
	return w.end()
}

// apart runs each operation of a group in its own transaction. If a transaction cannot begin, the
// remaining operations fail with the same error, so that they do not wait for the lock again.
func (w *Writer) apart(group []*op) {
	var unavailable error
	for _, o := range group {
		if unavailable == nil {
			unavailable = w.begin()
		}
		if unavailable != nil {
			o.err = unavailable
			continue
		}
		f := o.f
		if o.all != nil {
			f = func(tx sqlstore.Tx) error { return o.all(tx, []*sqlstore.ClaimRequest{o.request}) }
		}
		if _, o.err = w.guard(f); o.err != nil {
			w.db.Rollback()
			o.err = w.note(o.err)
			continue
		}
		o.err = w.end()
	}
}

// begin begins a transaction.
func (w *Writer) begin() error { return w.note(w.db.Begin()) }

// runTogether calls f with all requests of a group, and sets the errors of their operations.
func (w *Writer) runTogether(group []*op, f func(sqlstore.Tx, []*sqlstore.ClaimRequest) error) (changed bool, err error) {
	w.requests = w.requests[:0]
	for _, o := range group {
		if o.all != nil {
			w.requests = append(w.requests, o.request)
		}
	}
	changed, err = w.guard(func(tx sqlstore.Tx) error { return f(tx, w.requests) })
	clear(w.requests)
	for _, o := range group {
		if o.all != nil {
			o.err = err
		}
	}
	return changed, err
}

// A panicked is the panic of an operation. It is passed to the operation's caller as an error.
type panicked struct {
	value any
	stack []byte
}

// Error returns the value and the stack of the panic.
func (p *panicked) Error() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }

// guard runs a function, and returns its panic as an error.
func (w *Writer) guard(f func(sqlstore.Tx) error) (changed bool, err error) {
	defer func() {
		if value := recover(); value != nil {
			changed, err = true, &panicked{value, debug.Stack()}
		}
	}()
	return w.db.Run(f)
}

// end commits.
func (w *Writer) end() error {
	begun := time.Now()
	err := w.db.Commit()
	w.flush += (time.Since(begun) - w.flush) / 8
	if err != nil {
		w.db.Rollback()
	}
	return w.note(err)
}

// note stores an error of the medium in Failure, and returns it.
func (w *Writer) note(err error) error {
	if errors.Is(err, queue.ErrUnavailable) {
		w.Failure.Store(&err)
	}
	return err
}
