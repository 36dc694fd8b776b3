package queuetest

import (
	"slices"
	"time"

	"github.com/org/foreman-action/queue"
)

func readCases() []testCase {
	return []testCase{
		{"stats: counts", stats},
		{"stats: nothing", statsEmpty},
		{"backlog: what waits", backlog},
		{"backlog: many", backlogMany},
		{"list: filters", listFilters},
		{"list: pages", listPages},
		{"inspect: unknown", inspectUnknown},
	}
}

func stats(r *rig) {
	start := r.clock.Now()
	claimed := r.add()
	r.claim()
	r.clock.Advance(time.Second)
	held, other := r.task(), r.task()
	held.Wait, other.Agent = time.Hour, "http://A/"
	r.put(held, other)
	r.clock.Advance(time.Second)
	r.add()
	done, failed, draining, waiting := r.decided(), r.decided(), r.decided(), r.decided()
	for _, d := range r.leases(done, failed, draining, waiting) {
		switch d.ID {
		case done:
			r.works("MarkDone", r.a.MarkDone(r.Context(), d.Hold, nil))
		case failed:
			r.works("Fail", r.a.Fail(r.Context(), d.Hold, "why", nil))
		case waiting:
			r.works("Release", r.a.Release(r.Context(), d.Hold, queue.Postponement{Wait: time.Hour}))
		}
	}
	got := r.stats()
	states := map[queue.State]int{}
	for _, s := range queue.States() {
		states[s] = got.States[s]
	}
	got.States = states
	r.equal("Stats", got, queue.Stats{
		Agents: []queue.AgentStats{{Agent: "http://A/", Pending: 1}, {Agent: agent, Pending: 2, Held: 1, Claimed: 1}},
		States: map[queue.State]int{queue.Pending: 3, queue.Claimed: 1, queue.Completed: 2, queue.Done: 1, queue.Failed: 1},
		Held:   2, Draining: 1, Oldest: start.Add(time.Second),
	})
	r.clock.Advance(2 * time.Hour)
	if got := r.stats(); got.Held != 0 || got.Draining != 1 || got.Agents[1].Held != 0 || got.Agents[1].Pending != 2 {
		r.Errorf("two hours later: got %+v", got)
	}
	r.is(claimed, queue.Claimed)
}

func statsEmpty(r *rig) {
	got := r.stats()
	if len(got.Agents) != 0 || got.Held != 0 || got.Draining != 0 || !got.Oldest.IsZero() {
		r.Errorf("got %+v", got)
	}
	if list := r.backlog(3); len(list) != 0 {
		r.Errorf("got %+v", list)
	}
}

func backlog(r *rig) {
	low, first, second, held := r.task(), r.task(), r.task(), r.task()
	low.Priority, held.Wait = -1, time.Minute
	r.put(low, first, second, held)
	for _, a := range []string{"http://z/", "http://b/"} {
		t := r.task()
		t.Agent = a
		r.put(t)
	}
	only := r.task() // of an agent that has nothing else
	only.Agent, only.Wait = "http://held/", time.Minute
	r.put(only)
	r.claim()
	r.decided()
	last, b, z := id(8), id(6), id(5)
	r.equal("Backlog", r.backlog(2), []queue.Backlog{
		{Agent: agent, Pending: 2, Claimed: 1, IDs: []string{second.ID, low.ID}},
		{Agent: "http://b/", Pending: 1, IDs: []string{b}},
		{Agent: "http://z/", Pending: 1, IDs: []string{z}},
	})
	if list := r.backlog(0); len(list) != 3 || len(list[0].IDs) != 0 || list[0].Pending != 2 {
		r.Errorf("without ids: got %+v", list)
	}
	r.clock.Advance(time.Minute + time.Second)
	list := r.backlog(1)
	if len(list) != 4 || list[0].Pending != 3 || !slices.Equal(list[0].IDs, []string{second.ID}) {
		r.Errorf("later: got %+v", list)
	}
	r.is(last, queue.Completed)
}

// backlogMany has more tasks wait than are counted, for the first agent and not for the last.
func backlogMany(r *rig) {
	for _, a := range []string{"http://a/", "http://b/", "http://c/"} {
		for range queue.MaxBacklog + 5 {
			t := r.task()
			t.Agent = a
			r.put(t)
		}
	}
	few := r.task()
	few.Agent = "http://d/"
	r.put(few)
	list := r.backlog(queue.MaxBacklog + 2)
	if len(list) != 4 || list[3].Agent != few.Agent || list[3].Pending != 1 {
		r.Fatalf("got %+v, want four agents", list)
	}
	for i, b := range list[:3] {
		if b.Pending != queue.MaxBacklog || len(b.IDs) != queue.MaxBacklog+2 || b.IDs[0] != id(1+i*(queue.MaxBacklog+5)) {
			r.Errorf("got %+v, want %d counted, and %d ids", b, queue.MaxBacklog, queue.MaxBacklog+2)
		}
	}
}

func listFilters(r *rig) {
	t := r.task()
	t.Repo, t.Agent, t.Issue = "Org/Other", "http://b/", 77
	r.put(t)
	plain, decided := r.add(), r.decided()
	tests := map[string]struct {
		f    queue.Filter
		want []string
	}{
		"all":     {queue.Filter{}, []string{decided, plain, t.ID}},
		"state":   {queue.Filter{State: queue.Pending}, []string{plain, t.ID}},
		"agent":   {queue.Filter{Agent: "http://b/"}, []string{t.ID}},
		"repo":    {queue.Filter{Repo: "org/OTHER"}, []string{t.ID}},
		"issue":   {queue.Filter{Issue: 77}, []string{t.ID}},
		"several": {queue.Filter{State: queue.Completed, Agent: agent, Repo: repo}, []string{decided}},
		"none":    {queue.Filter{State: queue.Done}, nil},
	}
	for name, tt := range tests {
		r.listed(name, tt.f, tt.want)
	}
	infos, err := r.b.List(r.Context(), queue.Filter{Issue: 77})
	r.works("List", err)
	r.equal("List", infos[0], r.look(t.ID).Info)
}

func (r *rig) listed(name string, f queue.Filter, want []string) (last int64) {
	r.Helper()
	list, err := r.b.List(r.Context(), f)
	r.works("List", err)
	var ids []string
	for _, i := range list {
		ids = append(ids, i.ID)
		last = i.Seq
	}
	if !slices.Equal(ids, want) {
		r.Errorf("%s: got %v, want %v", name, ids, want)
	}
	return last
}

func listPages(r *rig) {
	var want []string
	for range 105 {
		want = append(want, r.add())
	}
	slices.Reverse(want)
	last := r.listed("first page", queue.Filter{}, want[:100])
	r.listed("second page", queue.Filter{Before: last}, want[100:])
	r.listed("everything", queue.Filter{Limit: 5000}, want)
	last = r.listed("short page", queue.Filter{Limit: 2, State: queue.Pending}, want[:2])
	newer := r.add()
	r.listed("while others come", queue.Filter{Limit: 2, Before: last}, want[2:4])
	r.listed("the newest", queue.Filter{Limit: 1}, []string{newer})
}

func inspectUnknown(r *rig) {
	_, err := r.a.Inspect(r.Context(), id(99))
	r.fails("Inspect", err, queue.ErrNotFound)
}
