package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A Witness sees how the statements of stores end.
type Witness struct {
	mu     sync.Mutex
	failed map[string][]string // what failed with an error of the database, by its code
	leases int                 // how many decisions were leased
	leased func()              // is called after each; nil: nothing is
}

// OpenWatched is Open with a witness.
func OpenWatched(t *testing.T, url string, o Options, w *Witness) *Store {
	t.Helper()
	config, err := parse(url, o)
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.Tracer = w
	s, err := open(t.Context(), config, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// statementOf is the key of the statement that is traced.
type statementOf struct{}

// TraceQueryStart implements pgx.QueryTracer.
func (*Witness) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, statementOf{}, d.SQL)
}

// TraceQueryEnd implements pgx.QueryTracer.
func (w *Witness) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryEndData) {
	w.mu.Lock()
	defer w.mu.Unlock()
	statement := fmt.Sprint(ctx.Value(statementOf{}))
	if d.CommandTag.RowsAffected() == 1 && strings.Contains(statement, "epoch = epoch + 1") {
		w.leases++
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

// Judge makes sure that no two transactions waited for each other: that is found out only
// after a second, and ends one of them. Who wanted a decision of an issue that somebody else had
// leased meanwhile looks once more; so nobody does more often than decisions are leased.
func (w *Witness) Judge(t *testing.T, callers int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for code, list := range w.failed {
		if code == "23505" && len(list) <= callers*w.leases {
			t.Logf("%d decisions were leased, and %d times one of an issue was that was leased meanwhile", w.leases, len(list))
			continue
		}
		t.Errorf("%d statements failed with %s, and %d decisions were leased; one was: %s", len(list), code, w.leases, list[0])
	}
}
