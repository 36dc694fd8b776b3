package queuetest

import (
	"slices"
	"time"

	"github.com/org/foreman-action/queue"
)

func limitCases() []testCase {
	return []testCase{
		{"hourly limit: a sliding window", hourly},
		{"hourly limit: per repository", hourlyRepo},
		{"hourly limit: with a wait", hourlyWait},
		{"hourly limit: ended tasks count", hourlyEnded},
		{"hourly limit: cancelled tasks do not", hourlyCancelled},
		{"hourly limit: nobody to ask", hourlyDecided},
	}
}

// limited enqueues a task of a repository with a limit of 3, and returns its id and how
// long it is held back.
func (r *rig) limited(repo string) (string, time.Duration) {
	r.Helper()
	t := r.task()
	t.Repo, t.HourlyLimit = repo, 3
	got, err := r.b.Enqueue(r.Context(), t)
	if err != nil || got.How != queue.Added {
		r.Fatalf("Enqueue: got %+v, %v", got, err)
	}
	if got.Ready.IsZero() {
		return t.ID, 0
	}
	return t.ID, got.Ready.Sub(r.clock.Now())
}

// hourly enqueues at 0, 10 and 20 minutes; then what comes is due an hour after each.
func hourly(r *rig) {
	var ids []string
	var held []time.Duration
	add := func() {
		id, wait := r.limited(repo)
		ids, held = append(ids, id), append(held, wait)
	}
	for range 3 {
		add()
		r.clock.Advance(10 * time.Minute)
	}
	for range 4 {
		add()
	}
	if want := []time.Duration{0, 0, 0, 30 * time.Minute, 40 * time.Minute, 50 * time.Minute, 90 * time.Minute}; !slices.Equal(held, want) {
		r.Fatalf("got held back for %v, want %v", held, want)
	}
	if d := r.look(ids[3]); !d.Held || d.Reason == "" {
		r.Errorf("got %+v, want it held back, with a reason", d.Info)
	}
	r.claims(ids[:3]...)
	free := r.add() // without a limit
	r.claims(free)
	for _, id := range ids[3:6] {
		r.nothing()
		r.clock.Advance(30*time.Minute + time.Second)
		r.claims(id)
		r.clock.Advance(-20 * time.Minute)
	}
}

func hourlyRepo(r *rig) {
	for range 3 {
		r.limited("org/Repo")
	}
	if _, wait := r.limited("other/repo"); wait != 0 {
		r.Errorf("another repository: held back for %s", wait)
	}
	if _, wait := r.limited("ORG/repo"); wait != time.Hour {
		r.Errorf("the same repository: held back for %s, want an hour", wait)
	}
}

func hourlyWait(r *rig) {
	t := r.task()
	t.HourlyLimit, t.Wait = 1, 10*time.Minute
	r.put(t)
	next := r.task()
	next.HourlyLimit = 1
	got, err := r.a.Enqueue(r.Context(), next)
	if want := r.clock.Now().Add(70 * time.Minute); err != nil || !got.Ready.Equal(want) {
		r.Errorf("got %+v, %v, want it ready at %s", got, err, want)
	}
}

func hourlyEnded(r *rig) {
	var first string
	for i := range 3 {
		id, _ := r.limited(repo)
		if i == 0 {
			first = id
		}
		r.complete(queue.Ref{ID: id})
		r.works("MarkDone", r.a.MarkDone(r.Context(), r.one(id).Hold, nil))
	}
	r.is(first, queue.Done)
	if _, wait := r.limited(repo); wait != time.Hour {
		r.Errorf("held back for %s, want an hour", wait)
	}
	r.clock.Advance(2*time.Hour + time.Second)
	if _, wait := r.limited(repo); wait != 0 {
		r.Errorf("later: held back for %s", wait)
	}
}

// hourlyCancelled cancels a flood: what comes then is not behind it.
func hourlyCancelled(r *rig) {
	for range 9 {
		id, _ := r.limited(repo)
		r.works("Cancel", r.a.Cancel(r.Context(), id, "ada"))
	}
	if _, wait := r.limited(repo); wait != 0 {
		r.Errorf("held back for %s, want not at all", wait)
	}
}

func hourlyDecided(r *rig) {
	first, second := r.task(), r.task()
	first.Agent, first.HourlyLimit = "", 1
	second.Agent, second.HourlyLimit = "", 1
	r.put(first, second)
	r.leases(first.ID)
	r.clock.Advance(time.Hour + time.Second)
	r.leases(second.ID)
}
