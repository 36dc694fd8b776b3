package queue

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// MaxSlotWait is the longest time that a slot may be in the future.
const MaxSlotWait = time.Minute

// Slots are a rate limiter for the writes of an account to a service. All processes that use a
// store share it, and it survives restarts. Implementations are safe for concurrent use, and pass
// the tests of queuetest.RunSlots.
type Slots interface {
	// TakeSlot takes the next slot of an account if it is at most r.Within away, and returns the
	// time until the slot; ok is false if it is further away. Any sliding minute and any sliding
	// hour contain at most as many slots as r allows, counting all processes. A taken slot counts
	// even if it is not used.
	//
	// The time is that of the store. If its clock was set back, slots that are too far in the
	// future are moved back to now, at the same intervals. After an error, a slot may have been
	// taken.
	TakeSlot(ctx context.Context, r SlotRequest) (wait time.Duration, ok bool, err error)
}

// A SlotRequest is a request for permission to make one write.
type SlotRequest struct {
	Identity  string        // the account that writes
	PerMinute int           // the maximum number of writes within a minute, by all processes
	PerHour   int           // the maximum number of writes within an hour, by all processes
	Within    time.Duration // the maximum time until the slot; at most MaxSlotWait
	// Missed are the ages of writes that were made without a slot, while the store was out of
	// reach. They are counted even if no slot is taken.
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
			return fmt.Errorf("missed write: want an age of 0 or more, got %s", ago)
		}
	}
	return nil
}
