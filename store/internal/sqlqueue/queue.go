package sqlqueue

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/queue"
)

// A Store keeps tasks, records, ledgers and cursors by way of an engine. It is safe for
// concurrent use.
type Store struct {
	engine Engine
	sql    statements

	mu       sync.Mutex
	empty    map[string]bool // agents of which the last claim found nothing
	watchers map[chan queue.Change]bool
}

var _ queue.Queue = (*Store)(nil)

// New returns a store over an engine, on a database that [Migrate] was run on.
func New(e Engine) *Store {
	return &Store{engine: e, sql: statementsOf(e.Dialect()), empty: map[string]bool{}, watchers: map[chan queue.Change]bool{}}
}

// The states as they are kept. Two are split: a task that is held back is not among
// those that are handed out, and one that is being carried out is not among the ready.
const (
	statePending   = 0
	stateClaimed   = 1
	stateCompleted = 2
	stateDraining  = 3
	stateDone      = 4
	stateFailed    = 5
	stateDelayed   = 6  // pending, and held back until run_at; less holding it is what it becomes
	stateHeld      = 8  // completed, and held back until run_at
	stateBehind    = 12 // pending, and held back behind others of its issue; looked at again at run_at

	holding = 6
)

// stateOf is the state that callers know.
func stateOf(n int) queue.State {
	switch n {
	case statePending, stateDelayed, stateBehind:
		return queue.Pending
	case stateClaimed:
		return queue.Claimed
	case stateCompleted, stateDraining, stateHeld:
		return queue.Completed
	case stateDone:
		return queue.Done
	}
	return queue.Failed
}

// Lane is what tasks of one issue have in common, as it is kept.
func Lane(repo string, issue int) string { return strings.ToLower(repo) + "#" + strconv.Itoa(issue) }

// timeOf is a time as it is kept; 0 is the zero time.
func timeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// millis is a length of time as it is kept; a part of a millisecond is a whole one, so
// that nothing ends too early.
func millis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// doing says in an error what was done.
func doing(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// one runs a query of one row at most, and reports whether there was one.
func one(tx Tx, query string, each func(Row) error, args ...any) (bool, error) {
	found := false
	err := tx.Query(query, func(r Row) error {
		found = true
		return each(r)
	}, args...)
	return found, err
}

// none is for a row of which only matters that it is there.
func none(Row) error { return nil }

// Watch implements queue.Queue.
func (s *Store) Watch() (changes <-chan queue.Change, stop func()) {
	ch := make(chan queue.Change, 64)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers[ch] = true
	return ch, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.watchers[ch] {
			delete(s.watchers, ch)
			close(ch)
		}
	}
}

// Changed tells those who watch of changes that another process made.
func (s *Store) Changed(changes ...queue.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range changes {
		for ch := range s.watchers {
			select {
			case ch <- c:
			default: // it has not read 64 of them: it knows that something changed
			}
		}
	}
}

// tell tells everybody of changes that this process made, each kind once.
func (s *Store) tell(agents ...string) {
	told := map[string]bool{}
	for _, agent := range agents {
		if !told[agent] {
			told[agent] = true
			s.Changed(queue.Change{Agent: agent})
			s.engine.Announce(queue.Change{Agent: agent})
		}
	}
}

// promote makes those tasks ready whose time came, and returns the agents of which
// there are some; "" for decisions. It is run where no other transaction is: see crowded.
func (s *Store) promote(tx Tx) (agents []string, err error) {
	// Looking is much cheaper than a change of nothing, and mostly there is nothing.
	if due, err := one(tx, s.sql.overdue, none, tx.Now()); err != nil || !due {
		return nil, err
	}
	if agents, err = s.ready(tx); err != nil {
		return nil, err
	}
	o, err := s.rearm(tx)
	return append(agents, o.agents...), err
}

// ready is promote where there are such tasks.
func (s *Store) ready(tx Tx) (agents []string, err error) {
	err = tx.Query(s.sql.promote, func(r Row) error {
		var state int
		var agent string
		if err := r.Scan(&state, &agent); err != nil {
			return err
		}
		if state != statePending {
			agent = ""
		}
		agents = append(agents, agent)
		return nil
	}, tx.Now())
	return agents, err
}

// settle makes those tasks ready whose time came, if there are any, in a transaction of its
// own.
func (s *Store) settle(ctx context.Context) error {
	var due bool
	err := s.engine.Look(ctx, func(tx Tx) (err error) {
		due, err = one(tx, s.sql.overdue, none, tx.Now())
		return err
	})
	if err != nil || !due {
		return err
	}
	var agents []string
	err = s.engine.Single(ctx, func(tx Tx) (err error) {
		agents, err = s.ready(tx)
		return err
	})
	if err != nil {
		return err
	}
	s.tell(agents...)
	var o over
	err = s.engine.Write(ctx, func(tx Tx) (err error) {
		o, err = s.rearm(tx)
		return err
	})
	if err == nil {
		s.follows(ctx, o)
	}
	return err
}
