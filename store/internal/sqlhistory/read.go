package sqlhistory

import (
	"context"
	"slices"
	"strings"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// Read implements history.Store.
func (s *Store) Read(ctx context.Context, q history.Query) (history.Series, error) {
	out, err := sqlstore.Value(ctx, s.engine.Read, func(tx sqlstore.Tx) (history.Series, error) {
		now, err := s.time(tx)
		if err != nil {
			return history.Series{}, err
		}
		out := history.NewSeries(q, now)
		if err := s.addRows(tx, &out, q.Key()); err != nil {
			return history.Series{}, err
		}
		if err := s.addTail(tx, &out, q.Scope); err != nil {
			return history.Series{}, err
		}
		if q.Scope == (history.Scope{}) {
			out.Budgets, err = s.readBudgets(tx, out)
		}
		return out, err
	})
	return out, sqlstore.Wrap("read the history", err)
}

// addRows adds the stored rows of a scope.
func (s *statements) addRows(tx sqlstore.Tx, out *history.Series, key string) error {
	return tx.Query(s.rows, func(r sqlstore.Row) error {
		var at int64
		var data []byte
		if err := r.Scan(&at, &data); err != nil {
			return err
		}
		out.Add(history.Fact{At: sqlstore.Time(at), Counts: decode(data).Counts})
		return nil
	}, key, out.Range.Width().Milliseconds(), out.From.UnixMilli())
}

// A part is a list of the tasks behind the cursor.
type part struct {
	query string
	state queue.State
	args  []any
	since int64 // time of the last recorded task; 0: none
}

// addTail adds what is not recorded yet.
func (s *statements) addTail(tx sqlstore.Tx, out *history.Series, scope history.Scope) error {
	c, _, err := load(tx, s.cursor)
	if err != nil {
		return err
	}
	const most = int64(maxTail)
	last := max(c.Done.At, c.Failed.At)
	received, err := sqlstore.All(tx, s.tailReceived, scanReceived, c.Received, most)
	if err != nil {
		return err
	}
	for _, t := range received {
		if within(scope, t) {
			out.Add(history.Received(t.Enqueued))
		}
	}
	incomplete(out, len(received), last)
	for _, p := range []part{
		{s.tailDone, queue.Done, []any{c.Done.At, c.Done.Seq, most}, c.Done.At},
		{s.tailFail, queue.Failed, []any{c.Failed.At, c.Failed.Seq, most}, c.Failed.At},
		{s.ready, queue.Completed, []any{most}, last},
		{s.leased, queue.Completed, []any{most}, last},
		{s.held, queue.Completed, []any{most}, last},
		{s.parked, queue.Completed, []any{most}, last},
	} {
		list, err := sqlstore.All(tx, p.query, scanEnded(p.state), p.args...)
		if err != nil {
			return err
		}
		for _, t := range list {
			if !within(scope, t.Info) {
				continue
			}
			for _, f := range t.Facts() {
				out.Add(f)
			}
		}
		incomplete(out, len(list), p.since)
	}
	return nil
}

// incomplete notes that a list of tasks reached its limit, so that facts since a time are missing.
func incomplete(out *history.Series, n int, since int64) {
	if n < maxTail {
		return
	}
	at := sqlstore.Time(max(since, out.From.UnixMilli()))
	if out.Pending.IsZero() || at.Before(out.Pending) {
		out.Pending = at
	}
}

// within reports whether a task belongs to a scope.
func within(scope history.Scope, t queue.Info) bool {
	return (scope.Agent == "" || scope.Agent == t.Agent) && (scope.Repo == "" || strings.EqualFold(scope.Repo, t.Repo))
}

// readBudgets returns the calls to GitHub in the steps of a series, the accounts with most calls
// first.
func (s *statements) readBudgets(tx sqlstore.Tx, of history.Series) ([]history.BudgetSeries, error) {
	var list []history.BudgetSeries
	index := map[string]int{}
	err := tx.Query(s.budgets, func(r sqlstore.Row) error {
		var account string
		var at int64
		var p history.BudgetPoint
		if err := r.Scan(&account, &at, &p.Calls, &p.Remaining, &p.Limit); err != nil {
			return err
		}
		n := of.Index(sqlstore.Time(at))
		if n < 0 {
			return nil
		}
		i, ok := index[account]
		if !ok {
			i = len(list)
			index[account] = i
			list = append(list, history.NewBudgetSeries(account, of.Range))
		}
		list[i].Points[n].Add(p)
		return nil
	}, of.Range.Width().Milliseconds(), of.From.UnixMilli())
	slices.SortStableFunc(list, func(a, b history.BudgetSeries) int { return b.Calls() - a.Calls() })
	return list, err
}
