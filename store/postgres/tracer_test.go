package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The type of the tracer that records how the statements of stores end.
type Witness struct {
	mu     sync.Mutex
	failed map[string][]string // statements that failed, by the code of the error
	leases int                 // how many decisions were leased
	leased func()              // called after each statement that leases decisions; nil: not called
	calls  map[time.Time]int   // statements by the deadline of their call

	// Between is called at the start and at the end of each statement; nil: not called.
	Between func(statement string, ended bool)
}

// OpenTraced is Open with a tracer.
func OpenTraced(ctx context.Context, url string, o Options, w *Witness) (*Store, error) {
	config, err := parse(url, o)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.Tracer = w
	return open(ctx, config, o)
}

// OpenWatched is OpenTraced for one test.
func OpenWatched(t *testing.T, url string, o Options, w *Witness) *Store {
	t.Helper()
	s, err := OpenTraced(t.Context(), url, o, w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// statementOf is the key of the statement that is traced.
type statementOf struct{}

// TraceQueryStart implements pgx.QueryTracer.
func (w *Witness) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	if w.Between != nil {
		w.Between(d.SQL, false)
	}
	deadline, _ := ctx.Deadline() // zero: no deadline
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls == nil {
		w.calls = map[time.Time]int{}
	}
	w.calls[deadline]++
	return context.WithValue(ctx, statementOf{}, d.SQL)
}

// TraceQueryEnd implements pgx.QueryTracer.
func (w *Witness) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryEndData) {
	statement := fmt.Sprint(ctx.Value(statementOf{}))
	if w.Between != nil {
		w.Between(statement, true)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := d.CommandTag.RowsAffected(); n > 0 && strings.Contains(statement, "epoch = epoch + 1") {
		w.leases += int(n)
		if w.leased != nil {
			w.leased()
		}
	}
	if e, ok := errors.AsType[*pgconn.PgError](d.Err); ok {
		if w.failed == nil {
			w.failed = map[string][]string{}
		}
		w.failed[e.Code] = append(w.failed[e.Code], fmt.Sprintf("%s\n%s\n%s", e.Message, e.Detail, statement))
	}
}

// Judge checks that there was no deadlock since the previous call: the database detects one only after
// a second, and then ends a transaction. A statement may fail because another caller leased a decision
// of the same issue meanwhile, but at most once per caller and lease.
func (w *Witness) Judge(t *testing.T, callers int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for code, list := range w.failed {
		if code == "23505" && len(list) <= callers*w.leases {
			t.Logf("%d decisions were leased, and %d times the issue of a decision was leased meanwhile", w.leases, len(list))
			continue
		}
		t.Errorf("%d statements failed with %s, and %d decisions were leased; one was: %s", len(list), code, w.leases, list[0])
	}
	w.failed, w.leases = nil, 0
}

// Calls returns the number of statements by their deadline since the previous call.
func (w *Witness) Calls() map[time.Time]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	return calls
}
