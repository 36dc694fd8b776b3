package queuetest

import (
	"context"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
)

func TestSlots(t *testing.T) {
	t.Parallel()
	RunSlots(t, func(*testing.T) Pair {
		clock := NewClock()
		q := New(Options{Now: clock.Now})
		return Pair{A: q, B: q, Clock: clock}
	})
}

// spoiltSlots ask for something else than they are asked for.
type spoiltSlots struct {
	queue.Slots
	spoil func(r *queue.SlotRequest)
}

func (s spoiltSlots) TakeSlot(ctx context.Context, r queue.SlotRequest) (time.Duration, bool, error) {
	s.spoil(&r)
	return s.Slots.TakeSlot(ctx, r)
}

// deafSlots forget what is wrong with a request.
type deafSlots struct{ queue.Slots }

func (s deafSlots) TakeSlot(ctx context.Context, r queue.SlotRequest) (time.Duration, bool, error) {
	if r.Check() != nil {
		return 0, true, nil //nolint:nilerr // that is what is wrong with it
	}
	return s.Slots.TakeSlot(ctx, r)
}

// TestSlotMutants spoils what is asked for: slots that forget something, or get it wrong, do
// not pass the suite.
func TestSlotMutants(t *testing.T) {
	t.Parallel()
	spoilt := func(f func(r *queue.SlotRequest)) func(a, b queue.Slots) (queue.Slots, queue.Slots) {
		return func(a, _ queue.Slots) (queue.Slots, queue.Slots) {
			return spoiltSlots{a, f}, spoiltSlots{a, f}
		}
	}
	if slotsFail(t, spoilt(func(*queue.SlotRequest) {})) {
		t.Fatal("fails on what is not spoilt")
	}
	for name, spoil := range map[string]func(a, b queue.Slots) (queue.Slots, queue.Slots){
		"each process for itself": func(a, b queue.Slots) (queue.Slots, queue.Slots) { return a, b },
		"no check":                func(a, _ queue.Slots) (queue.Slots, queue.Slots) { return deafSlots{a}, deafSlots{a} },
		"one more a minute":       spoilt(func(r *queue.SlotRequest) { r.PerMinute++ }),
		"one less a minute":       spoilt(func(r *queue.SlotRequest) { r.PerMinute = max(1, r.PerMinute-1) }),
		"one more an hour":        spoilt(func(r *queue.SlotRequest) { r.PerHour++ }),
		"no minute":               spoilt(func(r *queue.SlotRequest) { r.PerMinute *= 1000 }),
		"no hour":                 spoilt(func(r *queue.SlotRequest) { r.PerHour *= 1000 }),
		"one account":             spoilt(func(r *queue.SlotRequest) { r.Identity = "bot" }),
		"nothing missed":          spoilt(func(r *queue.SlotRequest) { r.Missed = nil }),
		"missed now": spoilt(func(r *queue.SlotRequest) {
			for i := range r.Missed {
				r.Missed = append([]time.Duration{}, r.Missed...)
				r.Missed[i] = 0
			}
		}),
		"never ahead": spoilt(func(r *queue.SlotRequest) { r.Within = min(r.Within, 0) }),
		"far ahead":   spoilt(func(r *queue.SlotRequest) { r.Within = max(r.Within, queue.MaxSlotWait) }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !slotsFail(t, spoil) {
				t.Error("it passes the whole suite")
			}
		})
	}
}

// slotsFail reports whether spoilt slots fail any case.
func slotsFail(t *testing.T, spoil func(a, b queue.Slots) (queue.Slots, queue.Slots)) bool {
	t.Helper()
	for _, c := range slotCases() {
		clock := NewClock()
		a, b := spoil(New(Options{Now: clock.Now}), New(Options{Now: clock.Now}))
		p := &probe{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.test(&slotRig{TB: p, a: a, b: b, clock: clock})
		}()
		<-done
		if p.failed {
			return true
		}
	}
	return false
}
