package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/memorytest"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store"
	"github.com/org/foreman-action/triage"
)

func renews(s *suite) {
	l := s.leased(1)
	s.Clock.Advance(lease / 2)
	s.step(store.Step{Lease: l, For: 2 * lease})
	if got, want := s.until(l), s.Clock.Now().Add(2*lease); !got.Equal(want) {
		s.Errorf("the lease ends at %s, want %s", got, want)
	}
	s.step(store.Step{Lease: l, For: time.Second})
	if got, want := s.until(l), s.Clock.Now().Add(time.Second); !got.Equal(want) {
		s.Errorf("the lease ends at %s, want %s", got, want)
	}
}

// sees checks the stored ledger.
func (s *suite) sees(want memory.Ledger) {
	s.Helper()
	got, err := s.Journal.Ledger(s.Context(), want.LedgerKey)
	if err != nil {
		s.Errorf("Ledger: %v", err)
		return
	}
	a, err := memory.EncodeLedger(got)
	if err != nil {
		s.Fatal(err)
	}
	b, err := memory.EncodeLedger(want)
	if err != nil {
		s.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		s.Errorf("got the ledger\n%s, want\n%s", a, b)
	}
}

// noLedger checks that no ledger is stored.
func (s *suite) noLedger(k memory.LedgerKey) {
	s.Helper()
	if _, err := s.Journal.Ledger(s.Context(), k); !errors.Is(err, memory.ErrNotFound) {
		s.Errorf("Ledger: got %v, want ErrNotFound", err)
	}
}

// mark changes the state of an entry.
func (s *suite) mark(l *memory.Ledger, index int, state triage.State) {
	s.Helper()
	e := l.Entries[index]
	e.State, e.At = state, e.At.Add(time.Second)
	if err := l.Mark(e); err != nil {
		s.Fatal(err)
	}
}

func ledgers(s *suite) {
	l, ledger := s.leased(1), memorytest.SampleLedger(key(1))
	s.mark(&ledger, 0, triage.Trying)
	s.step(store.Step{Lease: l, Ledger: &ledger})
	s.sees(ledger)
	s.mark(&ledger, 0, triage.Done)
	s.mark(&ledger, 2, triage.Trying)
	s.step(store.Step{Lease: l, Ledger: &ledger, Changed: []int{0, 2}})
	s.sees(ledger)
	s.step(store.Step{Lease: l})
	s.sees(ledger)
	s.step(store.Step{Lease: l, Ledger: &ledger, Changed: []int{}})
	s.sees(ledger)
	s.noLedger(key(2))
}

// sameLedger stores a ledger twice as a new one, as after an error after which the first step was stored.
func sameLedger(s *suite) {
	l, ledger := s.leased(1), memorytest.SampleLedger(key(1))
	s.step(store.Step{Lease: l, Ledger: &ledger})
	s.mark(&ledger, 1, triage.Trying)
	s.step(store.Step{Lease: l, Ledger: &ledger})
	s.sees(ledger)
}

func invalidLedger(s *suite) {
	l, ledger := s.leased(1), memorytest.SampleLedger(key(1))
	ledger.Decision.TaskID = "another"
	if _, err := s.Advance(s.Context(), store.Step{Lease: l, For: lease, Ledger: &ledger}); err == nil {
		s.Error("a ledger of another task was stored")
	}
	ledger = memorytest.SampleLedger(key(1))
	ledger.Task = "no UUID"
	if _, err := s.Advance(s.Context(), store.Step{Lease: l, For: lease, Ledger: &ledger}); err == nil {
		s.Error("a ledger with an invalid key was stored")
	}
	s.noLedger(key(1))
}

func records(s *suite) {
	l := s.leased(1)
	for n := range 3 {
		r := record(1, n)
		s.step(store.Step{Lease: l, Record: &r})
		if got := s.revision(1); got != n+1 || r.Revision != n {
			s.Errorf("got the revisions %d and %d, want %d and %d", got, r.Revision, n+1, n)
		}
	}
	s.acted(1)
	broken := memory.Record{Repo: "no repository"}
	if _, err := s.Advance(s.Context(), store.Step{Lease: l, For: lease, Record: &broken}); err == nil {
		s.Error("a record without a repository was saved")
	}
}

// acted checks that a memory which lists issues with actions lists an issue by the first time in its
// record.
func (s *suite) acted(issue int) {
	s.Helper()
	agenda, ok := s.Memory.(memory.Agenda)
	if !ok {
		return
	}
	r, err := agenda.Load(s.Context(), repo, issue)
	if err != nil {
		s.Fatal(err)
	}
	first, _ := r.FirstAfter(time.Time{})
	list, _, err := agenda.Acted(s.Context(), repo, time.Time{})
	if err != nil || !slices.Contains(list, memory.Due{Issue: issue, At: first}) {
		s.Errorf("got the issues %v, %v, want %d at %s", list, err, issue, first)
	}
}

func conflict(s *suite) {
	l := s.leased(1)
	for _, revision := range []int{1, 2} { // none is stored; another one is stored
		ledger, r, before := memorytest.SampleLedger(key(1)), record(1, revision), s.until(l)
		s.Clock.Advance(time.Second)
		_, err := s.Advance(s.Context(), store.Step{Lease: l, For: lease, Ledger: &ledger, Record: &r})
		if !errors.Is(err, memory.ErrConflict) {
			s.Errorf("got %v, want ErrConflict", err)
		}
		if got := s.revision(1); got != revision-1 {
			s.Errorf("got the revision %d, want %d", got, revision-1)
		}
		if s.Atomic {
			s.noLedger(key(1))
			if got := s.until(l); !got.Equal(before) {
				s.Errorf("the lease was renewed to %s", got)
			}
		}
		r = record(1, 0)
		_, err = s.Advance(s.Context(), store.Step{Lease: l, For: lease, Record: &r})
		if stored := revision == 2; errors.Is(err, memory.ErrConflict) != stored || err != nil && !stored {
			s.Errorf("a new record: got %v", err)
		}
	}
}

func slots(s *suite) {
	l := s.leased(1)
	for range 2 {
		if got := s.step(store.Step{Lease: l, Slot: request(3)}); got.Slot != (store.Slot{Taken: true}) {
			s.Errorf("got %+v, want a slot now", got.Slot)
		}
	}
	if wait, ok, err := s.Slots.TakeSlot(s.Context(), *request(3)); wait != 0 || !ok || err != nil {
		s.Errorf("TakeSlot: got %s, %v, %v", wait, ok, err)
	}
	s.Clock.Advance(50 * time.Second)
	if got := s.step(store.Step{Lease: l, For: time.Hour, Slot: request(3)}); got.Slot != (store.Slot{Taken: true, Wait: 10 * time.Second}) {
		s.Errorf("got %+v, want a slot in 10 s", got.Slot)
	}
	if got := s.step(store.Step{Lease: l, For: time.Hour}); got.Slot != (store.Slot{}) {
		s.Errorf("got %+v without a request", got.Slot)
	}
}

func noSlot(s *suite) {
	l, ledger := s.leased(1), memorytest.SampleLedger(key(1))
	s.step(store.Step{Lease: l, Slot: request(1)})
	s.Clock.Advance(time.Second)
	got := s.step(store.Step{Lease: l, For: 2 * lease, Ledger: &ledger, Slot: request(1)})
	if got.Slot != (store.Slot{Wait: 59 * time.Second}) {
		s.Errorf("got %+v, want none for 59 s", got.Slot)
	}
	s.sees(ledger)
	if got, want := s.until(l), s.Clock.Now().Add(2*lease); !got.Equal(want) {
		s.Errorf("the lease ends at %s, want %s", got, want)
	}
}

func missedSlots(s *suite) {
	l, r := s.leased(1), request(3)
	r.Missed = []time.Duration{20 * time.Second, 10 * time.Second, 2 * time.Hour}
	if got := s.step(store.Step{Lease: l, Slot: r}); got.Slot != (store.Slot{Taken: true}) {
		s.Errorf("got %+v, want a slot now", got.Slot)
	}
	if got := s.step(store.Step{Lease: l, Slot: request(3)}); got.Slot != (store.Slot{Wait: 40 * time.Second}) {
		s.Errorf("got %+v, want none for 40 s", got.Slot)
	}
}

// clockBack sets the clock back: the slots of the time that is now in the future still count, at the same
// intervals.
func clockBack(s *suite) {
	l := s.leased(1)
	s.step(store.Step{Lease: l, Slot: request(1)})
	s.Clock.Advance(-3 * time.Hour)
	if got := s.step(store.Step{Lease: l, Slot: request(1)}); got.Slot != (store.Slot{Wait: time.Minute}) {
		s.Errorf("got %+v, want none for a minute", got.Slot)
	}
}

func everything(s *suite) {
	l, ledger, r := s.leased(1), memorytest.SampleLedger(key(1)), record(1, 0)
	s.Clock.Advance(time.Second)
	got := s.step(store.Step{Lease: l, For: 2 * lease, Ledger: &ledger, Record: &r, Slot: request(1)})
	if !got.Slot.Taken || s.revision(1) != 1 || !s.until(l).Equal(s.Clock.Now().Add(2*lease)) {
		s.Errorf("got %+v, revision %d, until %s", got, s.revision(1), s.until(l))
	}
	s.sees(ledger)
}

// lost makes steps without a lease: nothing is stored.
func lost(s *suite) {
	done := s.leased(1)
	if err := s.Queue.MarkDone(s.Context(), done, []byte("{}")); err != nil {
		s.Fatal(err)
	}
	old := s.leased(2)
	if err := s.Queue.ReleaseLease(s.Context(), old, queue.Postponement{}); err != nil {
		s.Fatal(err)
	}
	current := s.lease()
	before := s.until(current)
	s.Clock.Advance(time.Second)
	for name, l := range map[string]queue.Lease{
		"done": done, "earlier": old, "later": {ID: current.ID, Epoch: current.Epoch + 1},
		"unknown": {ID: "missing", Epoch: 1}, "no text": {ID: "\xff", Epoch: 1}, "zero": {},
	} {
		ledger, r := memorytest.SampleLedger(key(2)), record(2, 0)
		got, err := s.Advance(s.Context(), store.Step{Lease: l, For: lease, Ledger: &ledger, Record: &r, Slot: request(1)})
		if !errors.Is(err, queue.ErrLost) || got != (store.Advanced{}) {
			s.Errorf("%s: got %+v, %v, want ErrLost", name, got, err)
		}
	}
	s.noLedger(key(2))
	if s.revision(2) != 0 || !s.until(current).Equal(before) {
		s.Errorf("got revision %d, until %s", s.revision(2), s.until(current))
	}
	if _, ok, err := s.Slots.TakeSlot(s.Context(), *request(1)); !ok || err != nil {
		s.Errorf("TakeSlot: got %v, %v: a slot was taken", ok, err)
	}
}

func invalid(s *suite) {
	l, ledger := s.leased(1), memorytest.SampleLedger(key(1))
	bad := request(0)
	before := s.until(l)
	s.Clock.Advance(time.Second)
	for name, step := range map[string]store.Step{
		"no time":          {Lease: l, Ledger: &ledger},
		"negative time":    {Lease: l, For: -lease, Ledger: &ledger},
		"slot":             {Lease: l, For: lease, Ledger: &ledger, Slot: bad},
		"no such entry":    {Lease: l, For: lease, Ledger: &ledger, Changed: []int{4}},
		"entry below":      {Lease: l, For: lease, Ledger: &ledger, Changed: []int{-1}},
		"without a ledger": {Lease: l, For: lease, Changed: []int{0}},
	} {
		if _, err := s.Advance(s.Context(), step); err == nil {
			s.Errorf("%s: got no error", name)
		}
	}
	s.noLedger(key(1))
	if got := s.until(l); !got.Equal(before) {
		s.Errorf("the lease was renewed to %s", got)
	}
}

func cancelled(s *suite) {
	l, ledger := s.leased(1), memorytest.SampleLedger(key(1))
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	if _, err := s.Advance(ctx, store.Step{Lease: l, For: lease, Ledger: &ledger}); !errors.Is(err, context.Canceled) {
		s.Errorf("got %v, want the error of the context", err)
	}
	s.noLedger(key(1))
}

// callers is the number of concurrent calls.
const callers = 12

// race calls f concurrently with the leases of issues 1 to callers.
func (s *suite) race(f func(issue int, l queue.Lease)) {
	s.Helper()
	leases := make([]queue.Lease, callers)
	for i := range leases {
		leases[i] = s.leased(i + 1)
	}
	var all sync.WaitGroup
	start := make(chan struct{})
	for i, l := range leases {
		all.Go(func() {
			<-start
			f(i+1, l)
		})
	}
	close(start)
	all.Wait()
}

// together makes steps of many decisions at the same time. Some leases are lost, and some records have
// another revision.
func together(s *suite) {
	s.race(func(issue int, l queue.Lease) {
		ledger, r := memorytest.SampleLedger(key(issue)), record(issue, 0)
		step := store.Step{Lease: l, For: lease, Ledger: &ledger, Slot: &queue.SlotRequest{Identity: fmt.Sprint("bot ", issue%3), PerMinute: callers, PerHour: callers}}
		var want error
		switch issue % 4 {
		case 0:
			step.Lease.Epoch, want = l.Epoch+1, queue.ErrLost
		case 1:
			r.Revision, step.Record, want = 7, &r, memory.ErrConflict
		case 2:
			step.Record = &r
		}
		for n := range 3 {
			got, err := s.Advance(s.Context(), step)
			if want == nil && (err != nil || got.Slot != (store.Slot{Taken: true})) || want != nil && !errors.Is(err, want) {
				s.Errorf("issue %d: got %+v, %v, want %v", issue, got, err, want)
				return
			}
			r.Revision++
			step.Changed = []int{n}
		}
	})
	for issue := 1; issue <= callers; issue++ {
		want := 0
		switch issue % 4 {
		case 0:
			s.noLedger(key(issue))
		case 1:
			if s.Atomic {
				s.noLedger(key(issue))
			}
		case 2:
			want = 3
			s.acted(issue)
			fallthrough
		case 3:
			s.sees(memorytest.SampleLedger(key(issue)))
		}
		if got := s.revision(issue); got != want {
			s.Errorf("issue %d: got the revision %d, want %d", issue, got, want)
		}
	}
}

// slotRace takes slots with concurrent steps over some hours. No minute and no hour may have more slots
// than its limit.
func slotRace(s *suite) {
	const perMinute, perHour = 8, 50
	var mu sync.Mutex
	var taken []time.Time
	leases := make([]queue.Lease, callers)
	for i := range leases {
		leases[i] = s.leased(i + 1)
	}
	for end := s.Clock.Now().Add(2 * time.Hour); s.Clock.Now().Before(end); {
		now, next := s.Clock.Now(), time.Hour
		var all sync.WaitGroup
		for i, l := range leases {
			r := queue.SlotRequest{Identity: "bot", PerMinute: perMinute, PerHour: perHour, Within: time.Duration(i%3*10) * time.Second}
			all.Go(func() {
				got, err := s.Advance(s.Context(), store.Step{Lease: l, For: 24 * time.Hour, Slot: &r})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err != nil:
					s.Errorf("Advance: %v", err)
				case got.Slot.Taken:
					taken = append(taken, now.Add(got.Slot.Wait))
				default:
					next = min(next, got.Slot.Wait)
				}
			})
		}
		all.Wait()
		s.Clock.Advance(max(next-5*time.Second, time.Second))
	}
	slices.SortFunc(taken, time.Time.Compare)
	for i, at := range taken {
		if i >= perMinute && at.Sub(taken[i-perMinute]) < time.Minute || i >= perHour && at.Sub(taken[i-perHour]) < time.Hour {
			s.Fatalf("slot %d, at %s, is too early", i+1, at)
		}
	}
	if len(taken) < 2*perHour {
		s.Errorf("got %d slots within two hours, want at least %d", len(taken), 2*perHour)
	}
}

// oneRecord saves one record for many decisions at the same time: exactly one step succeeds for each
// revision.
func oneRecord(s *suite) {
	var mu sync.Mutex
	saved := map[int]int{}
	s.race(func(issue int, l queue.Lease) {
		for revision := range 3 {
			r := record(memory.Repository, revision)
			_, err := s.Advance(s.Context(), store.Step{Lease: l, For: lease, Record: &r})
			if err != nil && !errors.Is(err, memory.ErrConflict) {
				s.Errorf("Advance: %v", err)
			}
			mu.Lock()
			if err == nil {
				saved[revision]++
			}
			mu.Unlock()
		}
	})
	for revision, n := range saved {
		if n > 1 {
			s.Errorf("revision %d was saved %d times", revision, n)
		}
	}
	if got := s.revision(memory.Repository); got != len(saved) || got == 0 {
		s.Errorf("got the revision %d after %v", got, saved)
	}
}

// oneLease makes concurrent steps with one lease: one after the other, all succeed.
func oneLease(s *suite) {
	l, ledger := s.leased(1), memorytest.SampleLedger(key(1))
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			if got, err := s.Advance(s.Context(), store.Step{Lease: l, For: lease, Ledger: &ledger, Slot: request(callers)}); err != nil || !got.Slot.Taken {
				s.Errorf("got %+v, %v", got, err)
			}
		})
	}
	all.Wait()
	s.sees(ledger)
}
