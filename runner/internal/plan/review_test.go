package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/testkit/golden"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// maxReads returns how often a review may ask for data: five times, once more for the comment that
// each step hides and for the pull request of which a review is requested, and a last time, when it
// needs nothing.
func maxReads(p Plan) int {
	n := 6
	requests := false
	for _, s := range p.Steps {
		switch s.Effect.(type) { //nolint:gochecksumtype // the others read no data of their own
		case effect.HideComment:
			n++
		case effect.RequestReview:
			requests = true
		}
	}
	if requests {
		n++
	}
	return n
}

// TestReview reviews the plan of every file in testdata/review. It compares the data that the
// review needs, one read after another, and the verdicts. The parts of a case:
//
//	setup     one instruction per line:
//	          decision TYPE                 default: label_and_respond
//	          event [label=L] [assignee=L] [milestone=T] [type=N] [closed] [locked] [author=L]
//	                [updated=48h] [comments=N] [pull]
//	                                        the issue in the event
//	          now …                         the current issue; default: as in the event
//	          resumed, fresh, read, remembers, asks
//	                                        see [Attempt]
//	          ledger INDEX STATE [VALUE…]   an entry in the journal of an earlier attempt
//	          rules ID…                     the existing rules, for the journal
//	          scope NAME, nonce NAME
//	          earlier TASK…                 tasks of earlier decisions on the same event
//	          said HH:MM ACTOR [ASSOCIATION]
//	                                        the comment that caused the event
//	          requested NAME…               the requested reviewers of the pull request
//	          untouched                     nothing has happened since the issue was opened
//	          remembered LABEL…             the host remembers the labels
//	          quiet                         the event must not be answered with a comment
//	          unread PART                   the review must not need this part
//	actions   source and action: "-" is an agent, "!ID" a rule that may override people,
//	          "&ID" a rule with together
//	policy    the section policy of a configuration
//	timeline  "HH:MM ACTOR KIND [association=MEMBER] TEXT" of April 10th 2026, or "D HH:MM …" of D
//	          days before; "…" in the first line: not complete. \n is a line break, $TASK the task
//	comments  "AUTHOR TEXT", or "hidden AUTHOR TEXT"; "…": too many
//	record    "task ID HH:MM BY TYPE VALUE…" with "+TYPE" for a deferred action, "never LABEL",
//	          "closing RULE TASK HH:MM [vetoed]", "rebuilt …" for a task from the timeline, "full"
//	labels    the labels of the repository
//
// The current time is noon.
func TestReview(t *testing.T) {
	t.Parallel()
	golden.Each(t, "testdata/review", *update, func(t *testing.T, a *golden.Case) {
		c := readReview(t, a)
		made := c.plan()
		seen, needs := c.seen(t, made)
		reviewed := Review(made, c.attempt, seen)
		if again := Review(made, c.attempt, seen); !reflect.DeepEqual(reviewed, again) { //nolint:govet // the errors are the same values
			t.Errorf("the second review differs:\n%s\nand\n%s", showReview(reviewed), showReview(again))
		}
		if !reflect.DeepEqual(made, readReview(t, a).plan()) { //nolint:govet // the errors are the same values
			t.Error("the review changed the plan that it was given")
		}
		for i := range c.unread {
			if strings.Contains(needs, c.unread[i]) {
				t.Errorf("it asked for %s", c.unread[i])
			}
		}
		a.Want(t, "want", needs+showReview(reviewed))
	})
}

// A reviewCase is one test file.
type reviewCase struct {
	input   Input
	attempt Attempt
	entries []memory.Entry
	rules   []string
	unread  []string

	now      triage.Issue
	timeline triage.Timeline
	comments Comments
	record   memory.Record
	pull     triage.PullRequest
	labels   []string

	remembered []string // labels that the host remembers
}

var noon = time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC)

const reviewTask = "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d"

func readReview(t *testing.T, a *golden.Case) *reviewCase {
	t.Helper()
	c := &reviewCase{
		input: Input{MayComment: true, CommentID: 5, Issue: triage.Issue{Number: 7, State: "open", Author: "octocat"}},
		attempt: Attempt{Now: noon, Identity: history.Identity{
			Ref: triage.Ref{Owner: "octo", Repo: "hello", Number: 7}, Task: reviewTask, Login: "hubot[bot]",
		}},
		timeline: triage.Timeline{Complete: true},
	}
	c.input.Decision.Message.Decision = protocol.LabelAndRespond
	cfg, err := config.Parse("policy.yml", []byte("version: 1\npolicy:\n  allow_close: true\n"+string(a.Get("policy"))), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.input.Policy = cfg.Policy
	c.record = readRecord(t, string(a.Get("record")))
	c.readActions(t, string(a.Get("actions")))
	now := ""
	for line := range strings.Lines(string(a.Get("setup"))) {
		if verb, rest, _ := strings.Cut(strings.TrimSpace(line), " "); verb == "now" {
			now = rest
			continue
		}
		c.setUp(t, strings.Fields(line))
	}
	c.now = c.input.Issue
	if now != "" {
		c.now = issueOf(t, strings.Fields(now))
	}
	c.readTimeline(t, string(a.Get("timeline")))
	c.readComments(string(a.Get("comments")))
	c.labels = strings.Fields(string(a.Get("labels")))
	return c
}

func (c *reviewCase) setUp(t *testing.T, f []string) {
	t.Helper()
	switch f[0] {
	case "decision":
		c.input.Decision.Message.Decision = protocol.DecisionType(f[1])
	case "event":
		c.input.Issue = issueOf(t, f[1:])
	case "resumed":
		c.attempt.Resumed = true
	case "fresh":
		c.attempt.Fresh = true
	case "untouched":
		c.attempt.Untouched = true
	case "remembered":
		c.remembered = f[1:]
	case "read":
		c.attempt.Read = true
	case "uncommented": // the event has no comment with commands
		c.input.CommentID = 0
	case "remembers":
		c.attempt.Remembers = true
	case "asks":
		c.attempt.UsesMemory = true
	case "scope":
		c.attempt.Scope = f[1]
	case "earlier":
		c.attempt.Earlier = f[1:]
	case "nonce":
		c.attempt.Nonce = f[1]
	case "said":
		at, rest := clockOf(t, f[1:])
		c.attempt.Said = triage.TimelineEvent{Kind: "commented", At: at, Actor: rest[0], Association: strings.Join(rest[1:], "")}
	case "quiet":
		c.input.MayComment = false
	case "unread":
		c.unread = append(c.unread, f[1])
	case "rules":
		c.rules = f[1:]
	case "requested":
		for _, name := range f[1:] {
			if slug, team := strings.CutPrefix(name, "team/"); team {
				c.pull.RequestedTeams = append(c.pull.RequestedTeams, slug)
			} else {
				c.pull.RequestedReviewers = append(c.pull.RequestedReviewers, name)
			}
		}
	case "ledger":
		if c.entries == nil {
			for i, a := range c.input.Decision.Message.Actions {
				c.entries = append(c.entries, memory.Entry{Index: i, Hash: memory.HashAction(a), Rule: c.input.Decision.Source(i).ID(), State: triage.Planned})
			}
		}
		i, err := strconv.Atoi(f[1])
		if err != nil {
			t.Fatal(err)
		}
		c.entries[i].State, c.entries[i].Values, c.entries[i].URL = triage.State(f[2]), f[3:], "https://ledger/"+f[1]
	default:
		t.Fatalf("setup: unknown line %q", f)
	}
}

func issueOf(t *testing.T, fields []string) triage.Issue {
	t.Helper()
	i := triage.Issue{Number: 7, State: "open", Author: "octocat"}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		switch name {
		case "label":
			i.Labels = append(i.Labels, value)
		case "assignee":
			i.Assignees = append(i.Assignees, value)
		case "milestone":
			i.Milestone = value
		case "type":
			i.Type = value
		case "author":
			i.Author = value
		case "closed":
			i.State = "closed"
		case "locked":
			i.Locked = true
		case "pull":
			i.PullRequest = true
		case "updated":
			ago, err := time.ParseDuration(value)
			if err != nil {
				t.Fatal(err)
			}
			i.UpdatedAt = noon.Add(-ago)
		case "comments":
			n, err := strconv.Atoi(value)
			if err != nil {
				t.Fatal(err)
			}
			i.Comments = n
		case "open":
		default:
			t.Fatalf("unknown field %q of an issue", f)
		}
	}
	return i
}

func (c *reviewCase) readActions(t *testing.T, src string) {
	t.Helper()
	for line := range strings.Lines(src) {
		who, action, _ := strings.Cut(strings.TrimSpace(line), " ")
		var item protocol.ActionItem
		if err := item.UnmarshalJSON([]byte(action)); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		id, override := strings.CutPrefix(strings.TrimPrefix(who, "-"), "!")
		id, together := strings.CutPrefix(id, "&")
		source := triage.ParseSource(id)
		source.OverrideHumans, source.Together = override, together
		d := &c.input.Decision
		d.Message.Actions, d.Sources = append(d.Message.Actions, item), append(d.Sources, source)
	}
}

// clockOf parses "HH:MM" of the current day, or "D HH:MM" of D days before. rest is the text after
// it.
func clockOf(t *testing.T, f []string) (at time.Time, rest []string) {
	t.Helper()
	days := 0
	if n, err := strconv.Atoi(f[0]); err == nil {
		days, f = n, f[1:]
	}
	at, err := time.Parse("2006-01-02 15:04", "2026-04-10 "+f[0])
	if err != nil {
		t.Fatal(err)
	}
	return at.AddDate(0, 0, -days), f[1:]
}

func (c *reviewCase) readTimeline(t *testing.T, src string) {
	t.Helper()
	unescape := strings.NewReplacer(`\n`, "\n", "$TASK", reviewTask)
	for line := range strings.Lines(src) {
		line = strings.TrimSpace(line)
		if size, cut := strings.CutPrefix(line, "…"); cut { // the number after "…" is the approximate number of events
			c.timeline.Complete = false
			c.timeline.Size, _ = strconv.Atoi(strings.TrimSpace(size))
			continue
		}
		at, rest := clockOf(t, strings.Fields(line))
		e := triage.TimelineEvent{ID: int64(len(c.timeline.Events) + 1), At: at, Actor: rest[0], Kind: rest[1], ActorType: "User"}
		if strings.HasSuffix(e.Actor, "[bot]") {
			e.ActorType = "Bot"
		}
		if assoc, ok := strings.CutPrefix(strings.Join(rest[2:min(3, len(rest))], ""), "association="); ok {
			e.Association, rest = assoc, slices.Delete(rest, 2, 3)
		}
		value := strings.Join(rest[2:], " ")
		e.Label, e.Assignee, e.Milestone, e.IssueType, e.Body = value, value, value, value, unescape.Replace(value)
		c.timeline.Events = append(c.timeline.Events, e)
	}
}

func (c *reviewCase) readComments(src string) {
	unescape := strings.NewReplacer(`\n`, "\n", "$TASK", reviewTask)
	for line := range strings.Lines(src) {
		if line = strings.TrimSpace(line); line == "…" {
			c.comments.Err = triage.ErrTruncated
			continue
		}
		line, hidden := strings.CutPrefix(line, "hidden ")
		author, body, _ := strings.Cut(line, " ")
		id := int64(len(c.comments.List) + 1)
		c.comments.List = append(c.comments.List, triage.Comment{ID: id, NodeID: fmt.Sprintf("node-%d", id), Hidden: hidden, Author: author, Body: unescape.Replace(body), URL: fmt.Sprintf("https://comments/%d", id)})
	}
}

func readRecord(t *testing.T, src string) memory.Record {
	t.Helper()
	var r memory.Record
	for line := range strings.Lines(src) {
		f := strings.Fields(strings.ReplaceAll(line, "$TASK", reviewTask))
		switch f[0] {
		case "task", "rebuilt":
			at, rest := clockOf(t, f[2:])
			typ, noted := strings.CutPrefix(rest[1], "+")
			action := memory.Action{Type: typ, Rule: strings.Trim(rest[0], "-"), Values: rest[2:], Result: triage.Done}
			if typ == protocol.ActionHideComment {
				action.Values, action.URL = nil, rest[2]
			}
			if noted {
				action.Result = triage.Noted
			}
			task := memory.Task{ID: f[1], At: at, By: "rules", Actions: []memory.Action{action}}
			if f[0] == "rebuilt" {
				task.By = memory.ByTimeline
			}
			r.Tasks = append(r.Tasks, task)
		case "never":
			r.Forbid(f[1])
		case "closing":
			due, rest := clockOf(t, f[3:])
			r.Closings = append(r.Closings, memory.ScheduledClose{Rule: strings.Trim(f[1], "-"), Task: f[2], Due: due, Vetoed: len(rest) > 0})
		case "full":
			for i := range memory.MaxNever {
				r.Forbid(fmt.Sprint("never-", i))
			}
			for i := range memory.MaxClosings {
				r.Closings = append(r.Closings, memory.ScheduledClose{Rule: fmt.Sprint("rule-", i), Due: noon})
			}
		default:
			t.Fatalf("record: unknown line %q", line)
		}
	}
	return r
}

func (c *reviewCase) plan() Plan {
	p := Make(c.input)
	if c.entries != nil {
		p = p.Resume(c.entries, c.rules)
	}
	return p
}

// seen reads the data that the review of a plan needs. It returns the data and the list of reads.
func (c *reviewCase) seen(t *testing.T, p Plan) (seen Snapshot, needs string) {
	t.Helper()
	var b strings.Builder
	for range maxReads(p) {
		need := Needs(p, c.attempt, seen)
		if need.Nothing() {
			return seen, b.String()
		}
		c.give(need, &seen)
		fmt.Fprintf(&b, "reads%s\n", showNeed(need))
	}
	t.Fatalf("it asks for more and more:\n%s", b.String())
	return seen, ""
}

func showNeed(n Need) string {
	var b strings.Builder
	for _, part := range []struct {
		wanted bool
		name   string
	}{{n.Issue, "issue"}, {n.Comments, "comments"}, {n.Timeline, "timeline"}, {n.Record, "record"}, {n.Pull, "pull"}, {n.Ours != nil, "ours:" + n.Key}} {
		if part.wanted {
			b.WriteString(" " + part.name)
		}
	}
	for _, name := range n.Labels {
		fmt.Fprintf(&b, " label:%s", name)
	}
	for _, name := range n.Former {
		fmt.Fprintf(&b, " former:%s", name)
	}
	return b.String()
}

// give reads the data of one Need.
func (c *reviewCase) give(need Need, seen *Snapshot) {
	if need.Issue {
		seen.Issue = &c.now
	}
	if need.Comments {
		seen.Comments = &c.comments
	}
	if need.Timeline {
		seen.Timeline = &c.timeline
	}
	if need.Record {
		seen.Record = &c.record
	}
	if need.Pull {
		seen.Pull = &c.pull
	}
	if need.Ours != nil {
		if seen.Ours == nil {
			seen.Ours = map[string]*Comments{}
		}
		seen.Ours[need.Key] = &Comments{Err: c.comments.Err}
		for _, comment := range slices.Backward(c.comments.List) {
			seen.Ours[need.Key].List = slices.Insert(seen.Ours[need.Key].List, 0, comment)
			if need.Ours(comment) {
				break
			}
		}
	}
	if seen.Labels == nil {
		seen.Labels, seen.Assumed = map[string]string{}, map[string]string{}
	}
	for _, name := range slices.Concat(need.Former, need.Labels) {
		key := text.Fold(name)
		if slices.Contains(c.remembered, name) && !slices.Contains(need.Former, name) {
			seen.Labels[key], seen.Assumed[key] = name, "L_"+name
			continue
		}
		seen.Labels[key] = ""
		delete(seen.Assumed, key)
		for _, l := range c.labels {
			if text.Fold(l) == text.Fold(name) {
				seen.Labels[text.Fold(name)] = l
			}
		}
	}
}

// showReview formats a reviewed plan: one line per step.
func showReview(p Plan) string {
	var b strings.Builder
	for i := range p.Steps {
		s := &p.Steps[i]
		fmt.Fprintf(&b, "%d. %s by %s: %s", s.Index+1, s.Action.Type, s.Source, s.Verdict)
		if s.Landed {
			b.WriteString(", landed")
		}
		if s.Deferred {
			b.WriteString(", for now")
		}
		if s.Verdict == triage.Do {
			fmt.Fprintf(&b, " %q", s.Written())
		}
		if e, hides := s.Effect.(effect.HideComment); hides && s.Verdict == triage.Do {
			b.WriteString(" " + e.ID)
		}
		if s.URL != "" {
			b.WriteString(" at " + s.URL)
		}
		if s.Reason != "" {
			b.WriteString(": " + s.Reason)
		}
		b.WriteString("\n")
	}
	if p.Resumed {
		b.WriteString("resumed\n")
	}
	for _, w := range p.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	return b.String()
}

// TestLost checks how long a scheduled close may be overdue before it counts as lost.
func TestLost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		overdue time.Duration
		vetoed  bool
		want    bool
	}{
		{-time.Hour, false, false},
		{48 * time.Hour, false, false},
		{48*time.Hour + 1, false, true},
		{480 * time.Hour, true, false},
	}
	for _, tt := range tests {
		if got := Lost(memory.ScheduledClose{Due: noon.Add(-tt.overdue), Vetoed: tt.vetoed}, noon); got != tt.want {
			t.Errorf("%s overdue, vetoed %v: got %v", tt.overdue, tt.vetoed, got)
		}
	}
}

// TestWants checks which outcomes a decision contains.
func TestWants(t *testing.T) {
	t.Parallel()
	c := reviewCase{}
	c.readActions(t, `- {"type": "add_labels", "labels": ["Bug", "docs"]}
- {"type": "close_issue", "after": "3d"}
- {"type": "comment", "body": "bug"}
`)
	tests := []struct {
		outcome outcome.Outcome
		want    bool
	}{
		{outcome.Outcome{Thing: outcome.Label, Name: "bug", There: true}, true},
		{outcome.Outcome{Thing: outcome.Label, Name: "bug"}, false},
		{outcome.Outcome{Thing: outcome.Label, Name: "other", There: true}, false},
		{outcome.Outcome{Thing: outcome.Assignee, Name: "bug", There: true}, false},
		{outcome.Outcome{Thing: outcome.Openness}, true},
		{outcome.Outcome{Thing: outcome.Openness, There: true}, false},
		{outcome.Outcome{Thing: outcome.Scheduled, There: true}, false},
	}
	for _, tt := range tests {
		if got := c.input.Decision.Wants(tt.outcome); got != tt.want {
			t.Errorf("%v: got %v", tt.outcome, got)
		}
	}
}

// TestWith appends actions to decisions of each type.
func TestWith(t *testing.T) {
	t.Parallel()
	item := func(typ string) protocol.ActionItem { return protocol.ActionItem{Type: typ} }
	undo := triage.Source{Command: "undo"}
	tests := []struct {
		decision, want protocol.DecisionType
		actions        string
	}{
		{protocol.Skip, protocol.LabelAndRespond, "c by command undo, d by command undo"},
		{protocol.LabelAndRespond, protocol.LabelAndRespond, "a by rule r, b by agent, c by command undo, d by command undo"},
		{protocol.Close, protocol.Close, "a by rule r, b by agent, c by command undo, d by command undo"},
		{protocol.Escalate, protocol.Escalate, "a by rule r, b by agent, c by command undo, d by command undo"},
	}
	for _, tt := range tests {
		d := Decision{
			Message: protocol.DecisionMessage{Decision: tt.decision, Actions: append(make([]protocol.ActionItem, 0, 9), item("a"), item("b"))},
			Sources: append(make([]triage.Source, 0, 9), triage.Source{Rule: "r"}),
		}
		if got := d.With(undo); !reflect.DeepEqual(got, d) {
			t.Errorf("%s with nothing: got %v", tt.decision, got)
		}
		got, other := d.With(undo, item("c"), item("d")), d.With(triage.Source{}, item("x"), item("y"))
		var list []string
		for i, a := range got.Message.Actions {
			list = append(list, a.Type+" by "+got.Source(i).String())
		}
		if s := strings.Join(list, ", "); s != tt.actions || got.Message.Decision != tt.want {
			t.Errorf("%s: got %s of %s, want %s of %s", tt.decision, got.Message.Decision, s, tt.want, tt.actions)
		}
		if n := len(other.Message.Actions); other.Message.Actions[n-1].Type != "y" || d.Message.Decision != tt.decision || len(d.Message.Actions) != 2 || len(d.Sources) != 1 {
			t.Errorf("%s: the decision was changed: %v, and %v", tt.decision, d, other)
		}
	}
}

// TestSpellingRefused checks that the policy also applies to the repository's spelling of a label,
// because the host decides which names mean the same label.
func TestSpellingRefused(t *testing.T) {
	t.Parallel()
	add, err := protocol.NewAction(protocol.ActionAddLabel, map[string]any{"label": "ship"})
	if err != nil {
		t.Fatal(err)
	}
	made := Make(Input{
		Decision: Decision{Message: protocol.DecisionMessage{Decision: protocol.LabelAndRespond, Actions: []protocol.ActionItem{add}}},
		Issue:    triage.Issue{Number: 7, State: "open"}, Policy: policy.Policy{Labels: policy.Labels{Deny: []string{"deploy*"}}},
	})
	timeline := triage.Timeline{Complete: true}
	got := Review(made, Attempt{Now: noon}, Snapshot{Timeline: &timeline, Labels: map[string]string{"ship": "deploy-now"}}).Steps[0]
	if want := "deploy-now: policy.labels.deny has deploy*"; got.Verdict != triage.Skip || got.Reason != want {
		t.Errorf("got %s: %s, want %s: %s", got.Verdict, got.Reason, triage.Skip, want)
	}
}
