package queue_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
)

// TestMutants checks that the conformance tests detect each fault of a queue.
func TestMutants(t *testing.T) {
	t.Parallel()
	for _, c := range queuetest.Cases() {
		if fails(t, c, open) {
			t.Fatalf("%s: fails without a fault", c.Name)
		}
	}
	for name, fault := range queue.Faults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			detected(t, queuetest.Cases(), func(*testing.T) queuetest.Pair {
				clock := queuetest.NewClock()
				q := queue.NewMutant(clock.Now, fault)
				return queuetest.Pair{A: q, B: q, Clock: clock}
			})
		})
	}
}

// A claimFunc claims the task o.Task.
type claimFunc func(ctx context.Context, q queue.Queue, agent string, o queue.ClaimOptions) (queue.Claim, error)

// claimMutant is a queue with a fault in claims by id.
type claimMutant struct {
	queue.Queue

	claim claimFunc
}

func (m claimMutant) ClaimNext(ctx context.Context, agent string, o queue.ClaimOptions) (queue.Claim, error) {
	if o.Task == "" {
		return m.Queue.ClaimNext(ctx, agent, o)
	}
	return m.claim(ctx, m.Queue, agent, o)
}

// TestClaimMutants checks that the conformance tests detect each fault of a claim by id.
func TestClaimMutants(t *testing.T) {
	t.Parallel()
	for name, claim := range map[string]claimFunc{
		"the next task": func(ctx context.Context, q queue.Queue, agent string, o queue.ClaimOptions) (queue.Claim, error) {
			o.Task = ""
			return q.ClaimNext(ctx, agent, o)
		},
		"the next task if it is gone": func(ctx context.Context, q queue.Queue, agent string, o queue.ClaimOptions) (queue.Claim, error) {
			c, err := q.ClaimNext(ctx, agent, o)
			if errors.Is(err, queue.ErrEmpty) {
				o.Task = ""
				c, err = q.ClaimNext(ctx, agent, o)
			}
			return c, err
		},
		"of any agent": func(ctx context.Context, q queue.Queue, agent string, o queue.ClaimOptions) (queue.Claim, error) {
			if d, err := q.Inspect(ctx, o.Task); err == nil {
				agent = d.Agent
			}
			return q.ClaimNext(ctx, agent, o)
		},
		"though it is held back": func(ctx context.Context, q queue.Queue, agent string, o queue.ClaimOptions) (queue.Claim, error) {
			if d, err := q.Inspect(ctx, o.Task); err == nil && d.Held {
				_, _ = q.Retry(ctx, queue.Seen{ID: o.Task}, "")
			}
			return q.ClaimNext(ctx, agent, o)
		},
		"though it is claimed": func(ctx context.Context, q queue.Queue, agent string, o queue.ClaimOptions) (queue.Claim, error) {
			_ = q.ReleaseClaim(ctx, queue.Ref{ID: o.Task}, 0)
			return q.ClaimNext(ctx, agent, o)
		},
		"though it has ended": func(ctx context.Context, q queue.Queue, agent string, o queue.ClaimOptions) (queue.Claim, error) {
			_, _ = q.AskAgain(ctx, queue.Seen{ID: o.Task}, "", "")
			return q.ClaimNext(ctx, agent, o)
		},
		"only if it is the next task": func(ctx context.Context, q queue.Queue, agent string, o queue.ClaimOptions) (queue.Claim, error) {
			list, err := q.Backlog(ctx, 1)
			for _, b := range list {
				if b.Agent == agent && b.IDs[0] == o.Task {
					return q.ClaimNext(ctx, agent, o)
				}
			}
			return queue.Claim{}, errors.Join(err, queue.ErrEmpty)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			detected(t, queuetest.Cases(), func(*testing.T) queuetest.Pair {
				clock := queuetest.NewClock()
				q := claimMutant{queue.New(queue.Options{Now: clock.Now}), claim}
				return queuetest.Pair{A: q, B: q, Clock: clock}
			})
		})
	}
}

// slotMutant changes the requests for slots.
type slotMutant struct {
	queue.Slots

	change func(r *queue.SlotRequest)
}

func (s slotMutant) TakeSlot(ctx context.Context, r queue.SlotRequest) (time.Duration, bool, error) {
	s.change(&r)
	return s.Slots.TakeSlot(ctx, r)
}

// uncheckedSlots accept invalid requests.
type uncheckedSlots struct{ queue.Slots }

func (s uncheckedSlots) TakeSlot(ctx context.Context, r queue.SlotRequest) (time.Duration, bool, error) {
	if r.Check() != nil {
		return 0, true, nil //nolint:nilerr // that is the fault
	}
	return s.Slots.TakeSlot(ctx, r)
}

// TestSlotMutants checks that the conformance tests detect each fault of slots.
func TestSlotMutants(t *testing.T) {
	t.Parallel()
	changed := func(f func(r *queue.SlotRequest)) func(a, b queue.Slots) (queue.Slots, queue.Slots) {
		return func(a, _ queue.Slots) (queue.Slots, queue.Slots) { return slotMutant{a, f}, slotMutant{a, f} }
	}
	for _, c := range queuetest.SlotCases() {
		if fails(t, c, open) {
			t.Fatalf("%s: fails without a fault", c.Name)
		}
	}
	for name, fault := range map[string]func(a, b queue.Slots) (queue.Slots, queue.Slots){
		"each process for itself": func(a, b queue.Slots) (queue.Slots, queue.Slots) { return a, b },
		"no check":                func(a, _ queue.Slots) (queue.Slots, queue.Slots) { return uncheckedSlots{a}, uncheckedSlots{a} },
		"one more a minute":       changed(func(r *queue.SlotRequest) { r.PerMinute++ }),
		"one less a minute":       changed(func(r *queue.SlotRequest) { r.PerMinute = max(1, r.PerMinute-1) }),
		"one more an hour":        changed(func(r *queue.SlotRequest) { r.PerHour++ }),
		"no minute":               changed(func(r *queue.SlotRequest) { r.PerMinute *= 1000 }),
		"no hour":                 changed(func(r *queue.SlotRequest) { r.PerHour *= 1000 }),
		"one account":             changed(func(r *queue.SlotRequest) { r.Identity = "bot" }),
		"nothing missed":          changed(func(r *queue.SlotRequest) { r.Missed = nil }),
		"missed now":              changed(func(r *queue.SlotRequest) { r.Missed = make([]time.Duration, len(r.Missed)) }),
		"never ahead":             changed(func(r *queue.SlotRequest) { r.Within = min(r.Within, 0) }),
		"far ahead":               changed(func(r *queue.SlotRequest) { r.Within = max(r.Within, queue.MaxSlotWait) }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			detected(t, queuetest.SlotCases(), func(*testing.T) queuetest.Pair {
				clock := queuetest.NewClock()
				o := queue.Options{Now: clock.Now}
				a, b := fault(queue.NewSlots(o), queue.NewSlots(o))
				return queuetest.Pair{SlotsA: a, SlotsB: b, Clock: clock}
			})
		})
	}
}

// detected fails the test if all cases pass.
func detected(t *testing.T, cases []queuetest.Case, open func(t *testing.T) queuetest.Pair) {
	t.Helper()
	for _, c := range cases {
		if fails(t, c, open) {
			t.Log(c.Name)
			return
		}
	}
	t.Error("it passes the whole suite")
}

// fails reports whether a case fails.
func fails(t *testing.T, c queuetest.Case, open func(t *testing.T) queuetest.Pair) bool {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Test(r, open(t))
	}()
	<-done
	return r.failed
}

// A recorder is a testing.TB that only records whether the test failed.
type recorder struct {
	testing.TB

	mu     sync.Mutex
	failed bool
}

func (r *recorder) Helper() {}

func (r *recorder) fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

func (r *recorder) Error(...any)          { r.fail() }
func (r *recorder) Errorf(string, ...any) { r.fail() }

func (r *recorder) Fatal(...any) {
	r.fail()
	runtime.Goexit()
}

func (r *recorder) Fatalf(string, ...any) {
	r.fail()
	runtime.Goexit()
}
