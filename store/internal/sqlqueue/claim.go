package sqlqueue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
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
	w := &Wish{agent: agent, by: queue.CleanText(o.By), lease: millis(o.Lease)}
	if s.sql.claim == "" {
		err = s.engine.Together(ctx, s.handOut, w)
	} else {
		err = s.claimAlone(ctx, w)
	}
	if err != nil {
		return c, err
	}
	s.tell(w.promoted...)
	s.foundNothing(agent, !w.found)
	if !w.found {
		return c, queue.ErrEmpty
	}
	return w.claim, nil
}

// A Wish is a claim that waits for its task.
type Wish struct {
	agent, by string
	lease     int64

	// What became of it.
	claim    queue.Claim
	found    bool
	promoted []string // the agents that have tasks whose time came
}

// claimAlone fulfils a wish by a statement that needs no others.
func (s *Store) claimAlone(ctx context.Context, w *Wish) error {
	c := &w.claim
	var waited, renewed int
	err := s.engine.Single(ctx, func(tx Tx) (err error) {
		var until, enqueued int64
		w.found, err = one(tx, s.sql.claim, func(r Row) error {
			return r.Scan(&c.ID, &c.Attempt, &until, &enqueued, &c.Origin, &c.Message, &waited, &renewed)
		}, tx.Now(), w.agent, w.lease, w.by)
		c.Until, c.Enqueued, c.Waited = timeOf(until), timeOf(enqueued), waited == 1
		return err
	})
	if err != nil || !w.found || renewed == 0 {
		return err
	}
	return s.engine.Look(ctx, func(tx Tx) error {
		_, err := one(tx, s.sql.claimedBody, func(r Row) error { return r.Scan(&c.Origin, &c.Message) }, c.ID)
		return err
	})
}

// handOut fulfils the wishes of those who claim at the same time: one statement does for
// all who want the same.
func (s *Store) handOut(tx Tx, wishes []*Wish) error {
	promoted, err := s.promote(tx)
	if err != nil {
		return err
	}
	for _, w := range wishes {
		w.found, w.promoted = false, nil
	}
	wishes[0].promoted = promoted
	for rest := slices.Clone(wishes); len(rest) > 0; {
		same := 1
		for i := 1; i < len(rest); i++ {
			if rest[i].like(rest[0]) {
				rest[i], rest[same] = rest[same], rest[i]
				same++
			}
		}
		if err := s.handOutLike(tx, rest[:same]); err != nil {
			return err
		}
		rest = rest[same:]
	}
	return nil
}

// like reports whether two wishes differ in nothing.
func (w *Wish) like(other *Wish) bool {
	return w.agent == other.agent && w.by == other.by && w.lease == other.lease
}

// handOutLike fulfils wishes that are all alike, as far as there are tasks.
func (s *Store) handOutLike(tx Tx, wishes []*Wish) error {
	w, n, now := wishes[0], 0, tx.Now() // one time for both statements: what is told is what is kept
	err := tx.Query(s.sql.offer, func(r Row) error {
		c := &wishes[n].claim
		var until, enqueued int64
		var waited int
		err := r.Scan(&c.ID, &c.Attempt, &until, &enqueued, &c.Origin, &c.Message, &waited)
		c.Until, c.Enqueued, c.Waited = timeOf(until), timeOf(enqueued), waited == 1
		wishes[n].found = true
		n++
		return err
	}, now, w.agent, w.lease, int64(len(wishes)))
	if err != nil || n == 0 {
		return err
	}
	taken, err := tx.Exec(s.sql.take, now, w.agent, w.lease, w.by, int64(n))
	if err == nil && taken != int64(n) {
		err = fmt.Errorf("%d tasks were there and %d could be taken; the database is damaged", n, taken)
	}
	return err
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
