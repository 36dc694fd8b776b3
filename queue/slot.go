package queue

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// MaxSlotWait is the longest that a slot may lie ahead.
const MaxSlotWait = time.Minute

// Slots keep the writes of an account within what a service takes, for all processes that
// use a store, and over their restarts. Implementations are safe for concurrent use, and
// pass the suite conformance.RunSlots.
type Slots interface {
	// TakeSlot takes the next slot of an account, if it lies at most r.Within ahead: ok says
	// so, and wait how long it is until then. The windows slide: within any minute, and any
	// hour, there are no more slots than r allows, whoever took them. A slot that was taken
	// counts, used or not. The time is the store's own; slots that lie further ahead than
	// they can, for its clock was set back, count as taken just now, one after the other as they were.
	//
	// When there is an error, it is not known whether a slot was taken.
	TakeSlot(ctx context.Context, r SlotRequest) (wait time.Duration, ok bool, err error)
}

// A SlotRequest asks for leave to make one write.
type SlotRequest struct {
	Identity  string        // the account that writes
	PerMinute int           // most writes of it within a minute, by whomever
	PerHour   int           // and within an hour
	Within    time.Duration // how far ahead the slot may lie; at most MaxSlotWait
	// Missed tells how long ago the account wrote without a slot, because the store was out
	// of reach. They count from now on, also when no slot is taken.
	Missed []time.Duration
}

// Check returns what is wrong with the request, or nil.
func (r SlotRequest) Check() error {
	switch {
	case r.Identity == "" || !IsText(r.Identity):
		return errors.New("the account that writes has no name, or none that can be kept")
	case r.PerMinute <= 0 || r.PerHour <= 0:
		return fmt.Errorf("%d writes a minute and %d an hour are allowed", r.PerMinute, r.PerHour)
	case r.Within < 0 || r.Within > MaxSlotWait:
		return fmt.Errorf("the slot may lie %s ahead; want at most %s", r.Within, MaxSlotWait)
	}
	for _, ago := range r.Missed {
		if ago < 0 {
			return fmt.Errorf("a write was made %s ago", ago)
		}
	}
	return nil
}
