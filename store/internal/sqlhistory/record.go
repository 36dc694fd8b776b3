package sqlhistory

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// A period is a minute or an hour.
type period struct {
	width time.Duration
	at    int64 // its beginning in milliseconds since 1970
}

// A step is what one call of Record adds.
type step struct {
	from  []byte // the stored cursor that the step follows; nil: none
	to    cursor
	now   time.Time
	rows  map[period]map[string]history.Counts // by the key of the scope
	clean bool                                 // old rows are due to be deleted
	history.Recorded
}

// Record implements history.Store.
func (s *Store) Record(ctx context.Context) (history.Recorded, error) {
	next, err := sqlstore.Value(ctx, s.engine.Read, s.next)
	if err != nil {
		return history.Recorded{}, sqlstore.Wrap("read tasks for the history", err)
	}
	to, err := json.Marshal(next.to)
	if err != nil {
		return history.Recorded{}, err
	}
	if bytes.Equal(to, next.from) {
		return history.Recorded{}, nil
	}
	added, err := sqlstore.Value(ctx, s.engine.Write, func(tx sqlstore.Tx) (bool, error) { return s.write(tx, next, to) })
	switch {
	case err != nil:
		return history.Recorded{}, sqlstore.Wrap("record the history", err)
	case !added:
		return history.Recorded{}, nil
	}
	return next.Recorded, nil
}

// next reads the tasks that follow the cursor.
func (s *statements) next(tx sqlstore.Tx) (n step, err error) {
	if n.now, err = s.time(tx); err != nil {
		return step{}, err
	}
	if n.to, n.from, err = load(tx, s.cursor); err != nil {
		return step{}, err
	}
	n.rows = map[period]map[string]history.Counts{}
	limit := n.now.Add(-settled)
	// After a clock was set back, tasks end before the cursor. Without this they would be left out
	// until the time of the cursor.
	for _, p := range []*position{&n.to.Done, &n.to.Failed} {
		if p.At > n.now.UnixMilli() {
			*p = position{At: limit.UnixMilli()}
		}
	}
	received, err := sqlstore.All(tx, s.received, scanReceived, n.to.Received, int64(maxReceived))
	if err != nil {
		return step{}, err
	}
	n.More = len(received) == maxReceived
	for _, t := range received {
		if t.Enqueued.After(limit) && !t.Enqueued.After(n.now) {
			n.More = false
			break
		}
		n.to.Received = t.Seq
		n.add(t, history.Received(t.Enqueued))
	}
	for _, part := range []struct {
		query string
		state queue.State
		p     *position
	}{{s.done, queue.Done, &n.to.Done}, {s.failed, queue.Failed, &n.to.Failed}} {
		list, err := sqlstore.All(tx, part.query, scanEnded(part.state), part.p.At, part.p.Seq, limit.UnixMilli(), int64(maxEnded))
		if err != nil {
			return step{}, err
		}
		n.More = n.More || len(list) == maxEnded
		for _, t := range list {
			*part.p = position{t.Ended.UnixMilli(), t.Seq}
			n.add(t.Info, t.Facts()...)
		}
	}
	if hour := history.Floor(n.now, history.HourWidth).UnixMilli(); hour != n.to.Cleaned {
		n.to.Cleaned, n.clean = hour, true
	}
	return n, nil
}

// add adds facts about a task to the rows of its scopes.
func (n *step) add(t queue.Info, facts ...history.Fact) {
	for _, f := range facts {
		n.Facts++
		for width, kept := range kept() {
			if f.At.Before(n.now.Add(-kept)) {
				continue
			}
			p := period{width, history.Floor(f.At, width).UnixMilli()}
			if n.rows[p] == nil {
				n.rows[p] = map[string]history.Counts{}
			}
			for _, scope := range history.Scopes(t.Agent, t.Repo) {
				c := n.rows[p][scope.Key()]
				c.Add(f.Counts)
				n.rows[p][scope.Key()] = c
			}
		}
	}
}

// kept returns how long the rows of each width are kept.
func kept() map[time.Duration]time.Duration {
	return map[time.Duration]time.Duration{history.MinuteWidth: history.MinutesKept, history.HourWidth: history.Retention}
}

// A row is a stored row. That of all tasks also counts the other scopes that have rows in its period.
type row struct {
	history.Counts

	Scopes int `json:"scopes,omitempty"`
}

// write adds a step to the rows, unless the cursor was moved since the step was read.
func (s *statements) write(tx sqlstore.Tx, n step, to []byte) (added bool, err error) {
	if n.from == nil {
		n.from = []byte("{}")
		if _, err := tx.Exec(s.newCursor, cursorKey, n.from); err != nil {
			return false, err
		}
	}
	if _, stored, err := load(tx, s.lock); err != nil || !bytes.Equal(stored, n.from) {
		return false, err
	}
	if n.clean {
		if err := s.forget(tx, n.now); err != nil {
			return false, err
		}
	}
	for p, scopes := range n.rows {
		if err := s.addTo(tx, p, scopes); err != nil {
			return false, err
		}
	}
	_, err = tx.Exec(s.move, tx.Now(), cursorKey, to)
	return err == nil, err
}

// addTo adds counts to the rows of a period. If there are too many scopes, the counts of new ones
// are only part of the row for all tasks.
func (s *statements) addTo(tx sqlstore.Tx, p period, scopes map[string]history.Counts) error {
	all, _, err := s.stored(tx, p, "")
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(scopes)) {
		if key == "" {
			continue
		}
		r, found, err := s.stored(tx, p, key)
		switch {
		case err != nil:
			return err
		case !found && all.Scopes >= maxScopes:
			continue
		case !found:
			all.Scopes++
		}
		r.Add(scopes[key])
		if err := s.store(tx, p, key, r); err != nil {
			return err
		}
	}
	all.Add(scopes[""])
	return s.store(tx, p, "", all)
}

// stored returns a row. A row that cannot be decoded starts again with no counts.
func (s *statements) stored(tx sqlstore.Tx, p period, key string) (r row, found bool, err error) {
	var data []byte
	found, err = sqlstore.One(tx, s.row, sqlstore.Into(&data), key, p.width.Milliseconds(), p.at)
	if err != nil || !found {
		return row{}, false, err
	}
	return decode(data), true, nil
}

func (s *statements) store(tx sqlstore.Tx, p period, key string, r row) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = tx.Exec(s.put, key, p.width.Milliseconds(), p.at, data)
	return err
}

// decode decodes a row. Rows that cannot be decoded have no counts, because one damaged row must not
// stop the history.
func decode(data []byte) (r row) {
	c, err := history.Decode(data)
	if err != nil || json.Unmarshal(data, &r) != nil {
		return row{}
	}
	r.Counts = c
	return r
}

// forget deletes old rows.
func (s *statements) forget(tx sqlstore.Tx, now time.Time) error {
	for width, kept := range kept() {
		for _, query := range []string{s.forgetRows, s.forgetBudgets} {
			if _, err := tx.Exec(query, width.Milliseconds(), now.Add(-kept).UnixMilli()); err != nil {
				return err
			}
		}
	}
	return nil
}

// RecordBudget implements history.Store.
func (s *Store) RecordBudget(ctx context.Context, list []history.Budget) error {
	if len(list) == 0 {
		return ctx.Err()
	}
	list = slices.SortedFunc(slices.Values(list[:min(len(list), maxAccounts)]), func(a, b history.Budget) int {
		return strings.Compare(a.Account, b.Account) // servers that record at the same time lock the rows in one order
	})
	err := s.engine.Write(ctx, func(tx sqlstore.Tx) error {
		for _, width := range []time.Duration{history.MinuteWidth, history.HourWidth} {
			for _, b := range list {
				var remaining any
				if b.Remaining >= 0 {
					remaining = int64(b.Remaining)
				}
				account := queue.CleanText(b.Account[:min(len(b.Account), 200)])
				if _, err := tx.Exec(s.budget, tx.Now(), width.Milliseconds(), account, int64(b.Calls), remaining, int64(b.Limit)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return sqlstore.Wrap("record calls to GitHub", err)
}
