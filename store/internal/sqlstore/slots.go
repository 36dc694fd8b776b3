package sqlstore

import (
	"context"
	"time"

	"github.com/org/foreman-action/queue"
)

// Slots implement queue.Slots, a rate limiter that all processes share for the writes of an
// account. They are safe for concurrent use.
type Slots struct {
	engine Engine
	slotStatements
}

var _ queue.Slots = (*Slots)(nil)

// NewSlots returns the slots of a database that [Migrate] was run on.
func NewSlots(e Engine, d Dialect) *Slots { return &Slots{e, newSlotStatements(d)} }

type slotStatements struct {
	slotTimes, takeSlot     string
	shiftSlots, forgetSlots string
	exclusive               string
}

func newSlotStatements(d Dialect) slotStatements {
	const last = "coalesce((SELECT at FROM write_slot WHERE identity = $2 ORDER BY at DESC LIMIT 1"
	// An OFFSET costs a step for each slot. The difference of the largest and the smallest number
	// bounds the count of slots without a step. If it is below the limit, the OFFSET is not
	// evaluated.
	const atMost = "(SELECT max(n) FROM write_slot) - (SELECT min(n) FROM write_slot) + 1"
	nth := func(offset string) string {
		return "CASE WHEN " + atMost + " > " + offset + " THEN " + last + " OFFSET " + offset + "), 0) ELSE 0 END"
	}
	return slotStatements{
		slotTimes:   d.Expand("SELECT {now}, " + last + "), 0), " + nth("$3") + ", " + nth("$4")),
		takeSlot:    "INSERT INTO write_slot (identity, at) VALUES ($1, $2)",
		shiftSlots:  "UPDATE write_slot SET at = at - $2 WHERE identity = $1",
		forgetSlots: "DELETE FROM write_slot WHERE n IN (SELECT n FROM write_slot WHERE identity = $1 AND at <= $2 ORDER BY at LIMIT 20)",
		exclusive:   d.Exclusive,
	}
}

// slotTimes are the times that determine the next slot, in milliseconds.
type slotTimes struct {
	now, newest int64
	// The times of two earlier slots: the next slot is at least a minute after the first time, and an
	// hour after the second. 0: there are fewer slots than the limit.
	minute, hour int64
}

// TakeSlot implements queue.Slots.
func (s *Slots) TakeSlot(ctx context.Context, r queue.SlotRequest) (wait time.Duration, ok bool, err error) {
	if err := r.Check(); err != nil {
		return 0, false, Wrap("take a slot for a write", err)
	}
	err = s.engine.Write(ctx, func(tx Tx) error {
		if err = s.LockIn(tx, r.Identity); err == nil {
			wait, ok, err = s.TakeIn(tx, r)
		}
		return err
	})
	return wait, ok && err == nil, Wrap("take a slot for a write", err)
}

// LockIn lets no other transaction take a slot of the identity until the transaction of the caller ends.
// It must be called before the first change of the transaction, so that no transaction waits for
// another one that waits for it.
func (s *Slots) LockIn(tx Tx, identity string) error {
	return Exclude(tx, s.exclusive, slotKey(identity))
}

// Lock returns the statement of [Slots.LockIn], in databases where transactions run concurrently.
func (s *Slots) Lock(identity string) Statement {
	return Statement{Query: s.exclusive, Args: []any{slotKey(identity)}, Each: Ignore}
}

// slotKey is the key of the lock for the slots of an identity.
func slotKey(identity string) string { return "writes of " + identity }

// TakeIn takes a slot in the transaction of the caller, which has called [Slots.LockIn].
func (s *Slots) TakeIn(tx Tx, r queue.SlotRequest) (wait time.Duration, ok bool, err error) {
	at, err := s.times(tx, r)
	if err != nil {
		return 0, false, err
	}
	next := max(at.now, at.newest, at.minute+time.Minute.Milliseconds(), at.hour+time.Hour.Milliseconds())
	wait = time.Duration(next-at.now) * time.Millisecond
	if wait > r.Within {
		return wait, false, nil
	}
	if _, err := tx.Exec(s.takeSlot, r.Identity, next); err != nil {
		return 0, false, err
	}
	_, err = tx.Exec(s.forgetSlots, r.Identity, at.now-time.Hour.Milliseconds())
	return wait, err == nil, err
}

// times reads the slots of an account. It adds the writes that were made without a slot. If slots
// are too far ahead of the clock, it moves all slots back.
func (s *Slots) times(tx Tx, r queue.SlotRequest) (at slotTimes, err error) {
	read := func() error {
		_, err := One(tx, s.slotTimes, Into(&at.now, &at.newest, &at.minute, &at.hour),
			tx.Now(), r.Identity, int64(r.PerMinute-1), int64(r.PerHour-1))
		return err
	}
	if err := read(); err != nil {
		return at, err
	}
	shift := at.newest - at.now
	jumped := shift > queue.MaxSlotWait.Milliseconds()
	if !jumped && len(r.Missed) == 0 {
		return at, nil
	}
	if jumped {
		if _, err := tx.Exec(s.shiftSlots, r.Identity, shift); err != nil {
			return at, err
		}
	}
	for _, ago := range r.Missed {
		if ago >= time.Hour {
			continue
		}
		if _, err := tx.Exec(s.takeSlot, r.Identity, at.now-ago.Milliseconds()); err != nil {
			return at, err
		}
	}
	return at, read()
}
