package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/org/foreman-action/memory/memorytest"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store"
)

// A trips counts round trips. Each round trip that writes is a transaction, unless it follows a
// "begin".
type trips struct {
	mu    sync.Mutex
	texts []string      // the first 12 characters of each
	held  chan struct{} // the next round trip waits until it is closed; nil: it does not wait
	holds chan struct{} // closed when a round trip waits
}

func (r *trips) note(text string) {
	// Statements of other connections.
	for _, other := range []string{"pg_notify", "LISTEN", "pg_advisory_lock_shared", "set_config"} {
		if strings.Contains(text, other) {
			return
		}
	}
	r.mu.Lock()
	r.texts = append(r.texts, fmt.Sprintf("%.12s", strings.Join(strings.Fields(text), " ")))
	held := r.held
	r.held = nil
	r.mu.Unlock()
	if held != nil {
		close(r.holds)
		<-held
	}
}

// take returns the round trips since the previous call.
func (r *trips) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.texts
	r.texts = nil
	return list
}

// TraceQueryStart implements pgx.QueryTracer.
func (r *trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	r.note(d.SQL)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (*trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements pgx.BatchTracer.
func (r *trips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	r.note("batch")
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (*trips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (*trips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// A waiter is the context of a call. It signals that the call waits for its result.
type waiter struct {
	context.Context

	once    sync.Once
	waiting chan struct{}
}

// Done implements context.Context.
func (w *waiter) Done() <-chan struct{} {
	w.once.Do(func() { close(w.waiting) })
	return w.Context.Done()
}

// together makes the first call wait in the database, starts the other calls meanwhile, and then
// lets all of them continue.
func (r *trips) together(t *testing.T, calls ...func(context.Context)) {
	t.Helper()
	held := make(chan struct{})
	r.mu.Lock()
	r.held, r.holds = held, make(chan struct{})
	r.mu.Unlock()
	var wg sync.WaitGroup
	for i, call := range calls {
		w := &waiter{Context: t.Context(), waiting: make(chan struct{})}
		wg.Go(func() { call(w) })
		if i == 0 {
			<-r.holds
		} else {
			<-w.waiting
		}
	}
	close(held)
	wg.Wait()
}

// openCounted opens a store on its own schema. unprepared sends statements as behind a pooler.
func openCounted(t *testing.T, unprepared bool) (*Store, *trips, string) {
	t.Helper()
	url := Server(t).Schema(t)
	r := &trips{}
	config, err := parse(url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.Tracer = r
	if unprepared {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	s, err := open(t.Context(), config, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, r, url
}

const togetherAgent = "http://a/"

// The five steps of a task. Each returns after its own commit.
func stepEnqueue(ctx context.Context, s *Store, id string) error {
	out, err := s.Queue().Enqueue(ctx, queue.Task{ID: id, Agent: togetherAgent, Repo: "o/r", Issue: len(id), Message: []byte("{}")})
	if err == nil && out.Outcome != queue.Added {
		err = errors.New(string(out.Outcome))
	}
	return err
}

func stepClaim(ctx context.Context, s *Store) (queue.Ref, error) {
	c, err := s.Queue().ClaimNext(ctx, togetherAgent, queue.ClaimOptions{Lease: time.Hour})
	return queue.Ref{ID: c.ID, Attempt: c.Attempt}, err
}

func stepComplete(ctx context.Context, s *Store, ref queue.Ref) error {
	receipt, err := s.Queue().Complete(ctx, ref, []byte("{}"))
	if err == nil && !receipt.Accepted {
		err = errors.New(receipt.Reason)
	}
	return err
}

func stepLease(ctx context.Context, s *Store) (queue.Lease, error) {
	list, err := s.Queue().LeaseDecisions(ctx, queue.DrainOptions{Lease: time.Hour, Limit: 1})
	if err == nil && len(list) != 1 {
		err = fmt.Errorf("%d were leased", len(list))
	}
	if err != nil {
		return queue.Lease{}, err
	}
	return list[0].Lease, nil
}

// stepAdvance stores the beginning of a write. Without a lock on the account it could not take the slot.
func stepAdvance(ctx context.Context, s *Store, l queue.Lease, issue int) error {
	ledger, record := memorytest.SampleLedger(memorytest.SampleKey("o/r", issue)), memorytest.Sample("o/r", issue)
	record.Revision = 0
	out, err := s.Advance(ctx, store.Step{
		Lease: l, For: time.Hour, Ledger: &ledger, Record: &record, Slot: &queue.SlotRequest{Identity: "bot", PerMinute: 80, PerHour: 500},
	})
	if err == nil && !out.Slot.Taken {
		err = errors.New("no slot was taken")
	}
	return err
}

// TestSteps counts the round trips of a single caller in the steps of a task: one each, and each is a
// transaction.
func TestSteps(t *testing.T) {
	t.Parallel()
	s, r, _ := openCounted(t, false)
	r.take()
	err := stepEnqueue(t.Context(), s, "a")
	ref, failed := stepClaim(t.Context(), s)
	err = errors.Join(err, failed, stepComplete(t.Context(), s, ref))
	l, failed := stepLease(t.Context(), s)
	err = errors.Join(err, failed, stepAdvance(t.Context(), s, l, 1))
	_, failed = s.Advance(t.Context(), store.Step{Lease: l, For: time.Hour})
	if err = errors.Join(err, failed, s.Queue().MarkDone(t.Context(), l, []byte("{}"))); err != nil {
		t.Fatal(err)
	}
	want := []string{"WITH t AS ( ", "WITH want AS", "WITH want AS", "WITH pick AS", "batch", "WITH want AS", "WITH want AS"}
	if got := r.take(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestStepsTogether counts the round trips of eight concurrent callers. Each step needs two: one
// for the first caller, and one for the seven callers that start meanwhile.
func TestStepsTogether(t *testing.T) {
	t.Parallel()
	s, r, url := openCounted(t, false)
	const callers = 8
	var mu sync.Mutex
	refs, leases := make([]queue.Ref, callers), make([]queue.Lease, callers)
	for _, step := range []struct {
		name string
		do   func(ctx context.Context, i int) error
	}{
		{"enqueue", func(ctx context.Context, i int) error { return stepEnqueue(ctx, s, strings.Repeat("x", i+1)) }},
		{"claim", func(ctx context.Context, i int) (err error) { refs[i], err = stepClaim(ctx, s); return err }},
		{"complete", func(ctx context.Context, i int) error { return stepComplete(ctx, s, refs[i]) }},
		{"lease", func(ctx context.Context, i int) (err error) { leases[i], err = stepLease(ctx, s); return err }},
		{"advance", func(ctx context.Context, i int) error { return stepAdvance(ctx, s, leases[i], i+1) }},
		{"done", func(ctx context.Context, i int) error { return s.Queue().MarkDone(ctx, leases[i], []byte("{}")) }},
	} {
		r.take()
		calls := make([]func(context.Context), callers)
		for i := range calls {
			calls[i] = func(ctx context.Context) {
				if err := step.do(ctx, i); err != nil {
					mu.Lock()
					defer mu.Unlock()
					t.Errorf("%s: %v", step.name, err)
				}
			}
		}
		r.together(t, calls...)
		if got := r.take(); len(got) != 2 {
			t.Errorf("%s: got %q, want two round trips", step.name, got)
		}
	}
	if got := countOf(t, url, "SELECT count(*) FROM task JOIN task_report USING (seq) JOIN task_result USING (seq) JOIN task_body USING (seq) WHERE state = 4"); got != callers {
		t.Errorf("%d tasks are done, want %d", got, callers)
	}
	for _, table := range []string{"memory_ledger", "memory_record", "write_slot"} {
		if got := countOf(t, url, "SELECT count(*) FROM "+table); got != callers {
			t.Errorf("%s has %d rows, want %d", table, got, callers)
		}
	}
}

func countOf(t *testing.T, url, query string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestMixed makes calls of all kinds at the same time: they share one transaction.
func TestMixed(t *testing.T) {
	t.Parallel()
	t.Run("prepared", func(t *testing.T) { mixed(t, false) })
	t.Run("unprepared", func(t *testing.T) { mixed(t, true) })
}

func mixed(t *testing.T, unprepared bool) {
	t.Helper()
	s, r, _ := openCounted(t, unprepared)
	for _, id := range []string{"1", "22", "333", "4444", "55555"} {
		if err := stepEnqueue(t.Context(), s, id); err != nil {
			t.Fatal(err)
		}
	}
	var refs [3]queue.Ref
	for i := range refs {
		ref, err := stepClaim(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		refs[i] = ref
	}
	var leased [2]queue.Lease
	for i := range leased {
		if err := stepComplete(t.Context(), s, refs[i]); err != nil {
			t.Fatal(err)
		}
		l, err := stepLease(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		leased[i] = l
	}
	check := func(f func(context.Context) error) func(context.Context) {
		return func(ctx context.Context) {
			if err := f(ctx); err != nil {
				t.Error(err)
			}
		}
	}
	r.take()
	r.together(t,
		check(func(ctx context.Context) error { return stepEnqueue(ctx, s, "first") }),
		check(func(ctx context.Context) error { return stepEnqueue(ctx, s, "second") }),
		check(func(ctx context.Context) error { _, err := stepClaim(ctx, s); return err }),
		check(func(ctx context.Context) error { return stepComplete(ctx, s, refs[2]) }),
		// The task that was just completed.
		check(func(ctx context.Context) error { _, err := stepLease(ctx, s); return err }),
		check(func(ctx context.Context) error { return s.Queue().MarkDone(ctx, leased[0], nil) }),
		check(func(ctx context.Context) error { return stepAdvance(ctx, s, leased[1], 22) }))
	if got := r.take(); !slices.Equal(got, []string{"WITH t AS ( ", "batch"}) {
		t.Errorf("got %q, want one call alone and the others together", got)
	}
}

// TestRowsApart makes several calls together. Some are rejected, and one waits for a lock, but
// the others are not affected.
func TestRowsApart(t *testing.T) {
	t.Parallel()
	s, r, url := openCounted(t, false)
	ctx := t.Context()
	for _, id := range []string{"1", "22", "333"} {
		if err := stepEnqueue(ctx, s, id); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "BEGIN; SELECT 1 FROM task WHERE task_id = '333' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	got := map[string][]string{}
	others := make(chan struct{}, 5)
	complete := func(id string) func(context.Context) {
		return func(ctx context.Context) {
			receipt, err := s.Queue().Complete(ctx, queue.Ref{ID: id}, []byte("{}"))
			mu.Lock()
			got[id] = append(got[id], fmt.Sprint(receipt.Accepted, " ", receipt.Reason, err))
			mu.Unlock()
			if id != "333" {
				others <- struct{}{}
			}
		}
	}
	var release sync.WaitGroup
	release.Go(func() {
		for range cap(others) {
			<-others // all five return although one call waits for the lock
		}
		if _, err := conn.Exec(ctx, "COMMIT"); err != nil {
			t.Error(err)
		}
	})
	var calls []func(context.Context)
	for _, id := range []string{"no such task", "1", "1", "22", "missing", "333"} {
		calls = append(calls, complete(id))
	}
	r.together(t, calls...)
	release.Wait()
	slices.Sort(got["1"])
	want := map[string][]string{
		"no such task": {"false there is no such task<nil>"},
		"missing":      {"false there is no such task<nil>"},
		"1":            {"false the task is decided on already<nil>", "true <nil>"},
		"22":           {"true <nil>"}, "333": {"true <nil>"},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDuplicatesTogether adds a task several times at once, and claims more tasks than exist.
func TestDuplicatesTogether(t *testing.T) {
	t.Parallel()
	s, r, _ := openCounted(t, false)
	var mu sync.Mutex
	got := map[queue.Outcome]int{}
	add := func(task queue.Task) func(context.Context) {
		task.Agent, task.Message = togetherAgent, []byte("{}")
		return func(ctx context.Context) {
			out, err := s.Queue().Enqueue(ctx, task)
			mu.Lock()
			defer mu.Unlock()
			if got[out.Outcome]++; err != nil {
				t.Error(err)
			}
		}
	}
	var calls []func(context.Context)
	for _, task := range []queue.Task{{ID: "first"}, {ID: "a"}, {ID: "a"}, {ID: "first"}, {ID: "b", Dedup: "d"}, {ID: "c", Dedup: "d"}} {
		calls = append(calls, add(task))
	}
	r.together(t, calls...)
	if got[queue.Added] != 3 || got[queue.Duplicate] != 3 {
		t.Errorf("got %v, want three added and three duplicates", got)
	}
	ids := map[string]int{}
	claim := func(ctx context.Context) {
		ref, err := stepClaim(ctx, s)
		mu.Lock()
		defer mu.Unlock()
		if ids[ref.ID]++; (err != nil) != errors.Is(err, queue.ErrEmpty) {
			t.Error(err)
		}
	}
	r.together(t, slices.Repeat([]func(context.Context){claim}, 5)...)
	if len(ids) != 4 || ids[""] != 2 {
		t.Errorf("got %v, want each of three tasks once, and nothing twice", ids)
	}
}
