package judge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/judge"
	"github.com/org/foreman-action/triage"
)

// A repository is a host whose issues were all labelled by Foreman. A person commented on those that are
// not silent, and took the label off those that are wrong.
type repository struct {
	silent, wrong, gone map[int]bool
	fails               int  // number of the call that fails; 0: none
	stubborn            int  // the issue that can never be read; 0: none
	down                bool // no call succeeds
	calls               int
	made                func(issue int) time.Time // when Foreman labelled an issue; nil: madeOn
}

var errDown = errors.New("the host is down")

func (r *repository) call() error {
	if r.calls++; r.calls == r.fails || r.down {
		return errDown
	}
	return nil
}

func (r *repository) Issue(_ context.Context, ref triage.Ref) (triage.Snapshot, error) {
	i := triage.Issue{Number: ref.Number, Author: fmt.Sprint("author-", ref.Number), Association: "NONE", State: "open", Labels: []string{"bug"}}
	if r.wrong[ref.Number] {
		i.Labels = nil
	}
	err := r.call()
	if ref.Number == r.stubborn {
		err = errDown
	}
	if r.gone[ref.Number] {
		err = triage.ErrGone
	}
	return triage.Snapshot{Issue: i}, err
}

func (r *repository) Timeline(_ context.Context, ref triage.Ref) (triage.Timeline, error) {
	at := madeOn(ref.Number)
	if r.made != nil {
		at = r.made(ref.Number)
	}
	t := triage.Timeline{Complete: true, Events: []triage.TimelineEvent{{Kind: "labeled", Actor: bot, ActorType: "Bot", Label: "bug", At: at}}}
	if r.wrong[ref.Number] {
		t.Events = append(t.Events, triage.TimelineEvent{Kind: "unlabeled", Actor: "mona", ActorType: "User", Label: "bug", At: at.Add(time.Hour)})
	}
	if !r.silent[ref.Number] {
		t.Events = append(t.Events, triage.TimelineEvent{Kind: "commented", Actor: "mona", ActorType: "User", Association: "MEMBER", At: at.Add(2 * time.Hour)})
	}
	return t, r.call()
}

// madeOn returns when Foreman labelled an issue: one issue a day.
func madeOn(issue int) time.Time { return start.AddDate(0, 0, issue) }

// store returns a memory in which Foreman labelled the issues 1 to n.
func store(t *testing.T, n int) memory.Agenda {
	t.Helper()
	s := memory.New()
	for issue := 1; issue <= n; issue++ {
		change(t, s, issue, func(r *memory.Record) { r.Put(labelled(fmt.Sprint("task-", issue), madeOn(issue))) })
	}
	return s
}

func labelled(id string, at time.Time) memory.Task {
	return memory.Task{ID: id, At: at, By: "rules", Actions: []memory.Action{
		{Type: "add_label", Values: []string{"Bug"}, Rule: "crash", Pair: "rule:00ff", Result: triage.Done},
	}}
}

func change(t *testing.T, s memory.Store, issue int, alter func(*memory.Record)) {
	t.Helper()
	if _, err := memory.Update(t.Context(), s, "org/repo", issue, func(r *memory.Record) error { alter(r); return nil }); err != nil {
		t.Fatal(err)
	}
}

// pass returns a pass a number of days after the start.
func pass(s memory.Agenda, h judge.Host, day int) judge.Pass {
	return judge.Pass{
		Repo: triage.Repo{Owner: "org", Name: "repo"}, Store: s, Host: h, Bot: bot, After: 14 * 24 * time.Hour, Now: start.AddDate(0, 0, day),
		Threshold: func(memory.PairKey) memory.Threshold { return memory.Threshold{Bound: 0.85, Of: 20} },
		Reset:     func(memory.PairKey, string) time.Time { return time.Time{} },
		Reads:     200, Warn: func(string, ...any) {},
	}
}

// record returns the track record of the label "bug".
func record(t *testing.T, s memory.Store) memory.Pair {
	t.Helper()
	r, err := s.Load(t.Context(), "org/repo", memory.Repository)
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		t.Fatal(err)
	}
	p, _ := r.Outcomes.Pair(memory.PairKey{Source: "rule:00ff", Action: "add_label", Value: "bug"})
	return p
}

// TestPass judges the actions of each day fourteen days later.
func TestPass(t *testing.T) {
	t.Parallel()
	s := store(t, 40)
	h := &repository{silent: map[int]bool{3: true}, wrong: map[int]bool{7: true}, gone: map[int]bool{9: true}}
	for day := range 60 {
		sum, err := pass(s, h, day).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		if issue := day - 14; issue >= 1 && issue <= 40 {
			want = 1
		}
		if sum.Judged != want || sum.Waiting != 0 {
			t.Errorf("day %d: got %+v, want %d judged", day, sum, want)
		}
	}
	p := record(t, s)
	if p.Kept != 37 || p.Undone != 1 || p.Unjudged != 2 || p.Name != "crash" || p.Granted.IsZero() {
		t.Errorf("got %+v", p)
	}
	if h.calls != 79 { // the deleted issue has no timeline
		t.Errorf("%d calls", h.calls)
	}
}

// TestPassReads checks that the bound of reads leaves issues for the next pass, and that none is lost or
// counted twice, whichever call fails.
func TestPassReads(t *testing.T) {
	t.Parallel()
	for fails := range 90 {
		s := store(t, 40)
		h := &repository{wrong: map[int]bool{7: true}, fails: fails}
		var waiting []int
		failures := 0
		for len(waiting) < 20 {
			p := pass(s, h, 60)
			p.Reads = 17
			sum, err := p.Run(t.Context())
			if err != nil {
				failures++
			}
			waiting = append(waiting, sum.Waiting)
			if sum.Reads > 17 {
				t.Fatalf("%d reads", sum.Reads)
			}
			if sum.Waiting == 0 {
				break
			}
		}
		if got := record(t, s); got.Kept != 39 || got.Undone != 1 {
			t.Fatalf("call %d fails: got %+v, waiting %v", fails, got.Tally, waiting)
		}
		if want := fails >= 1 && fails <= 80; want != (failures == 1) {
			t.Errorf("call %d fails: %d failures", fails, failures)
		}
	}
}

// TestPassStubborn checks that an issue which can never be read keeps no other one from being judged, and is given up
// in the end.
func TestPassStubborn(t *testing.T) {
	t.Parallel()
	s := store(t, 10)
	h := &repository{stubborn: 4}
	for day := range 130 {
		sum, err := pass(s, h, day).Run(t.Context())
		if want := day >= 18 && day <= 108; (err != nil) != want || (sum.Waiting == 1) != want {
			t.Fatalf("day %d: got %+v, %v", day, sum, err)
		}
		if p := record(t, s); day == 24 && p.Kept != 9 {
			t.Errorf("day %d: got %+v", day, p.Tally)
		}
	}
	if p := record(t, s); p.Kept != 9 || p.Unjudged != 0 {
		t.Errorf("got %+v", p.Tally)
	}
}

// TestPassFull checks that each outcome counts once if more of them follow an issue which cannot be read than the
// record can hold.
func TestPassFull(t *testing.T) {
	t.Parallel()
	const issues = 1000
	s, h := memory.New(), &repository{stubborn: 1, made: func(issue int) time.Time { return start.Add(time.Duration(issue) * 40 * time.Minute) }}
	for issue := 1; issue <= issues; issue++ {
		change(t, s, issue, func(r *memory.Record) { r.Put(labelled(fmt.Sprint("task-", issue), h.made(issue))) })
	}
	given := 0
	for day := range 60 {
		p := pass(s, h, day)
		p.Reads, p.Warn = 2000, func(string, ...any) { given++ }
		if sum, err := p.Run(t.Context()); err != nil && sum.Waiting == 0 {
			t.Fatalf("day %d: %+v, %v", day, sum, err)
		}
		r, err := s.Load(t.Context(), "org/repo", memory.Repository)
		if err == nil && len(r.Outcomes.Counted) > 600 {
			t.Fatalf("day %d: it holds %d", day, len(r.Outcomes.Counted))
		}
	}
	if p := record(t, s); p.Kept != issues-1 || given != 1 {
		t.Errorf("got %+v, gave up %d", p.Tally, given)
	}
}

// TestPassMoves checks that issues without anything to judge do not use up the reads of each pass.
func TestPassMoves(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		s := memory.New()
		for issue := 1; issue <= 150; issue++ {
			task := labelled(fmt.Sprint("task-", issue), start.Add(time.Duration(issue)*time.Second))
			task.Actions[0].Pair = ""
			change(t, s, issue, func(r *memory.Record) { r.Put(task) })
		}
		for issue := 201; issue <= 230; issue++ {
			change(t, s, issue, func(r *memory.Record) { r.Put(labelled(fmt.Sprint("task-", issue), start.AddDate(0, 0, 1))) })
		}
		h := &repository{made: func(int) time.Time { return start.AddDate(0, 0, 1) }}
		for day := range 25 {
			p := pass(s, h, day)
			p.LoadCost, p.Keep = 2, keep
			if _, err := p.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if p := record(t, s); p.Kept != 30 {
			t.Errorf("keep %t: got %+v", keep, p.Tally)
		}
	}
}

// TestPassClock checks that a record of a clock that was ahead is reported.
func TestPassClock(t *testing.T) {
	t.Parallel()
	s, h := store(t, 3), &repository{}
	if _, err := pass(s, h, 400).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var warnings []string
	p := pass(s, h, 30)
	p.Warn = func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	sum, err := p.Run(t.Context())
	if err != nil || sum.Judged != 0 || len(warnings) != 1 || !strings.Contains(warnings[0], "later than the clock of this machine") {
		t.Errorf("got %+v, %v, %q", sum, err, warnings)
	}
	if p := record(t, s); p.Kept != 3 {
		t.Errorf("got %+v", p.Tally)
	}
}

// TestPassUnanswered checks that a proposal without an answer does not hide what happened to the same action later.
func TestPassUnanswered(t *testing.T) {
	t.Parallel()
	for _, state := range []memory.ProposalState{memory.Expired, memory.Overtaken} {
		s := memory.New()
		change(t, s, 1, func(r *memory.Record) { // proposed, and carried out later
			propose(t, r, memory.Proposal{ID: "1", At: madeOn(1).AddDate(0, 0, -5), Ended: madeOn(1), State: state})
			r.Put(labelled("task", madeOn(1)))
		})
		change(t, s, 2, func(r *memory.Record) { // proposed again, and rejected
			propose(t, r, memory.Proposal{ID: "1", At: madeOn(1), Ended: madeOn(2), State: state})
			propose(t, r, memory.Proposal{ID: "2", At: madeOn(2), Ended: madeOn(2), State: memory.Rejected, By: "mona"})
		})
		if _, err := pass(s, &repository{wrong: map[int]bool{1: true}}, 30).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if p := record(t, s); p.Undone != 1 || p.Rejected != 1 || p.Expired != 0 {
			t.Errorf("%s: got %+v", state, p.Tally)
		}
	}
}

// TestPassHidden checks that a comment which Foreman hid itself counts for nobody.
func TestPassHidden(t *testing.T) {
	t.Parallel()
	const url = "https://github.com/org/repo/issues/1#issuecomment-9"
	for hides, want := range map[bool]memory.Tally{false: {Undone: 1}, true: {Unjudged: 1}} {
		s := memory.New()
		change(t, s, 1, func(r *memory.Record) {
			r.Put(memory.Task{ID: "1", At: madeOn(1), By: "rules", Actions: []memory.Action{{Type: "comment", Rule: "ask", Pair: "rule:00ff", Result: triage.Done, URL: url}}})
			if hides {
				r.Put(memory.Task{ID: "2", At: madeOn(2), By: "rules", Actions: []memory.Action{{Type: "hide_comment", Rule: "hide", Pair: "rule:00aa", Result: triage.Done}}})
			}
		})
		if _, err := pass(s, hiding{&repository{}, url}, 30).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		r, err := s.Load(t.Context(), "org/repo", memory.Repository)
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := r.Outcomes.Pair(memory.PairKey{Source: "rule:00ff", Action: "comment"}); p.Tally != want {
			t.Errorf("hides %t: got %+v", hides, p.Tally)
		}
	}
}

// A hiding repository has one comment of ours, which is hidden.
type hiding struct {
	*repository

	url string
}

func (h hiding) Timeline(context.Context, triage.Ref) (triage.Timeline, error) {
	return triage.Timeline{Complete: true, Events: []triage.TimelineEvent{
		{Kind: "commented", Actor: bot, ActorType: "Bot", URL: h.url, At: madeOn(1), Hidden: true},
	}}, nil
}

// TestPassOutage checks that a pass ends when the host does not answer at all.
func TestPassOutage(t *testing.T) {
	t.Parallel()
	h := &repository{down: true}
	sum, err := pass(store(t, 40), h, 60).Run(t.Context())
	if err == nil || h.calls != 3 || sum.Waiting != 40 {
		t.Errorf("got %+v, %v, %d calls", sum, err, h.calls)
	}
}

// TestPassAgain checks that the same passes count nothing again, also after the clock was set back.
func TestPassAgain(t *testing.T) {
	t.Parallel()
	s := store(t, 10)
	for _, day := range []int{20, 20, 15, 22, 10, 30, 30} {
		if _, err := pass(s, &repository{}, day).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if p := record(t, s); p.Kept != 10 {
		t.Errorf("got %+v", p)
	}
}

// TestPassOncePerIssue checks that an issue counts once for a pair, however often the pair acts on it.
func TestPassOncePerIssue(t *testing.T) {
	t.Parallel()
	s := store(t, 1)
	for n := range 20 {
		change(t, s, 1, func(r *memory.Record) { r.Put(labelled(fmt.Sprint(n), madeOn(1+n).Add(time.Hour))) })
	}
	for day := range 50 {
		if _, err := pass(s, &repository{}, day).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if p := record(t, s); p.Kept != 1 {
		t.Errorf("got %+v", p)
	}
}

// propose adds a proposal of the label "bug" to a record, which was made and ended as the fields of another one say.
func propose(t *testing.T, r *memory.Record, as memory.Proposal) {
	t.Helper()
	item, err := protocol.NewAction("add_label", map[string]any{"label": "bug"})
	if err != nil {
		t.Fatal(err)
	}
	n, ok := r.Propose(memory.Proposal{
		ID: as.ID, At: as.At, Expires: as.At.AddDate(0, 0, 30), Source: "crash", Pair: "rule:00ff",
		Action: item, Carrier: triage.CarrierComment, Confidence: protocol.ConfidenceHigh,
	})
	if !ok {
		t.Fatal("not proposed")
	}
	if as.State != memory.Pending {
		r.End(n, as.State, as.By, "", as.Ended)
	}
}

// TestPassAnswers checks that answers to proposals are counted, and that an accepted proposal which a person
// undid later counts against its pair.
func TestPassAnswers(t *testing.T) {
	t.Parallel()
	s := memory.New()
	states := map[int]memory.ProposalState{1: memory.Accepted, 2: memory.Rejected, 3: memory.Expired, 4: memory.Overtaken, 5: memory.Pending, 6: memory.Accepted}
	for issue, state := range states {
		change(t, s, issue, func(r *memory.Record) {
			propose(t, r, memory.Proposal{ID: fmt.Sprint(issue), At: madeOn(issue), Ended: madeOn(issue), State: state, By: "mona"})
			if state == memory.Accepted {
				r.Put(labelled("accepted", madeOn(issue)))
			}
		})
	}
	h := &repository{wrong: map[int]bool{6: true}, silent: map[int]bool{1: true}}
	for _, day := range []int{10, 25, 40} {
		if _, err := pass(s, h, day).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if p := record(t, s); p.Accepted != 1 || p.Rejected != 1 || p.Expired != 2 || p.Undone != 1 || p.Kept != 0 {
		t.Errorf("got %+v", p)
	}
}

// TestPassReset checks that outcomes before the date of a reset do not count.
func TestPassReset(t *testing.T) {
	t.Parallel()
	s := store(t, 30)
	p := pass(s, &repository{}, 24)
	if _, err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	p = pass(s, &repository{}, 60)
	p.Reset = func(k memory.PairKey, name string) time.Time {
		if k.Source != "rule:00ff" || name != "crash" {
			t.Errorf("got %+v %s", k, name)
		}
		return madeOn(20)
	}
	if _, err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := record(t, s); got.Kept != 11 || got.Before.Kept != 10 || !got.Granted.IsZero() {
		t.Errorf("got %+v", got)
	}
}

// TestPassUnreadable checks that a record which cannot be decoded grants nothing and stops nothing.
func TestPassUnreadable(t *testing.T) {
	t.Parallel()
	s := &unreadable{Agenda: store(t, 3), issue: 2}
	if _, err := pass(s, &repository{}, 60).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := record(t, s); p.Kept != 2 {
		t.Errorf("got %+v", p)
	}
	s.issue = memory.Repository
	if _, err := pass(s, &repository{}, 61).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "read the outcomes") {
		t.Errorf("got %v", err)
	}
}

// An unreadable store has a record of a newer version.
type unreadable struct {
	memory.Agenda

	issue int
}

func (u *unreadable) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	switch {
	case issue != u.issue:
	case issue == memory.Repository:
		return memory.Record{}, memory.ErrNewer
	default:
		return memory.Record{}, memory.ErrBroken
	}
	return u.Agenda.Load(ctx, repo, issue)
}

// TestKeyOf checks what separates pairs.
func TestKeyOf(t *testing.T) {
	t.Parallel()
	var got []string
	for _, a := range []judge.Act{{Type: "add_label", Value: "Bug"}, {Type: "assign", Value: "mona"}, {Type: "close_issue"}, {Type: "set_type", Value: "Task"}, {Type: "lock", Value: "spam"}} {
		k := judge.KeyOf("agent:bot", a)
		got = append(got, strings.Join([]string{k.Source, k.Action, k.Value}, " "))
	}
	if want := []string{"agent:bot add_label bug", "agent:bot assign ", "agent:bot close_issue ", "agent:bot set_type task", "agent:bot lock "}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// A coarse agenda is one that knows only the first time at which anything was done on an issue, as a
// database does. It counts the records that are loaded.
type coarse struct {
	memory.Agenda

	loads int
}

func (c *coarse) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	if issue != memory.Repository {
		c.loads++
	}
	return c.Agenda.Load(ctx, repo, issue)
}

func (c *coarse) Acted(ctx context.Context, repo string, after time.Time) ([]memory.Due, bool, error) {
	first, complete, err := c.Agenda.Acted(ctx, repo, time.Time{})
	list, _, _ := c.Agenda.Acted(ctx, repo, after)
	var out []memory.Due
	for _, d := range first {
		if slices.ContainsFunc(list, func(l memory.Due) bool { return l.Issue == d.Issue }) {
			if d.At.Before(after) {
				d.At = after
			}
			out = append(out, d)
		}
	}
	memory.SortDue(out)
	return out, complete, err
}

// TestPassLoads checks that a pass over many records loads only as many as it judges, and those of issues
// on which Foreman acted before and after the last pass.
func TestPassLoads(t *testing.T) {
	t.Parallel()
	const issues, again = 400, 7 // every seventh issue gets a second label 30 days later
	s := &coarse{Agenda: store(t, issues)}
	for issue := again; issue <= issues; issue += again {
		change(t, s, issue, func(r *memory.Record) {
			task := labelled(fmt.Sprint("again-", issue), madeOn(issue+30))
			task.Actions[0].Values = []string{"later"}
			r.Put(task)
		})
	}
	h := &repository{}
	var waiting, passes int
	for waiting = issues; waiting > 0; passes++ {
		s.loads = 0
		p := pass(s, h, 2*issues)
		p.Reads = 40 // for 20 issues
		sum, err := p.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// Within 30 days, 5 issues got their first label before the pass and wait for their second one.
		if most := p.Reads/2 + 30/again + 2 + p.Reads/2/again + 1; s.loads > most {
			t.Fatalf("pass %d loads %d records, want at most %d", passes, s.loads, most)
		}
		if waiting = sum.Waiting; passes > 2*issues {
			t.Fatal("the passes do not end")
		}
	}
	if p := record(t, s); p.Kept != issues {
		t.Errorf("got %+v, want %d kept", p.Tally, issues)
	}
	r, err := s.Load(t.Context(), "org/repo", memory.Repository)
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := r.Outcomes.Pair(memory.PairKey{Source: "rule:00ff", Action: "add_label", Value: "later"}); p.Unjudged != issues/again {
		t.Errorf("got %+v, want %d unjudged", p.Tally, issues/again)
	}
}

// TestPassChanges checks that a pass reports when a pair gets its permission and when it loses it.
func TestPassChanges(t *testing.T) {
	t.Parallel()
	const earned = "day 34: crash granted since day 34: 20 of 20 were right, bound 0.88"
	for _, tt := range []struct {
		name  string
		wrong map[int]bool
		reset int // the day of a date in the policy, from day 40 on; 0: none
		want  []string
	}{
		{"undone", map[int]bool{41: true, 43: true, 44: true, 46: true}, 0, []string{earned, "day 60: crash lost since day 60: people undid or rejected 4 of the last 10"}},
		{"reset", nil, 33, []string{earned, "day 40: crash lost since day 33: the policy resets it", "day 66: crash granted since day 66: 20 of 20 were right, bound 0.88"}},
		{"right", nil, 0, []string{earned}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, h := store(t, 60), &repository{wrong: tt.wrong}
			var got []string
			for day := range 80 {
				p := pass(s, h, day)
				if tt.reset > 0 && day >= 40 {
					p.Reset = func(memory.PairKey, string) time.Time { return start.AddDate(0, 0, tt.reset) }
				}
				sum, err := p.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range sum.Changes {
					change := map[bool]string{true: "granted", false: "lost"}[c.Granted]
					got = append(got, fmt.Sprintf("day %d: %s %s since day %d: %s", day, c.Name, change, int(c.At.Sub(start).Hours())/24, c.Why))
					if c.PairKey != (memory.PairKey{Source: "rule:00ff", Action: "add_label", Value: "bug"}) {
						t.Errorf("got the pair %+v", c.PairKey)
					}
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestPassOldOutage checks that an outage gives up no issue, however old its actions are.
func TestPassOldOutage(t *testing.T) {
	t.Parallel()
	s, h := store(t, 40), &repository{down: true}
	for day := 300; day < 305; day++ {
		if sum, err := pass(s, h, day).Run(t.Context()); err == nil || sum.Waiting != 40 {
			t.Fatalf("got %+v, %v", sum, err)
		}
	}
	h.down = false
	if sum, err := pass(s, h, 310).Run(t.Context()); err != nil || sum.Judged != 40 {
		t.Errorf("got %+v, %v", sum, err)
	}
}
