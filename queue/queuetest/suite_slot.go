package queuetest

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
)

// RunSlots runs the suite of queue.Slots on stores that are that too. open is as in Run.
func RunSlots(t *testing.T, open func(t *testing.T) Pair) {
	t.Helper()
	for _, c := range slotCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := open(t)
			a, aok := p.A.(queue.Slots)
			b, bok := p.B.(queue.Slots)
			if !aok || !bok {
				t.Fatalf("%T is no queue.Slots", p.A)
			}
			c.test(&slotRig{TB: t, a: a, b: b, clock: p.Clock})
		})
	}
}

// slotCase is a behaviour of the contract.
type slotCase struct {
	name string
	test func(*slotRig)
}

func slotCases() []slotCase {
	return []slotCase{
		{"a minute", slotMinute},
		{"an hour", slotHour},
		{"an hour that slides", slotSlides},
		{"ahead", slotAhead},
		{"accounts", slotAccounts},
		{"other limits", slotLimits},
		{"missed", slotMissed},
		{"missed, none to be had", slotMissedFull},
		{"missed long ago", slotMissedOld},
		{"a clock that is set back", slotBack},
		{"a clock that is set back a little", slotBackLittle},
		{"what cannot be asked for", slotCheck},
		{"a race", slotRace},
	}
}

// slotRig is a store that a case is run on.
type slotRig struct {
	testing.TB

	a, b  queue.Slots
	clock *Clock
	turn  int
}

// none says that no slot is to be had.
const none = time.Duration(-1)

// take asks for a slot, by turns of either handle, and returns how long it is until then;
// none, and until when there is none, if it is too far ahead.
func (r *slotRig) take(q queue.SlotRequest) (wait, next time.Duration) {
	r.Helper()
	s := r.a
	if r.turn++; r.turn%2 == 0 {
		s = r.b
	}
	wait, ok, err := s.TakeSlot(r.Context(), q)
	if err != nil {
		r.Fatalf("TakeSlot of %+v: %v", q, err)
	}
	if !ok {
		return none, wait
	}
	return wait, wait
}

// takes asks for slots one after the other, each of which must be so far ahead, and then for one
// that is not to be had for so long.
func (r *slotRig) takes(q queue.SlotRequest, next time.Duration, want ...time.Duration) {
	r.Helper()
	var got []time.Duration
	for range want {
		wait, _ := r.take(q)
		got = append(got, wait)
	}
	if !slices.Equal(got, want) {
		r.Fatalf("got slots %v, want %v", got, want)
	}
	if wait, at := r.take(q); wait != none || at != next {
		r.Fatalf("got %v, and the next one %v ahead; want none, and %v", wait, at, next)
	}
}

// bot is a request of an account with limits.
func bot(perMinute, perHour int) queue.SlotRequest {
	return queue.SlotRequest{Identity: "bot", PerMinute: perMinute, PerHour: perHour}
}

func slotMinute(r *slotRig) {
	q := bot(3, 100)
	r.takes(q, time.Minute, 0, 0, 0)
	r.clock.Advance(59*time.Second + 999*time.Millisecond)
	r.takes(q, time.Millisecond)
	r.clock.Advance(time.Millisecond)
	r.takes(q, time.Minute, 0, 0, 0)
}

func slotHour(r *slotRig) {
	q := bot(3, 5)
	r.takes(q, time.Minute, 0, 0, 0)
	r.clock.Advance(10 * time.Minute)
	r.takes(q, 50*time.Minute, 0, 0)
	r.clock.Advance(50 * time.Minute)
	r.takes(q, 10*time.Minute, 0, 0, 0)
	r.clock.Advance(10 * time.Minute)
	r.takes(q, 50*time.Minute, 0, 0)
}

// slotSlides has a slot free whenever one is an hour old, and not all of them at once.
func slotSlides(r *slotRig) {
	q := bot(100, 6)
	for range 6 {
		r.take(q)
		r.clock.Advance(5 * time.Minute)
	}
	r.takes(q, 30*time.Minute)
	r.clock.Advance(30 * time.Minute)
	for range 5 {
		r.takes(q, 5*time.Minute, 0)
		r.clock.Advance(5 * time.Minute)
	}
	r.takes(q, 35*time.Minute, 0)
}

// slotAhead takes slots that are not far.
func slotAhead(r *slotRig) {
	q := bot(2, 100)
	q.Within = 20 * time.Second
	r.takes(q, time.Minute, 0, 0)
	r.clock.Advance(45 * time.Second)
	r.takes(q, 75*time.Second, 15*time.Second, 15*time.Second)
	r.clock.Advance(20 * time.Second)
	r.takes(q, 55*time.Second)
	q.Within = time.Minute
	r.takes(q, 115*time.Second, 55*time.Second, 55*time.Second)
}

func slotAccounts(r *slotRig) {
	q := bot(1, 100)
	r.takes(q, time.Minute, 0)
	q.Identity = "Bot"
	r.takes(q, time.Minute, 0)
	q.Identity = "Bot ' \"%_\u00e9"
	r.takes(q, time.Minute, 0)
}

// slotLimits holds each to limits of its own, over what all have taken.
func slotLimits(r *slotRig) {
	r.takes(bot(2, 100), time.Minute, 0, 0)
	r.takes(bot(5, 100), time.Minute, 0, 0, 0)
	r.clock.Advance(time.Minute)
	r.takes(bot(100, 6), 59*time.Minute, 0)
	r.takes(bot(1, 100), time.Minute)
}

// slotMissed counts writes that were made without a slot as if they had had one.
func slotMissed(r *slotRig) {
	q := bot(5, 100)
	r.takes(bot(1, 100), time.Minute, 0)
	r.clock.Advance(30 * time.Second)
	q.Missed = []time.Duration{10 * time.Second, 50 * time.Second}
	if wait, _ := r.take(q); wait != 0 {
		r.Fatalf("got %v", wait)
	}
	q.Missed = nil
	r.takes(q, 10*time.Second, 0)
	r.clock.Advance(10 * time.Second)
	r.takes(q, 20*time.Second, 0)
	r.clock.Advance(20 * time.Second)
	r.takes(q, 20*time.Second, 0)
}

func slotMissedFull(r *slotRig) {
	q := bot(2, 100)
	q.Missed = []time.Duration{30 * time.Second, 20 * time.Second}
	if wait, next := r.take(q); wait != none || next != 30*time.Second {
		r.Fatalf("got %v, %v", wait, next)
	}
	r.takes(bot(2, 100), 30*time.Second)
	r.clock.Advance(30 * time.Second)
	r.takes(bot(2, 100), 10*time.Second, 0)
}

func slotMissedOld(r *slotRig) {
	q := bot(100, 1)
	q.Missed = []time.Duration{time.Hour, 1000 * time.Hour}
	if wait, _ := r.take(q); wait != 0 {
		r.Fatalf("got %v", wait)
	}
	r.takes(bot(100, 1), time.Hour)
}

// slotBack neither stops for ever, nor gives out what was given out, when the clock is set
// back by a year.
func slotBack(r *slotRig) {
	q := bot(2, 5)
	r.takes(q, time.Minute, 0, 0)
	r.clock.Advance(30 * time.Minute)
	r.takes(q, time.Minute, 0, 0)
	r.clock.Advance(-365 * 24 * time.Hour)
	r.takes(q, time.Minute)
	r.clock.Advance(time.Minute)
	r.takes(q, 29*time.Minute, 0)
	r.clock.Advance(29 * time.Minute)
	r.takes(q, 30*time.Minute, 0, 0)
}

func slotBackLittle(r *slotRig) {
	q := bot(3, 100)
	q.Within = 30 * time.Second
	r.takes(bot(1, 100), time.Minute, 0)
	r.clock.Advance(-20 * time.Second)
	r.takes(q, 80*time.Second, 20*time.Second, 20*time.Second)
}

func slotCheck(r *slotRig) {
	for _, q := range []queue.SlotRequest{
		{PerMinute: 1, PerHour: 1},
		{Identity: "a\x00b", PerMinute: 1, PerHour: 1},
		{Identity: "bot", PerMinute: 0, PerHour: 1},
		{Identity: "bot", PerMinute: 1, PerHour: -1},
		{Identity: "bot", PerMinute: 1, PerHour: 1, Within: queue.MaxSlotWait + 1},
		{Identity: "bot", PerMinute: 1, PerHour: 1, Within: -1},
		{Identity: "bot", PerMinute: 1, PerHour: 1, Missed: []time.Duration{-1}},
	} {
		if wait, ok, err := r.a.TakeSlot(r.Context(), q); err == nil || ok {
			r.Errorf("%+v: got %v, %v, %v, want an error", q, wait, ok, err)
		}
	}
	r.takes(bot(1, 1), time.Hour, 0)
}

// slotRace has both handles take slots at once, over three hours: no window has more than
// it may, and whoever has been told when there is one gets it then.
func slotRace(r *slotRig) {
	const perMinute, perHour, takers = 8, 50, 12
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a schedule, not a secret
	var taken []time.Time
	for end := r.clock.Now().Add(3 * time.Hour); r.clock.Now().Before(end); {
		var mu sync.Mutex
		var wg sync.WaitGroup
		now, next := r.clock.Now(), time.Hour
		for i := range takers {
			q := bot(perMinute, perHour)
			q.Within = time.Duration(random.IntN(20)) * time.Second
			s := r.a
			if i%2 == 0 {
				s = r.b
			}
			wg.Go(func() {
				wait, ok, err := s.TakeSlot(r.Context(), q)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err != nil:
					r.Errorf("TakeSlot: %v", err)
				case ok:
					taken = append(taken, now.Add(wait))
				default:
					next = min(next, wait)
				}
			})
		}
		wg.Wait()
		r.clock.Advance(max(next-time.Duration(random.IntN(10))*time.Second, time.Second))
	}
	slices.SortFunc(taken, time.Time.Compare)
	for i, at := range taken {
		if i >= perMinute && at.Sub(taken[i-perMinute]) < time.Minute || i >= perHour && at.Sub(taken[i-perHour]) < time.Hour {
			r.Fatalf("slot %d, at %s, is too early", i+1, at)
		}
	}
	if len(taken) < 3*perHour {
		r.Errorf("got %d slots within three hours, want at least %d", len(taken), 3*perHour)
	}
}
