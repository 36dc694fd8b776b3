package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/org/foreman-action/queue"
)

// ClaimNext implements queue.Queue.
func (s *Store) ClaimNext(ctx context.Context, agent string, o queue.ClaimOptions) (queue.Claim, error) {
	if err := o.Check(); err != nil {
		return queue.Claim{}, doing("claim a task", err)
	}
	if !queue.IsText(agent) {
		return queue.Claim{}, doing("claim a task", queue.ErrEmpty)
	}
	for {
		c, err := s.claim(ctx, agent, o)
		if err != nil {
			return queue.Claim{}, doing("claim a task", err)
		}
		if queue.Decodable(c.Message) {
			return c, nil
		}
		if err := s.quarantine(ctx, c); err != nil {
			return queue.Claim{}, doing("set an unreadable task aside", err)
		}
	}
}

// claim hands out the next task, whatever is in it.
func (s *Store) claim(ctx context.Context, agent string, o queue.ClaimOptions) (c queue.Claim, err error) {
	switch nothing, err := s.nothing(ctx, agent); {
	case err != nil:
		return c, err
	case nothing:
		return c, queue.ErrEmpty
	}
	var found bool
	var waited, renewed int
	var agents []string
	alone := s.engine.Dialect().Claim != ""
	do := s.engine.Write
	if alone {
		do = s.engine.Single
	}
	err = do(ctx, func(tx Tx) (err error) {
		if !alone {
			if agents, err = s.promote(tx); err != nil {
				return err
			}
		}
		var until, enqueued int64
		found, err = one(tx, s.sql.claim, func(r Row) error {
			return r.Scan(&c.ID, &c.Attempt, &until, &enqueued, &c.Origin, &c.Message, &waited, &renewed)
		}, tx.Now(), agent, millis(o.Lease), queue.CleanText(o.By))
		c.Until, c.Enqueued, c.Waited = timeOf(until), timeOf(enqueued), waited == 1
		return err
	})
	if err != nil {
		return c, err
	}
	s.tell(agents...)
	s.foundNothing(agent, !found)
	if !found {
		return c, queue.ErrEmpty
	}
	if renewed == 1 {
		err = s.engine.Look(ctx, func(tx Tx) error {
			_, err := one(tx, s.sql.claimedBody, func(r Row) error { return r.Scan(&c.Origin, &c.Message) }, c.ID)
			return err
		})
	}
	return c, err
}

// maxAgents bounds the agents that are remembered: anybody can ask for any.
const maxAgents = 10_000

// foundNothing remembers whether the last claim of an agent found nothing.
func (s *Store) foundNothing(agent string, nothing bool) {
	if !s.engine.Dialect().Probe {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.empty[agent] == nothing {
		return
	}
	delete(s.empty, agent)
	if nothing && len(s.empty) < maxAgents {
		s.empty[agent] = true
	}
}

// nothing reports whether there is no task for an agent. It looks only if there was none
// the last time: looking costs no place in the line of those who write, but time.
func (s *Store) nothing(ctx context.Context, agent string) (nothing bool, err error) {
	s.mu.Lock()
	look := s.empty[agent]
	s.mu.Unlock()
	if !look {
		return false, nil
	}
	err = s.engine.Read(ctx, func(tx Tx) error {
		there, err := one(tx, s.sql.probe, none, agent)
		if err == nil && !there {
			there, err = one(tx, s.sql.overdue, none, tx.Now())
		}
		nothing = !there
		return err
	})
	return nothing, err
}

// quarantine fails a task whose message cannot be read.
func (s *Store) quarantine(ctx context.Context, c queue.Claim) error {
	var o over
	err := s.engine.Write(ctx, func(tx Tx) error {
		o = over{}
		t, err := lookup(tx, s.sql.hold, c.ID)
		if errors.Is(err, queue.ErrNotFound) {
			return nil
		}
		if err != nil || t.state != stateClaimed || t.attempt != c.Attempt {
			return err // nil: somebody else saw to it
		}
		o, err = s.fail(tx, t, "its message is no JSON object")
		return err
	})
	if err == nil {
		s.follows(ctx, o)
	}
	return err
}

// A place is where a task stands, as far as those need to know who change it.
type place struct {
	lane

	seq, epoch, issue        int64
	state, attempt, joinable int
	claimedBy                string
}

// lookup finds a task by a statement with the columns of findTask.
func lookup(tx Tx, query, id string) (t place, err error) {
	if !queue.IsText(id) {
		return t, queue.ErrNotFound
	}
	found, err := one(tx, query, func(r Row) error {
		return r.Scan(&t.seq, &t.state, &t.attempt, &t.claimedBy, &t.epoch, &t.agent, &t.issue, &t.joinable, &t.name, &t.followed)
	}, id)
	if err == nil && !found {
		err = queue.ErrNotFound
	}
	return t, err
}

// fail fails a task.
func (s *Store) fail(tx Tx, t place, reason string) (over, error) {
	if _, err := tx.Exec(s.sql.fail, tx.Now(), t.seq, queue.CleanText(reason)); err != nil {
		return over{}, err
	}
	return s.ended(tx, t.lane)
}

// Heartbeat implements queue.Queue.
func (s *Store) Heartbeat(ctx context.Context, ref queue.Ref, lease time.Duration) error {
	if err := (queue.ClaimOptions{Lease: lease}).Check(); err != nil {
		return doing("extend a claim", err)
	}
	if !queue.IsText(ref.ID) {
		return doing("extend a claim", queue.ErrNotFound)
	}
	ref.By = queue.CleanText(ref.By)
	var n int64
	err := s.engine.Single(ctx, func(tx Tx) (err error) {
		n, err = tx.Exec(s.sql.heartbeat, tx.Now(), ref.ID, attemptOf(ref), ref.By, millis(lease))
		return err
	})
	if err == nil && n == 0 {
		err = s.notHeld(ctx, ref)
	}
	return doing("extend the claim of task "+ref.ID, err)
}

// notHeld says why a claim is not the caller's.
func (s *Store) notHeld(ctx context.Context, ref queue.Ref) error {
	return s.engine.Look(ctx, func(tx Tx) error {
		t, err := lookup(tx, s.sql.find, ref.ID)
		if err == nil && ref.By != "" && ref.By != t.claimedBy {
			err = queue.ErrNotYours
		} else if err == nil {
			err = queue.ErrLost
		}
		return err
	})
}

// attemptOf is which claim is meant, as databases keep it: none has so large a number.
func attemptOf(ref queue.Ref) int64 { return int64(min(ref.Attempt, math.MaxInt32)) }

// GiveUp implements queue.Queue.
func (s *Store) GiveUp(ctx context.Context, ref queue.Ref, reason string) error {
	if !queue.IsText(ref.ID) {
		return doing("give up a task", queue.ErrNotFound)
	}
	ref.By = queue.CleanText(ref.By)
	var found bool
	var o over
	err := s.engine.Write(ctx, func(tx Tx) (err error) {
		var seq int64
		var owner, why string
		var l lane
		found, err = one(tx, s.sql.giveUp, func(r Row) error { return r.Scan(&seq, &owner, &why, &l.agent, &l.name, &l.followed) },
			tx.Now(), ref.ID, attemptOf(ref), ref.By, queue.CleanText(reason))
		if err != nil || !found {
			return err
		}
		if o, err = s.ended(tx, l); err != nil {
			return err
		}
		return s.note(tx, seq, queue.Entry{What: "given up", Who: owner, Text: why})
	})
	switch {
	case err == nil && !found:
		err = s.notHeld(ctx, ref)
	case err == nil:
		s.follows(ctx, o)
	}
	return doing("give up task "+ref.ID, err)
}

// GiveBack implements queue.Queue.
func (s *Store) GiveBack(ctx context.Context, ref queue.Ref, wait time.Duration) error {
	if !queue.IsText(ref.ID) {
		return doing("give back a claim", queue.ErrNotFound)
	}
	ref.By = queue.CleanText(ref.By)
	state := int64(statePending)
	if wait > 0 {
		state = stateDelayed
	}
	var found bool
	var agent string
	err := s.engine.Write(ctx, func(tx Tx) (err error) {
		var seq int64
		var attempt int
		var owner string
		found, err = one(tx, s.sql.giveBack, func(r Row) error { return r.Scan(&seq, &agent, &attempt, &owner) },
			tx.Now(), ref.ID, attemptOf(ref), ref.By, state, max(0, millis(wait)))
		if err != nil || !found {
			return err
		}
		return s.note(tx, seq, queue.Entry{What: "given back", Who: owner, Text: fmt.Sprintf("claim %d", attempt)})
	})
	if err == nil && !found {
		err = s.notHeld(ctx, ref)
	}
	if err == nil && wait <= 0 {
		s.tell(agent)
	}
	return doing("give back the claim of task "+ref.ID, err)
}
