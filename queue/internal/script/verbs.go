package script

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
)

// taskCalls are the calls that concern one task.
func taskCalls() map[string]func(c *call, id string) (outcome, error) {
	return map[string]func(c *call, id string) (outcome, error){
		// These calls use handle A, unless the line begins with B.
		"enqueue": enqueue,
		"heartbeat": func(c *call, id string) (outcome, error) {
			return done(c.q.Heartbeat(c.Context(), c.args.ref(id), c.args.duration("lease", Lease)))
		},
		"giveback": func(c *call, id string) (outcome, error) {
			return done(c.q.ReleaseClaim(c.Context(), c.args.ref(id), c.args.duration("wait", 0)))
		},
		"giveup": func(c *call, id string) (outcome, error) {
			return done(c.q.FailClaim(c.Context(), c.args.ref(id), c.args.text("reason", "why")))
		},
		"complete": complete,
		"renew": func(c *call, id string) (outcome, error) {
			until, err := c.q.Renew(c.Context(), c.lease(id), c.args.duration("lease", Lease))
			return outcome{value: struct{ Until time.Time }{until}}, err
		},
		"done": func(c *call, id string) (outcome, error) {
			return done(c.q.MarkDone(c.Context(), c.lease(id), c.args.bytes("report", none)))
		},
		"fail": func(c *call, id string) (outcome, error) {
			return done(c.q.Fail(c.Context(), c.lease(id), c.args.text("reason", "why"), c.args.bytes("report", none)))
		},
		"release": func(c *call, id string) (outcome, error) {
			p := queue.Postponement{Wait: c.args.duration("wait", 0), Reason: c.args.text("reason", ""), Free: c.args.flag("free")}
			return done(c.q.ReleaseLease(c.Context(), c.lease(id), p))
		},
		"retry": func(c *call, id string) (outcome, error) {
			state, err := c.q.Retry(c.Context(), c.args.seen(id), "person")
			return outcome{words: []string{string(state)}}, err
		},
		"ask": func(c *call, id string) (outcome, error) {
			state, err := c.q.AskAgain(c.Context(), c.args.seen(id), "person", c.args.text("reason", ""))
			return outcome{words: []string{string(state)}}, err
		},
		"cancel": func(c *call, id string) (outcome, error) {
			return done(c.q.Cancel(c.Context(), c.args.seen(id), "person"))
		},
		// This call always uses handle B.
		"show": show,
	}
}

// done returns the outcome of a call that returns only an error.
func done(err error) (outcome, error) { return outcome{}, err }

func enqueue(c *call, id string) (outcome, error) {
	n, err := strconv.Atoi(withNumbers(id))
	if err == nil {
		c.last = max(c.last, n)
	}
	got, err := c.q.Enqueue(c.Context(), c.args.task(n, id))
	return outcome{words: []string{string(got.Outcome), got.ID}, normal: []string{string(queue.Added), withNumbers(id)}, value: got}, err
}

// complete sends a decision: by default {"n":1}, {"n":2} and so on.
func complete(c *call, id string) (outcome, error) {
	c.decisions++
	got, err := c.q.Complete(c.Context(), c.args.ref(id), c.args.bytes("decision", fmt.Sprintf(`{"n":%d}`, c.decisions)))
	switch {
	case err != nil && got.Accepted, got.Accepted && got.Reason != "", err == nil && !got.Accepted && got.Reason == "":
		return outcome{}, fmt.Errorf("got %+v with the error %v", got, err) //nolint:errorlint // must be none of the known ones
	case got.Accepted:
		return outcome{words: []string{"accepted"}, normal: []string{"accepted"}}, nil
	}
	return outcome{words: []string{"refused"}, normal: []string{"accepted"}}, err
}

// show returns the details of a task.
func show(c *call, id string) (outcome, error) {
	d, err := c.B.Inspect(c.Context(), id)
	if d.Behind != "" && d.Reason == "waits for task "+d.Behind+" of the same issue" {
		d.Reason = "waits"
	}
	if !d.Held {
		d.Ready = time.Time{} // has no meaning then
	}
	return outcome{words: []string{string(d.State)}, value: d}, err
}

// calls are the calls that do not concern a single task.
func calls() map[string]func(c *call) (outcome, error) {
	return map[string]func(c *call) (outcome, error){
		"claim":   claim,
		"claims":  claims,
		"drain":   drain,
		"requeue": requeue,
		"grace": func(c *call) (outcome, error) {
			n, err := c.q.ExtendClaims(c.Context(), c.args.duration("for", Lease))
			return outcome{words: []string{strconv.Itoa(n)}}, err
		},
		"purge": func(c *call) (outcome, error) {
			n, err := c.q.Purge(c.Context(), c.Clock.Now().Add(c.args.duration("before", 0)), c.args.int("limit", 100))
			return outcome{words: []string{strconv.Itoa(n)}}, err
		},
		"advance": func(c *call) (outcome, error) {
			d, err := time.ParseDuration(c.words[0])
			c.Clock.Advance(d)
			return outcome{}, err
		},
		"stats": func(c *call) (outcome, error) {
			s, err := c.B.Stats(c.Context())
			return outcome{value: s}, err
		},
		"backlog": func(c *call) (outcome, error) {
			list, err := c.B.Backlog(c.Context(), c.args.int("ids", 0))
			return outcome{words: []string{strconv.Itoa(len(list))}, value: struct{ Agents []queue.Backlog }{list}}, err
		},
		"known": func(c *call) (outcome, error) {
			got, err := c.q.Duplicate(c.Context(), c.words[0])
			return outcome{words: []string{string(got.Outcome), got.ID}, value: got}, err
		},
		"list":  list,
		"count": count,
		"watch": watch,
		"hint":  hint,
		"slot":  slot,

		"pause":  pause,
		"resume": resume,
		"pauses": pauses,
	}
}

// claim claims the next task, or the only task that the line names.
func claim(c *call) (outcome, error) {
	switch len(c.words) {
	case 0:
		return c.claim("")
	case 1:
		out, err := c.claim(idOf(c.words[0]))
		out.normal = []string{withNumbers(idOf(c.words[0]))}
		return out, err
	}
	c.Fatalf("%s: want at most one task", c.text)
	return outcome{}, nil
}

// claim claims the task with an id; empty: the next task.
func (c *call) claim(id string) (outcome, error) {
	o := queue.ClaimOptions{By: c.args.text("by", ""), Lease: c.args.duration("lease", Lease), Task: id}
	got, err := c.q.ClaimNext(c.Context(), c.args.text("agent", Agent), o)
	return outcome{words: []string{got.ID}, value: got}, err
}

// claims claims the named tasks in this order. Then no task may be left for either handle.
func claims(c *call) (outcome, error) {
	for _, want := range c.words {
		if got, err := c.claim(""); err != nil || got.words[0] != idOf(want) {
			c.Fatalf("%s: got %v, %v, want %s", c.text, got.words, err, want)
		}
	}
	for _, c.q = range []queue.Queue{c.A, c.B} {
		if got, err := c.claim(""); !errors.Is(err, queue.ErrEmpty) {
			c.Fatalf("%s: got %v, %v, want no more tasks", c.text, got.words, err)
		}
	}
	return outcome{}, nil
}

// drain leases decisions, and returns their ids.
func drain(c *call) (outcome, error) {
	o := queue.DrainOptions{Owner: c.args.text("owner", "harness"), Lease: c.args.duration("lease", Lease), Limit: c.args.int("limit", 50)}
	list, err := c.q.LeaseDecisions(c.Context(), o)
	var out outcome
	for _, d := range list {
		c.leases[d.ID] = d.Lease
		out.words = append(out.words, d.ID)
		out.value = d // the last decision
	}
	out.words = orNone(out.words)
	return out, err
}

// requeue returns the changed tasks with their new states, and the agent if it is not the default
// one.
func requeue(c *call) (outcome, error) {
	list, err := c.q.RequeueStale(c.Context(), queue.Limits{
		Claims: c.args.int("claims", 0), Drains: c.args.int("drains", 0), MaxClaim: c.args.duration("longest", 0),
	})
	var words []string
	for _, s := range list {
		word := withNumbers(s.ID) + ":" + string(s.State)
		if s.Agent != Agent {
			word += "@" + s.Agent
		}
		words = append(words, word)
	}
	slices.Sort(words)
	return outcome{words: orNone(words)}, err
}

// filter returns the filter of a line. A plus in the words of a title or of a reason stands for a space.
func (c *call) filter() (queue.Filter, error) {
	f := queue.Filter{
		State: queue.State(c.args.text("state", "")), Agent: c.args.text("agent", ""), Repo: c.args.text("repo", ""),
		Issue: c.args.int("issue", 0), Limit: c.args.int("limit", 0), Examine: c.args.int("examine", 0),
		ID: c.args.text("id", ""), Title: strings.ReplaceAll(c.args.text("title", ""), "+", " "), Reason: strings.ReplaceAll(c.args.text("reason", ""), "+", " "),
	}
	if from := c.args.duration("from", 1); from != 1 {
		f.From = c.Clock.Now().Add(from)
	}
	if to := c.args.duration("to", 1); to != 1 {
		f.To = c.Clock.Now().Add(to)
	}
	if before := c.args.text("before", ""); before != "" {
		d, err := c.B.Inspect(c.Context(), idOf(before))
		if err != nil {
			return f, err
		}
		f.Before = d.Seq
	}
	return f, nil
}

// list returns the ids of the listed tasks.
func list(c *call) (outcome, error) {
	f, err := c.filter()
	if err != nil {
		return outcome{}, err
	}
	page, err := c.B.Search(c.Context(), f)
	var ids []string
	for _, i := range page.Tasks {
		ids = append(ids, i.ID)
	}
	if again, failed := queue.List(c.Context(), c.B, f); failed != nil || len(again) != len(page.Tasks) {
		c.Errorf("%s: List returns %d tasks, %v", c.text, len(again), failed)
	}
	next, err := c.task(page.Next, err)
	return outcome{words: orNone(ids), value: struct {
		Tasks    []queue.Info
		Examined int
		Next     string
	}{page.Tasks, page.Examined, next}}, err
}

// count returns the number of tasks that match.
func count(c *call) (outcome, error) {
	f, err := c.filter()
	if err != nil {
		return outcome{}, err
	}
	tally, err := c.B.Count(c.Context(), f)
	next, err := c.task(tally.Next, err)
	return outcome{words: []string{strconv.Itoa(tally.N)}, value: struct{ Next string }{next}}, err
}

// task returns the id of the task with a number, or an empty text for 0.
func (c *call) task(seq int64, err error) (string, error) {
	if err != nil || seq == 0 {
		return "", err
	}
	list, err := queue.List(c.Context(), c.B, queue.Filter{Before: seq + 1, Limit: 1})
	if err != nil || len(list) == 0 || list[0].Seq != seq {
		return "", fmt.Errorf("no task has the number %d: %w", seq, err)
	}
	return list[0].ID, nil
}

// orNone returns the words, or "none" if there are none.
func orNone(words []string) []string {
	if len(words) == 0 {
		return []string{none}
	}
	return words
}

// watch starts to watch a handle. Later hints are those of this watch.
func watch(c *call) (outcome, error) {
	changes, stop := c.q.Watch()
	c.Cleanup(stop)
	c.changes = changes
	return outcome{}, nil
}

// hint waits for a hint about a task: "pending" for the default agent, or "completed".
func hint(c *call) (outcome, error) {
	want := map[string]queue.Change{"pending": {Agent: Agent}, "completed": {}}[c.words[0]]
	return outcome{}, Await(c.changes, want)
}

// Await waits up to two minutes for a change.
func Await(changes <-chan queue.Change, want queue.Change) error {
	timeout := time.NewTimer(2 * time.Minute)
	defer timeout.Stop()
	for {
		select {
		case got := <-changes:
			if got == want {
				return nil
			}
		case <-timeout.C:
			return fmt.Errorf("no change %+v was reported", want)
		}
	}
}

// scope returns the scope that a line names: its kind, and the argument name.
func (c *call) scope() queue.Scope {
	return queue.Scope{Kind: queue.ScopeKind(c.words[0]), Name: c.args.text("name", "")}
}

// pause pauses a scope. The result is "paused" or "already".
func pause(c *call) (outcome, error) {
	p, already, err := c.pauses.Pause(c.Context(), c.scope(), c.args.text("by", "person"), c.args.text("reason", ""))
	out := outcome{words: []string{"paused"}, normal: []string{"paused"}, value: p}
	if already {
		out.words = []string{"already"}
	}
	return out, err
}

// resume ends the pause of a scope. The result is "resumed" or "none".
func resume(c *call) (outcome, error) {
	p, found, err := c.pauses.Resume(c.Context(), c.scope())
	out := outcome{words: []string{"resumed"}, normal: []string{"resumed"}, value: p}
	if !found {
		out.words = []string{none}
	}
	return out, err
}

// pauses returns the scopes that are paused, by the other handle.
func pauses(c *call) (outcome, error) {
	list, err := c.PausesB.ListPauses(c.Context(), true)
	if err != nil {
		return outcome{}, err
	}
	few, err := c.PausesB.ListPauses(c.Context(), false)
	if len(few) != len(list) {
		return outcome{}, fmt.Errorf("without counts: got %d pauses, want %d", len(few), len(list))
	}
	for i, p := range few {
		want := list[i]
		want.Held, want.Claimed, want.Draining = 0, 0, 0
		if p != want {
			return outcome{}, fmt.Errorf("without counts: got %+v, want %+v", p, want)
		}
	}
	var words []string
	for _, p := range list {
		words = append(words, strings.TrimSuffix(string(p.Scope.Kind)+":"+p.Scope.Name, ":"))
	}
	return outcome{words: orNone(words), value: struct{ Pauses []queue.Pause }{list}}, err
}

// slot takes slots of the account "bot", with the limits per minute and per hour, alternating
// between the handles. It takes one for each wait that the line names; with the field "full" it
// asks for one more, which the queue must refuse.
func slot(c *call) (outcome, error) {
	r := queue.SlotRequest{Identity: c.args.text("identity", "bot"), Within: c.args.duration("within", 0)}
	if _, err := fmt.Sscanf(c.words[0], "%d/%d", &r.PerMinute, &r.PerHour); err != nil {
		c.Fatalf("%s: %v", c.text, err)
	}
	for _, ago := range strings.FieldsFunc(c.args.text("missed", ""), func(r rune) bool { return r == ',' }) {
		d, err := time.ParseDuration(ago)
		if err != nil {
			c.Fatalf("%s: %v", c.text, err)
		}
		r.Missed = append(r.Missed, d)
	}
	full, words := none, []string{}
	for i := range len(c.want) + len(c.fields) {
		c.slots++
		wait, ok, err := []queue.Slots{c.SlotsB, c.SlotsA}[c.slots%2].TakeSlot(c.Context(), r)
		switch {
		case err != nil:
			return outcome{}, err
		case i < len(c.want) && ok:
			words = append(words, short(wait))
		case i < len(c.want):
			words = append(words, none)
		case !ok:
			full = short(wait)
		}
	}
	return outcome{words: words, value: struct{ Full string }{full}}, nil
}
