package queue

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// MaxSlotWait is the longest that a slot may lie ahead.
const MaxSlotWait = time.Minute

// Slots are a rate limiter for the writes of an account to a service. All processes that use
// a store share it, and it survives restarts. Implementations are safe for concurrent use,
// and pass the suite conformance.RunSlots.
type Slots interface {
	// TakeSlot takes the next slot of an account if it is at most r.Within ahead, and returns
	// the time until then; ok is false if it is further ahead. The windows slide: within any
	// minute and any hour there are no more slots than r allows, over all processes. A taken
	// slot counts, used or not. The time is that of the store. If its clock was set back,
	// slots that are too far ahead are moved back to now, at the same intervals.
	//
	// After an error, a slot may have been taken.
	TakeSlot(ctx context.Context, r SlotRequest) (wait time.Duration, ok bool, err error)
}

// A SlotRequest is a request for one write.
type SlotRequest struct {
	Identity  string        // the account that writes
	PerMinute int           // the most writes within a minute, by all processes
	PerHour   int           // and within an hour
	Within    time.Duration // how far ahead the slot may lie; at most MaxSlotWait
	// Missed are the ages of writes without a slot, made while the store was out of reach.
	// They count from now on, also when no slot is taken.
	Missed []time.Duration
}

// Check returns the reason why the request is invalid, or nil.
func (r SlotRequest) Check() error {
	switch {
	case r.Identity == "" || !IsText(r.Identity):
		return errors.New("want the account that writes, as a valid text")
	case r.PerMinute <= 0 || r.PerHour <= 0:
		return fmt.Errorf("want limits of more than 0 writes, got %d a minute and %d an hour", r.PerMinute, r.PerHour)
	case r.Within < 0 || r.Within > MaxSlotWait:
		return fmt.Errorf("want a slot within 0 to %[2]s, got %[1]s", r.Within, MaxSlotWait)
	}
	for _, ago := range r.Missed {
		if ago < 0 {
			return fmt.Errorf("a write was made %s ago", ago)
		}
	}
	return nil
}
