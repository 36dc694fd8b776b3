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

// Overdue is how long a call waits for a batch before it that does not end.
const Overdue = 20 * time.Millisecond

// MaxText is the length of texts in bytes up to which a call should be joined with others: the
// texts of a group are in memory together, several times.
const MaxText = 64 << 10

const (
	maxGroup    = 128                    // calls that are run together at most
	maxLocked   = 100 * time.Millisecond // that a group waits for a lock; one of its calls alone may wait longer
	maxPatience = 5 * time.Millisecond
)

// An Engine is the engine of a database. It runs calls together if that engine is also a [Writer].
// It is safe for concurrent use.
type Engine struct {
	sqlstore.Engine

	batcher *batcher // nil: each call runs alone
}

// A Writer is an engine that runs several statements at once.
type Writer interface {
	// WriteAll runs the statements that build returns, in one transaction and one round trip.
	// build gets Tx.Now, and is called again when the transaction is run again. A transaction
	// that waits longer than locked for a lock fails; 0: only the time limit of all transactions
	// applies. The error is a queue.ErrUnavailable unless the transaction was certainly rolled
	// back.
	WriteAll(ctx context.Context, locked time.Duration, build func(now any) []sqlstore.Statement) error
}

// NewEngine returns the engine of a database.
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

// A batcher collects the calls that wait and runs them together in one flight, which is one
// transaction.
type batcher struct {
	writer Writer

	mu      sync.Mutex
	waiting []*call
	running int           // batches
	wanted  int           // the length of waiting at which the batch that gathers is woken; 0: none gathers
	wake    chan struct{} // has room for one

	// expected is the likely size of the next group: the calls that waited when the last batch
	// ended, and those of that batch, whose callers are likely to come back.
	expected int
	took     time.Duration // moving average of the time that a batch takes
}

// A Kind is a kind of call, with requests of one type.
type Kind[R any] struct {
	// Order is the place of its statement among those of other kinds in a transaction.
	Order int
	// Join returns a statement that carries out requests, which sets the results of those that
	// were served in them. It may be called again for the same requests, when the transaction was
	// rolled back.
	Join func(now any, requests []R) Joined
	// Forget clears the results in a request whose transaction failed; nil if each call
	// overwrites its results.
	Forget func(request R)
}

// Fitting returns the kind of a call with texts of so many bytes; nil, which joins no calls,
// beyond MaxText.
func (k *Kind[R]) Fitting(size int) *Kind[R] {
	if size > MaxText {
		return nil
	}
	return k
}

func (k *Kind[R]) forget(request R) {
	if k.Forget != nil {
		k.Forget(request)
	}
}

// Joined is a statement for several requests.
type Joined struct {
	sqlstore.Statement

	Served []bool // set by the statement: of each request, whether it was carried out
}

// A call is a request of a caller that waits.
type call struct {
	kind    any // the *Kind of the request
	order   int
	join    func(now any, group []*call) Joined
	request any
	forget  func()
	overdue *time.Timer // begins another batch; nil: another call has one

	done   chan struct{} // closed when the rest is set
	alone  bool          // the caller has a batch for itself
	served bool
	err    error
}

// Do runs a request, alone or together with other requests, and returns when it is durable.
// When the context ends while the request still waits for others, it is not carried out. Once it
// is being carried out with others, Do waits for the result all the same: those that
// follow from it, such as the next task of an issue, would be lost.
func Do[R any](ctx context.Context, e Engine, k *Kind[R], request R, alone func() error) error {
	b := e.batcher
	if b == nil || k == nil {
		return alone()
	}
	c := &call{kind: k, order: k.Order, request: request, done: make(chan struct{}), join: func(now any, group []*call) Joined {
		requests := make([]R, len(group))
		for i, c := range group {
			requests[i], _ = c.request.(R)
		}
		return k.Join(now, requests)
	}}
	c.forget = func() { k.forget(request) }
	if b.enter(c) {
		b.begin()
	}
	if !b.wait(ctx, c) {
		return ctx.Err()
	}
	switch {
	case c.alone:
		defer b.end(1, time.Now())
		return alone()
	case c.served || c.err != nil:
		return c.err
	}
	return alone()
}

// Run runs one request by the statement for several, at once.
func Run[R any](ctx context.Context, e Engine, k *Kind[R], request R) error {
	if e.batcher == nil || k == nil {
		return nil
	}
	err := e.batcher.writer.WriteAll(ctx, 0, func(now any) []sqlstore.Statement {
		return []sqlstore.Statement{k.Join(now, []R{request}).Statement}
	})
	if err != nil {
		k.forget(request)
	}
	return err
}

// enter has a call wait, and reports whether the caller has to begin a batch.
func (b *batcher) enter(c *call) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, c)
	if b.wanted > 0 && len(b.waiting) >= b.wanted {
		b.wanted = 0
		select {
		case b.wake <- struct{}{}:
		default: // one is woken already
		}
	}
	if b.running == 0 {
		b.running++
		return true
	}
	b.watch()
	return false
}

// watch sees to it that the first call that waits has a timer.
func (b *batcher) watch() {
	if len(b.waiting) > 0 && b.waiting[0].overdue == nil {
		c := b.waiting[0]
		c.overdue = time.AfterFunc(Overdue, func() { b.beginAnother(c) })
	}
}

// beginAnother begins a batch beside the one that is overdue, if a call still waits.
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

// wait waits until a call was decided on, and reports whether it was.
func (b *batcher) wait(ctx context.Context, c *call) bool {
	select {
	case <-c.done:
		return true
	case <-ctx.Done():
	}
	if b.leave(c) {
		return false
	}
	<-c.done // a batch has it, whose time the engine bounds
	return true
}

// leave reports whether a call still waited, which it does no longer.
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

// begin begins a batch with the calls that wait, and those that are about to.
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

// gather waits for the expected number of calls, but no longer than a batch takes, as long as
// those wait that a batch leaves behind. A caller that was alone before does not wait.
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
		case <-b.wake: // it was woken just now
		default:
		}
	}
}

// take takes calls that wait. Without any it ends the batch.
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

// runGroup runs several calls together.
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
		statements := make([]sqlstore.Statement, len(lists))
		for i, list := range lists {
			j := list[0].join(now, list)
			statements[i], served[i] = j.Statement, j.Served
		}
		return statements
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

// end ends a batch, and begins the next one if calls wait.
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

// A Distinct has requests without duplicates: of several about one task only the first is in it;
// the others are not served.
type Distinct[R any] struct {
	First  []R
	Served []bool

	at map[string]int
}

// NewDistinct returns the distinct requests of a group by the ids of their tasks.
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

// Serve marks the request about a task as served, and returns its number.
func (r *Distinct[R]) Serve(id string) int {
	i := r.at[id]
	r.Served[i] = true
	return i
}

// ServeRow is Serve for a row that is the id.
func (r *Distinct[R]) ServeRow(row sqlstore.Row) error {
	var id string
	err := row.Scan(&id)
	if err == nil {
		r.Serve(id)
	}
	return err
}
