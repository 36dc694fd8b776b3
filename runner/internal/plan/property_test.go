package plan

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// TestReviewProperties checks properties of every review, on random cases.
func TestReviewProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1500) {
		checkReview(t, seed, 0)
		if t.Failed() {
			return
		}
	}
}

// FuzzReview checks properties of every review.
func FuzzReview(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(checkReview)
}

func checkReview(t *testing.T, seed, more uint64) {
	t.Helper()
	build := func() *reviewCase { return randomReview(t, rand.New(rand.NewPCG(seed, more))) }
	c, same := build(), build()
	made := c.plan()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("seed %d, %d: "+format, append([]any{seed, more}, args...)...)
	}
	seen, needs := c.seen(t, made)
	reviewed := Review(made, c.attempt, seen)

	if again := Review(made, c.attempt, seen); !reflect.DeepEqual(reviewed, again) { //nolint:govet // the errors are the same values
		fail("the second review differs:\n%s\nand\n%s", showReview(reviewed), showReview(again))
	}
	if need := Needs(made, c.attempt, seen); !need.Nothing() {
		fail("it asks again for%s", showNeed(need))
	}
	if !reflect.DeepEqual(made, same.plan()) { //nolint:govet // the errors are the same values
		fail("the review changed the plan that it was given")
	}
	if !reflect.DeepEqual(c, same) { //nolint:govet // the errors are sentinels
		fail("the review changed what it was given to see")
	}
	for i := range reviewed.Steps {
		before, after := &made.Steps[i], &reviewed.Steps[i]
		switch {
		case before.Verdict != triage.Do && !reflect.DeepEqual(before, after): //nolint:govet // the errors are the same values
			fail("step %d was decided, and changed:\n%s\n%s", i, showReview(made), showReview(reviewed))
		case after.Verdict == triage.Refuse && before.Verdict != triage.Refuse:
			fail("step %d was refused by the review", i)
		case after.Verdict == triage.Skip && after.Reason == "":
			fail("step %d is skipped for no reason", i)
		case after.Deferred && after.Verdict != triage.Skip:
			fail("step %d is deferred and not skipped", i)
		case before.Landed && (!after.Landed || after.Verdict != triage.Do):
			fail("step %d has landed, and is %s now", i, after.Verdict)
		case after.Verdict == triage.Do && !after.Landed && after.Effect == nil:
			fail("step %d is to be carried out, and has no effect", i)
		}
		if after.Effect != nil {
			wanted := outcome.NamesOf(effect.Values(before.Effect))
			if extra := wanted.NotIn(effect.Values(after.Effect)); len(extra) > 0 {
				fail("step %d writes %q, which the plan does not", i, extra)
			}
			if names, ok := after.Effect.(effect.AddLabels); ok && after.Verdict == triage.Do && !after.Landed && len(names.Names) == 0 {
				fail("step %d adds no label", i)
			}
		}
	}
	// If the memory may be read, the order in which data is read does not matter.
	if all := c.everything(made); c.attempt.UsesMemory || !c.attempt.Remembers {
		if need := Needs(made, c.attempt, all); !need.Nothing() {
			fail("everything was read, and it asks for%s", showNeed(need))
		}
		if eager := Review(made, c.attempt, all); !reflect.DeepEqual(reviewed, eager) { //nolint:govet // the errors are the same values
			fail("with everything read before, after %q:\n%s\nand\n%s", needs, showReview(reviewed), showReview(eager))
		}
	}
	// The times of the issue lead to the same verdicts as its timeline.
	if c.attempt.Read && c.timeline.Complete {
		unsure, all := c.attempt, seen
		unsure.Read, all.Timeline = false, &c.timeline
		if long := Review(made, unsure, all); !long.Resumed && !reflect.DeepEqual(reviewed, long) { //nolint:govet // the errors are the same values
			fail("with the timeline, after %q:\n%s\nand\n%s", needs, showReview(reviewed), showReview(long))
		}
	}
	if c.attempt.Fresh && !c.attempt.Resumed && strings.Contains(needs, "timeline") &&
		!strings.Contains(showReview(made), "comment") && (c.input.Issue.State != "closed" || !strings.Contains(showReview(made), "reopen")) {
		fail("it reads the timeline of a fresh issue: %s", needs)
	}
}

// everything returns all data that can be read.
func (c *reviewCase) everything(p Plan) Snapshot {
	seen := Snapshot{Issue: &c.now, Comments: &c.comments, Timeline: &c.timeline, Record: &c.record, Pull: &c.pull, Ours: map[string]*Comments{}}
	var need Need
	for _, e := range c.timeline.Events { // a label that a person removed may have an earlier name
		need.Labels = append(need.Labels, e.Label)
	}
	for _, s := range p.Steps {
		if e, ok := s.Effect.(effect.AddLabels); ok {
			need.Labels = append(need.Labels, e.Names...)
		}
		if e, ok := s.Effect.(effect.HideComment); ok {
			seen.Ours[e.Key], seen.Ours["agent/"] = &c.comments, &c.comments
		}
	}
	c.give(need, &seen)
	return seen
}

// randomReview makes a random case. It uses few names, so that the parts of a case affect each
// other.
func randomReview(t *testing.T, r *rand.Rand) *reviewCase {
	t.Helper()
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	label := func() string { return pick("a", "A", "b", "c", "p0", "\u200bd") }
	login := func() string { return pick("mona", "Mona", "hubot[bot]", "octocat", "") }
	rule := func() string { return pick("", "r", "s", "/undo", "/why", "r/else_undo") }
	some := func() bool { return r.IntN(3) == 0 }
	at := func() time.Time { return noon.Add(-time.Duration(r.IntN(50)*r.IntN(50)) * time.Minute) }
	marker := func() string {
		m := history.Marker{Task: pick(reviewTask, "t1"), Comment: r.IntN(2), Key: pick("", "", "sticky"), Once: pick("", "hi"), By: pick("", "", "why", "undo"), Run: pick("", "n")}
		return pick("hello\n\n"+m.String(), m.Mark("hello"), "hello", "/foreman why")
	}
	issue := func() triage.Issue {
		i := triage.Issue{Number: 7, State: pick("open", "closed"), Author: login(), Milestone: pick("", "v1"), Type: pick("", "Bug"), Locked: some(), CreatedAt: at()}
		for range r.IntN(3) {
			i.Labels, i.Assignees = append(i.Labels, label()), append(i.Assignees, login())
		}
		return i
	}
	c := &reviewCase{
		input: Input{Issue: issue(), MayComment: r.IntN(4) > 0, AgentMayComment: some(), CommentID: int64(r.IntN(2))},
		now:   issue(),
		attempt: Attempt{
			Identity: history.Identity{Ref: triage.Ref{Owner: "octo", Repo: "hello", Number: 7}, Task: reviewTask, Login: "hubot[bot]", Nonce: pick("", "n")},
			Now:      noon, Resumed: some(), Fresh: some(), Read: some(), Remembers: !some(), UsesMemory: !some(),
		},
		timeline: triage.Timeline{Complete: !some()}, rules: []string{"r"}, labels: []string{"A", "b", "P0"},
	}
	c.input.Decision.Message.Decision = protocol.DecisionType(pick("label_and_respond", "label_and_respond", "close", "skip", "escalate"))
	c.input.Policy = policy.Policy{
		AllowClose: !some(), CreateLabels: some(), RejectUnknown: some(), AgentMay: [][]string{nil, {"add_label", "comment", "never_again", "lock"}}[r.IntN(2)],
		Limits:          map[string]int{"comment": r.IntN(4), "add_label": r.IntN(9), "close_issue": 2, "never_again": 9},
		Labels:          policy.Labels{Deny: []string{"p*"}},
		CommentInterval: time.Duration(r.IntN(3)-1) * time.Hour, MaxComments: r.IntN(4) - 1, MaxWrites: r.IntN(6) - 1,
	}
	if some() {
		c.input.NoNotes = "no memory"
	}
	for range r.IntN(7) {
		c.randomAction(t, r, label, login, rule)
	}
	if some() {
		for i, a := range c.input.Decision.Message.Actions {
			c.entries = append(c.entries, memory.Entry{
				Index: i, Hash: memory.HashAction(a), Rule: c.input.Decision.Source(i).ID(), URL: "https://ledger", Values: []string{label()},
				State: triage.State(pick("planned", "trying", "done", "skipped", "failed")),
			})
		}
	}
	when := at()
	for range r.IntN(9) {
		when = when.Add(time.Duration(r.IntN(3)) * time.Minute)
		c.timeline.Events = append(c.timeline.Events, triage.TimelineEvent{
			ID: int64(r.IntN(5)), At: when, Actor: login(), ActorType: pick("User", "Bot", ""),
			Kind: pick("labeled", "unlabeled", "assigned", "unassigned", "closed", "reopened", "commented", "commented", "locked", "unlocked",
				"milestoned", "demilestoned", "issue_type_changed", "renamed"),
			Label: label(), Assignee: login(), Milestone: "v1", IssueType: "Bug", Body: marker(),
		})
	}
	for _, e := range c.timeline.Events {
		c.input.Issue.UpdatedAt = e.At
		if e.Kind == "commented" {
			c.input.Issue.Comments++
		}
	}
	for range r.IntN(4) {
		c.comments.List = append(c.comments.List, triage.Comment{ID: int64(1 + r.IntN(9)), NodeID: "n", Hidden: some(), Author: login(), Body: marker(), URL: "https://comment"})
	}
	if some() {
		c.comments = Comments{Err: triage.ErrTruncated}
	}
	for range r.IntN(4) {
		c.record.Tasks = append(c.record.Tasks, memory.Task{ID: pick("t1", "t2", reviewTask), At: at(), By: pick("rules", memory.ByTimeline), Actions: []memory.Action{{
			Type:   pick("add_label", "remove_label", "close_issue", "reopen_issue", "comment", "never_again", "allow_again", "keep_open"),
			Values: []string{pick("a", "b", "hi", "r")}, Rule: rule(), Result: triage.State(pick("done", "noted")),
		}}})
	}
	for range r.IntN(3) {
		c.record.Forbid(label())
		c.record.Closings = append(c.record.Closings, memory.ScheduledClose{Rule: pick("", "r", "s"), Task: pick("t1", reviewTask), Due: at().Add(time.Duration(r.IntN(9)) * time.Hour), Vetoed: some()})
	}
	return c
}

// randomAction adds a random action to the decision of a case.
func (c *reviewCase) randomAction(t *testing.T, r *rand.Rand, label, login, rule func() string) {
	t.Helper()
	specs := protocol.ActionSpecs()
	n := r.IntN(len(specs) + 5)
	typ, params := "make_coffee", map[string]any{}
	switch {
	case n < len(specs):
		typ = specs[n].Name
	case n == len(specs):
		typ = effect.ActionAllowAgain
	case n == len(specs)+1:
		typ = effect.ActionKeepOpen
	case n == len(specs)+2:
		typ = protocol.ActionAddLabels
	case n == len(specs)+3:
		typ = protocol.ActionComment
	}
	spec, _ := outcome.SpecOf(typ)
	for _, p := range spec.Params {
		if !p.Required && r.IntN(2) == 0 {
			continue
		}
		var value any
		switch {
		case p.Enum != nil:
			value = p.Enum[r.IntN(len(p.Enum))]
		case p.Kind == protocol.KindInt:
			value = r.IntN(9)
		case p.Kind == protocol.KindDuration:
			value = "3d"
		case p.Kind == protocol.KindMarkdown:
			value = "hello"
		case p.Kind == protocol.KindTexts && p.Name == "assignees":
			value = []string{login() + "x", login() + "y"}
		case p.Kind == protocol.KindTexts:
			value = []string{label(), label(), label()}
		case p.Name == "once", p.Name == "key":
			value = []string{"hi", "no key"}[r.IntN(8)/7]
		case p.Name == "milestone":
			value = "v" + fmt.Sprint(r.IntN(3))
		case p.Name == "rule":
			value = "r"
		default:
			value = label()
		}
		params[p.Name] = value
	}
	item, err := protocol.NewAction(typ, params)
	if err != nil {
		t.Fatal(err)
	}
	source := triage.ParseSource(rule())
	source.OverrideHumans = r.IntN(5) == 0
	d := &c.input.Decision
	d.Message.Actions, d.Sources = append(d.Message.Actions, item), append(d.Sources, source)
}

// TestMakeProperties checks properties of every plan, on random cases.
func TestMakeProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1500) {
		c := randomReview(t, rand.New(rand.NewPCG(seed, 1)))
		p := Make(c.input)
		if !reflect.DeepEqual(p, Make(c.input)) { //nolint:govet // the errors are the same values
			t.Fatalf("seed %d: the second plan differs", seed)
		}
		used, unknown := map[string]int{}, false
		for i := range p.Steps {
			s := &p.Steps[i]
			e, adds := s.Effect.(effect.AddLabels)
			switch {
			case s.Index != i || s.State != "" || s.Landed || s.Deferred:
				t.Fatalf("seed %d: step %d begins as %+v", seed, i, s)
			case s.Verdict != triage.Do && s.Reason == "":
				t.Fatalf("seed %d: step %d has no reason", seed, i)
			case s.Verdict != triage.Do:
			case unknown:
				t.Fatalf("seed %d: step %d stands behind an unknown action", seed, i)
			case s.Effect == nil:
				t.Fatalf("seed %d: step %d has no effect", seed, i)
			case adds:
				used[protocol.ActionAddLabel] += len(e.Names)
			case !s.Answers() && !outcome.Cancels(s.Action.Type):
				used[s.Action.Type]++
			}
			unknown = unknown || s.Unknown
			if s.Verdict != triage.Do {
				continue
			}
			for _, name := range effect.Values(s.Effect) {
				switch s.Effect.(type) {
				case effect.AddLabels, effect.RemoveLabels:
					if !c.input.Policy.MayLabel(name) {
						t.Fatalf("seed %d: step %d touches the label %q", seed, i, name)
					}
				default: // other effects have no labels
				}
			}
			if s.RecordOnly() && c.input.NoNotes != "" || unknown && c.input.Policy.RejectUnknown {
				t.Fatalf("seed %d: step %d is to be carried out", seed, i)
			}
		}
		limits := c.input.Policy.EffectiveLimits()
		for typ, n := range used {
			if n > limits[typ] {
				t.Fatalf("seed %d: %d of %s, limit %d", seed, n, typ, limits[typ])
			}
		}
	}
}
