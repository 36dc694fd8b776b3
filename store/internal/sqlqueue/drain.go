package sqlqueue

import (
	"context"
	"time"

	"github.com/org/foreman-action/queue"
)

// DrainCompleted implements queue.Queue.
func (s *Store) DrainCompleted(ctx context.Context, o queue.DrainOptions) ([]queue.Decision, error) {
	if err := o.Check(); err != nil {
		return nil, doing("lease decisions", err)
	}
	lease := s.leaseAll
	if s.engine.Dialect().crowded() {
		lease = s.leaseEach
	}
	list, err := lease(ctx, o)
	return list, doing("lease decisions", err)
}

// leaseAll leases decisions in one transaction.
func (s *Store) leaseAll(ctx context.Context, o queue.DrainOptions) (list []queue.Decision, err error) {
	var agents []string
	err = s.engine.Write(ctx, func(tx Tx) (err error) {
		list = nil
		if agents, err = s.promote(tx); err != nil {
			return err
		}
		var after int64
		for len(list) < o.Limit {
			d, seq, found, err := s.lease(tx, o, after)
			if err != nil {
				return err
			}
			if !found {
				break
			}
			list, after = append(list, d), seq
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.tell(agents...)
	return list, nil
}

// leaseEach leases decisions in a transaction each. Others may be leasing one of the same
// issue, and have to be waited for; two that wait while they hold an issue that the other one
// wants would wait for each other.
func (s *Store) leaseEach(ctx context.Context, o queue.DrainOptions) (list []queue.Decision, err error) {
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	for after := int64(0); len(list) < o.Limit; {
		var d queue.Decision
		var seq int64
		var found bool
		err := s.engine.Single(ctx, func(tx Tx) (err error) {
			d, seq, found, err = s.lease(tx, o, after)
			return err
		})
		if err != nil && len(list) == 0 {
			return nil, err
		}
		if err != nil || !found {
			return list, nil //nolint:nilerr // nobody else can have those that were leased
		}
		list, after = append(list, d), seq
	}
	return list, nil
}

// lease leases the oldest decision behind a task.
func (s *Store) lease(tx Tx, o queue.DrainOptions, after int64) (d queue.Decision, seq int64, found bool, err error) {
	var until, enqueued, completed int64
	found, err = one(tx, s.sql.lease, func(r Row) error {
		return r.Scan(&seq, &d.ID, &d.Epoch, &until, &d.Agent, &d.Repo, &d.Issue, &d.Tries, &enqueued, &completed,
			&d.Origin, &d.Message, &d.Result)
	}, tx.Now(), millis(o.Lease), queue.CleanText(o.Owner), after)
	d.Until, d.Enqueued, d.Completed = timeOf(until), timeOf(enqueued), timeOf(completed)
	return d, seq, found, err
}

// Renew implements queue.Queue.
func (s *Store) Renew(ctx context.Context, h queue.Hold, d time.Duration) (time.Time, error) {
	if err := (queue.ClaimOptions{Lease: d}).Check(); err != nil {
		return time.Time{}, doing("renew a lease", err)
	}
	if !queue.IsText(h.ID) {
		return time.Time{}, doing("renew a lease", queue.ErrLost)
	}
	var until int64
	var found bool
	err := s.engine.Single(ctx, func(tx Tx) (err error) {
		found, err = one(tx, s.sql.renew, func(r Row) error { return r.Scan(&until) }, tx.Now(), h.ID, h.Epoch, millis(d))
		return err
	})
	return timeOf(until), doing("renew the lease of task "+h.ID, lostUnless(found, err))
}

// lostUnless is ErrLost if nothing was found.
func lostUnless(found bool, err error) error {
	if err == nil && !found {
		return queue.ErrLost
	}
	return err
}

// MarkDone implements queue.Queue.
func (s *Store) MarkDone(ctx context.Context, h queue.Hold, report []byte) error {
	return doing("finish task "+h.ID, s.end(ctx, h, ending{stateDone, "", report}))
}

// Fail implements queue.Queue.
func (s *Store) Fail(ctx context.Context, h queue.Hold, reason string, report []byte) error {
	return doing("fail task "+h.ID, s.end(ctx, h, ending{stateFailed, reason, report}))
}

// An ending is how a task ends.
type ending struct {
	state  int64
	reason string
	report []byte // nil: none
}

// end ends a task that is under the lease h.
func (s *Store) end(ctx context.Context, h queue.Hold, e ending) error {
	if err := queue.CheckSize("report", e.report); err != nil {
		return err
	}
	if !queue.IsText(h.ID) {
		return queue.ErrLost
	}
	do := s.engine.Single
	if e.report != nil {
		do = s.engine.Write
	}
	var found bool
	var o over
	err := do(ctx, func(tx Tx) (err error) {
		var seq int64
		var l lane
		found, err = one(tx, s.sql.finish, func(r Row) error { return r.Scan(&seq, &l.agent, &l.name, &l.followed) },
			tx.Now(), h.ID, h.Epoch, e.state, queue.CleanText(e.reason))
		if err == nil && found && e.report != nil {
			_, err = tx.Exec(s.sql.report, seq, e.report)
		}
		if err == nil {
			o, err = s.ended(tx, l)
		}
		return err
	})
	if err = lostUnless(found, err); err == nil {
		s.tell("") // the next decision on the issue may go
		s.follows(ctx, o)
	}
	return err
}

// Release implements queue.Queue.
func (s *Store) Release(ctx context.Context, h queue.Hold, p queue.Postponement) error {
	if !queue.IsText(h.ID) {
		return doing("give back a task", queue.ErrLost)
	}
	state := int64(stateCompleted)
	if p.Wait > 0 {
		state = stateHeld
	}
	var found bool
	err := s.engine.Write(ctx, func(tx Tx) (err error) {
		var seq int64
		var owner string
		found, err = one(tx, s.sql.release, func(r Row) error { return r.Scan(&seq, &owner) },
			tx.Now(), h.ID, h.Epoch, state, max(0, millis(p.Wait)), number(!p.Free), queue.CleanText(p.Reason))
		if err != nil || !found {
			return err
		}
		return s.note(tx, seq, queue.Entry{What: "given back", Who: owner, Text: p.Reason})
	})
	if err = lostUnless(found, err); err == nil {
		s.tell("")
	}
	return doing("give back task "+h.ID, err)
}
