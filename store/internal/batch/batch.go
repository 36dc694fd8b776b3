package batch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// Overdue is how long a call waits for the running batch. Then another batch starts beside it.
const Overdue = 20 * time.Millisecond

// MaxText is the largest length in bytes of a call's texts for which the call is joined with
// others. A group keeps its texts in memory, several times.
const MaxText = 64 << 10

const (
	maxGroup = 128 // calls in a group at most
	// How long a group waits for a lock; a single call may wait longer.
	maxLocked   = 100 * time.Millisecond
	maxPatience = 5 * time.Millisecond
)

// An Engine is the engine of a database. If that engine is also a [Writer], calls may be run
// together. An Engine is safe for concurrent use.
type Engine struct {
	sqlstore.Engine

	batcher *batcher // nil: each call runs alone
}

// A Writer is an engine that runs several statements at once.
type Writer interface {
	// WriteAll runs the statements that build returns, in one transaction and one round trip. The
	// argument of build is Tx.Now. WriteAll calls build again when it runs the transaction again.
	// A transaction that waits longer than locked for a lock fails; 0: the usual timeouts apply.
	// The error is a queue.ErrUnavailable unless the transaction was certainly rolled back.
	WriteAll(ctx context.Context, locked time.Duration, build func(now any) []sqlstore.Statement) error
}

// NewEngine returns an Engine that uses the engine of a database.
func NewEngine(e sqlstore.Engine) Engine {
	w, ok := e.(Writer)
	if !ok {
		return Engine{Engine: e}
	}
	return Engine{e, &batcher{writer: w, wake: make(chan struct{}, 1)}}
}

// Waiting returns the number of calls that wait for a batch.
func (e Engine) Waiting() int {
	e.batcher.mu.Lock()
	defer e.batcher.mu.Unlock()
	return len(e.batcher.waiting)
}

// A batcher collects waiting calls and runs them together in one batch, which is one transaction.
type batcher struct {
	writer Writer

	mu      sync.Mutex
	waiting []*call
	running int           // running batches
	wanted  int           // number of waiting calls that wakes gather; 0: gather does not run
	wake    chan struct{} // has a capacity of one

	// expected is the likely size of the next group. It counts the calls that waited when the
	// last batch ended, and the calls of that batch, because their callers are likely to call
	// again.
	expected int
	took     time.Duration // moving average of the time that a batch takes
}

// A Kind is a kind of call, with requests of one type.
type Kind[R any] struct {
	// Order is the position of this kind's statement in a transaction with statements of other
	// kinds.
	Order int
	// Join returns a statement for one request or several. The statement sets the results in each
	// request that it serves. If waits is false, it skips tasks that are locked, and does not
	// serve their requests. Join is called again for the same requests if the transaction was
	// rolled back.
	Join func(now any, requests []R, waits bool) Joined
	// Each serves one request, in databases without such statements.
	Each func(tx sqlstore.Tx, request R) (served bool, err error)
	// Size returns the length in bytes of a request's texts; nil: the texts are short.
	Size func(request R) int
	// Forget clears the results in a request whose transaction failed; nil if each call
	// overwrites its results.
	Forget func(request R)
}

func (k *Kind[R]) forget(request R) {
	if k.Forget != nil {
		k.Forget(request)
	}
}

// Joined is a statement for one request or several.
type Joined struct {
	sqlstore.Statement

	// Before are statements that run before the statements of all kinds, so that these see what they
	// waited for. Only they may wait for locks that are not those of rows.
	Before []sqlstore.Statement
	Served []bool // set by the statement: whether it served each request
}

// A call is the request of one waiting caller.
type call struct {
	kind    any // the *Kind of the request
	order   int
	join    func(now any, group []*call) Joined
	request any
	forget  func()
	overdue *time.Timer // starts another batch; nil: another call has the timer

	done   chan struct{} // closed when the fields below are set
	alone  bool          // the caller runs a batch of this call only
	served bool
	err    error
}

// Do runs a request, alone or together with other requests. When it returns, the result is
// durable. served is false if the statement did not serve the request: for example, there is no
// such task. If ctx ends before the request's batch starts, the request is not run. Later Do waits
// for the result even if ctx ends, because otherwise the steps that follow would be lost, such as
// the release of the next task.
func Do[R any](ctx context.Context, e Engine, k *Kind[R], request R) (served bool, err error) {
	b := e.batcher
	if b == nil {
		return sqlstore.Value(ctx, e.Write, func(tx sqlstore.Tx) (bool, error) { return k.Each(tx, request) })
	}
	if k.Size != nil && k.Size(request) > MaxText {
		return alone(ctx, b, k, request)
	}
	c := &call{kind: k, order: k.Order, request: request, done: make(chan struct{}), join: func(now any, group []*call) Joined {
		requests := make([]R, len(group))
		for i, c := range group {
			requests[i], _ = c.request.(R)
		}
		return k.Join(now, requests, false)
	}}
	c.forget = func() { k.forget(request) }
	if b.enter(c) {
		b.begin()
	}
	if !b.wait(ctx, c) {
		return false, ctx.Err()
	}
	if c.alone {
		defer b.end(1, time.Now())
	} else if c.served || c.err != nil {
		return c.served, c.err
	}
	return alone(ctx, b, k, request)
}

// alone runs one request. It waits if another transaction has locked the task.
func alone[R any](ctx context.Context, b *batcher, k *Kind[R], request R) (bool, error) {
	var served []bool
	err := b.writer.WriteAll(ctx, 0, func(now any) []sqlstore.Statement {
		j := k.Join(now, []R{request}, true)
		served = j.Served
		return append(j.Before, j.Statement)
	})
	if err != nil {
		k.forget(request)
		return false, err
	}
	return served[0], nil
}

// enter adds a call to the waiting ones, and reports whether the caller has to start a batch.
func (b *batcher) enter(c *call) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, c)
	if b.wanted > 0 && len(b.waiting) >= b.wanted {
		b.wanted = 0
		select {
		case b.wake <- struct{}{}:
		default: // it was woken already
		}
	}
	if b.running == 0 {
		b.running++
		return true
	}
	b.watch()
	return false
}

// watch starts the timer of the first waiting call, unless it runs.
func (b *batcher) watch() {
	if len(b.waiting) > 0 && b.waiting[0].overdue == nil {
		c := b.waiting[0]
		c.overdue = time.AfterFunc(Overdue, func() { b.beginAnother(c) })
	}
}

// beginAnother starts a batch beside the overdue one, if c still waits.
func (b *batcher) beginAnother(c *call) {
	b.mu.Lock()
	late := slices.Contains(b.waiting, c)
	if late {
		b.running++
	}
	b.mu.Unlock()
	if late {
		b.begin()
	}
}

// wait waits until a batch has processed a call, and returns true. It returns false if ctx ends
// while the call still waits for a batch.
func (b *batcher) wait(ctx context.Context, c *call) bool {
	select {
	case <-c.done:
		return true
	case <-ctx.Done():
	}
	if b.leave(c) {
		return false
	}
	<-c.done // the call is in a batch, and the engine limits the time of a batch
	return true
}

// leave removes a call from the waiting ones, and reports whether it was one of them.
func (b *batcher) leave(c *call) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiting, c)
	if i < 0 {
		return false
	}
	b.waiting = slices.Delete(b.waiting, i, i+1)
	c.stop()
	b.watch()
	return true
}

func (c *call) stop() {
	if c.overdue != nil {
		c.overdue.Stop()
	}
}

// begin starts a batch with the waiting calls and those that arrive soon.
func (b *batcher) begin() {
	b.gather()
	group := b.take()
	switch {
	case len(group) == 1:
		close(group[0].done)
	case len(group) > 1:
		go b.runGroup(group)
	}
}

// gather waits for the expected number of calls, but no longer than a batch takes on average, and
// at most 5 ms. If only one call is expected, it does not wait.
func (b *batcher) gather() {
	b.mu.Lock()
	n := min(b.expected, maxGroup)
	if b.wanted > 0 || len(b.waiting) >= n {
		b.mu.Unlock()
		return
	}
	b.wanted = n
	patience := min(b.took, maxPatience)
	b.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-b.wake:
	case <-timer.C:
		b.mu.Lock()
		defer b.mu.Unlock()
		b.wanted = 0
		select {
		case <-b.wake: // it was woken at the same moment
		default:
		}
	}
}

// take removes up to 128 waiting calls and returns them. If there is none, the batch ends.
func (b *batcher) take() []*call {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(b.waiting), maxGroup)
	group := slices.Clone(b.waiting[:n])
	b.waiting = slices.Delete(b.waiting, 0, n)
	for _, c := range group {
		c.stop()
	}
	b.watch()
	switch n {
	case 0:
		b.running--
	case 1:
		group[0].alone = true
	}
	return group
}

// runGroup runs several calls in one transaction.
func (b *batcher) runGroup(group []*call) {
	began := time.Now()
	kinds := map[any][]*call{}
	for _, c := range group {
		kinds[c.kind] = append(kinds[c.kind], c)
	}
	var lists [][]*call
	for _, list := range kinds {
		lists = append(lists, list)
	}
	slices.SortFunc(lists, func(a, b []*call) int { return a[0].order - b[0].order })
	served := make([][]bool, len(lists))
	err := b.writer.WriteAll(context.Background(), maxLocked, func(now any) []sqlstore.Statement {
		var before, statements []sqlstore.Statement
		for i, list := range lists {
			j := list[0].join(now, list)
			before, statements, served[i] = append(before, j.Before...), append(statements, j.Statement), j.Served
		}
		return append(before, statements...)
	})
	for i, list := range lists {
		for n, c := range list {
			if err != nil {
				c.forget()
			}
			switch {
			case errors.Is(err, queue.ErrUnavailable):
				c.err = err
			case err == nil:
				c.served = served[i][n]
			}
			close(c.done)
		}
	}
	b.end(len(group), began)
}

// end ends a batch, and starts the next one if calls wait.
func (b *batcher) end(size int, began time.Time) {
	b.mu.Lock()
	more := len(b.waiting) > 0
	if !more {
		b.running--
	}
	b.expected = max(len(b.waiting)+size, b.expected-(b.expected+7)/8)
	b.took += (time.Since(began) - b.took) / 8
	b.mu.Unlock()
	if more {
		go b.begin()
	}
}

// A Distinct contains requests about different tasks. Of several requests about one task only the
// first is included, and the others are not served.
type Distinct[R any] struct {
	First  []R
	Served []bool

	at map[string]int
}

// NewDistinct returns the distinct requests of a group. id returns the task's id of a request.
func NewDistinct[R any](requests []R, id func(R) string) *Distinct[R] {
	r := &Distinct[R]{Served: make([]bool, len(requests)), at: map[string]int{}}
	for i, request := range requests {
		if _, there := r.at[id(request)]; !there {
			r.at[id(request)] = i
			r.First = append(r.First, request)
		}
	}
	return r
}

// Serve marks the request about a task as served, and returns its index.
func (r *Distinct[R]) Serve(id string) int {
	i := r.at[id]
	r.Served[i] = true
	return i
}

// ServeRow is Serve for a row whose only column is the id.
func (r *Distinct[R]) ServeRow(row sqlstore.Row) error {
	var id string
	err := row.Scan(&id)
	if err == nil {
		r.Serve(id)
	}
	return err
}
