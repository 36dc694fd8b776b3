package queuetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/internal/script"
)

// A Pair is an empty store with two handles, A and B. They share only the stored data, like two
// processes. SlotsA and SlotsB are the slots of the same handles; only [RunSlots] and [SlotCases] use
// them. PausesA and PausesB are their pauses; only [RunPauses] and [PauseCases] use them. The store
// uses Clock.
type Pair struct {
	A, B             queue.Queue
	SlotsA, SlotsB   queue.Slots
	PausesA, PausesB queue.Pauses
	Clock            *Clock
}

// player returns a player of scripts on the store.
func (p Pair) player(tb testing.TB) *script.Player {
	tb.Helper()
	return script.NewPlayer(tb, script.Pair{A: p.A, B: p.B, SlotsA: p.SlotsA, SlotsB: p.SlotsB, PausesA: p.PausesA, PausesB: p.PausesB, Clock: p.Clock})
}

// A Case is one test case.
type Case struct {
	Name string
	Test func(tb testing.TB, p Pair) // p is an empty store
}

// function returns a test case that is a function instead of a script.
func function(name string, test func(s *store)) Case {
	return Case{name, func(tb testing.TB, p Pair) {
		tb.Helper()
		test(&store{p.player(tb)})
	}}
}

// A store is the store under test.
type store struct{ *script.Player }

// look returns the details of a task.
func (s *store) look(n int) queue.Details {
	s.Helper()
	d, err := s.B.Inspect(s.Context(), script.ID(n))
	if err != nil {
		s.Fatalf("Inspect: %v", err)
	}
	return d
}

// ok ends the test if a call failed.
func (s *store) ok(what string, err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("%s: %v", what, err)
	}
}

// fails checks that a call returned the error want.
func (s *store) fails(what string, err, want error) {
	s.Helper()
	if !errors.Is(err, want) {
		s.Errorf("%s: got %v, want %v", what, err, want)
	}
}

// race calls f n times concurrently, alternating between the two handles. It counts the words that
// f returns; an error of f fails the test.
func (s *store) race(n int, f func(i int, q queue.Queue) (word string, err error)) map[string]int {
	s.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	words, start := map[string]int{}, make(chan struct{})
	for i := range n {
		q := []queue.Queue{s.A, s.B}[i%2]
		all.Go(func() {
			<-start
			word, err := f(i, q)
			if err != nil {
				s.Errorf("call %d: %v", i, err)
			}
			mu.Lock()
			defer mu.Unlock()
			words[word]++
		})
	}
	close(start)
	all.Wait()
	return words
}

// enqueueAll enqueues tasks concurrently, and counts the outcomes.
func (s *store) enqueueAll(tasks []queue.Task) map[string]int {
	s.Helper()
	return s.race(len(tasks), func(i int, q queue.Queue) (string, error) {
		got, err := q.Enqueue(s.Context(), tasks[i])
		return string(got.Outcome), err
	})
}

// tryClaim claims a task. The claim is zero if there is none.
func (s *store) tryClaim(q queue.Queue) (queue.Claim, error) {
	c, err := q.ClaimNext(s.Context(), script.Agent, queue.ClaimOptions{Lease: script.Lease})
	return c, ignore(err, queue.ErrEmpty)
}

// tryClaimOf claims task n. The claim is zero if it cannot be claimed.
func (s *store) tryClaimOf(q queue.Queue, n int) (queue.Claim, error) {
	c, err := q.ClaimNext(s.Context(), script.Agent, queue.ClaimOptions{Lease: script.Lease, Task: script.ID(n)})
	return c, ignore(err, queue.ErrEmpty)
}

// ignore returns err, or nil if it is one of the expected errors.
func ignore(err error, expected ...error) error {
	for _, e := range expected {
		if errors.Is(err, e) {
			return nil
		}
	}
	return err
}
