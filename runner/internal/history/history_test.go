package history

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// opening is minute 0 of the timelines in tests.
var opening = time.Date(2026, 4, 10, 8, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return opening.Add(time.Duration(n) * time.Minute) }

// historyOf returns the history of an issue that hubot opened in minute 1. The actor "-" is a
// deleted account. A timeline that begins with "…" is not complete.
func historyOf(t *testing.T, src string) History {
	t.Helper()
	src, cut := strings.CutPrefix(src, "…")
	tl := timelineOf(t, strings.ReplaceAll(strings.TrimSpace(src), "; ", "\n"))
	tl.Complete = !cut
	for i := range tl.Events {
		if e := &tl.Events[i]; e.Actor == "-" {
			e.Actor, e.ActorType = "", ""
		}
	}
	return History{Timeline: tl, Bot: rebuildBot, Issue: triage.Issue{Author: "hubot", Association: "NONE", CreatedAt: minute(1)}}
}

var (
	labelThere = outcome.Outcome{Thing: outcome.Label, Name: "bug", There: true}
	labelGone  = outcome.Outcome{Thing: outcome.Label, Name: "bug"}
)

// TestRemovedBefore checks which labels and assignees must not be added because a person removed
// them.
func TestRemovedBefore(t *testing.T) {
	t.Parallel()
	login := outcome.Outcome{Thing: outcome.Assignee, Name: "mona", There: true}
	tests := []struct {
		name, timeline string
		outcome        outcome.Outcome
		want           string // empty: adding is permitted
	}{
		{"nothing happened", "", labelThere, ""},
		{"a person removed it", "2 mona labeled bug; 3 mona unlabeled Bug", labelThere, "mona removed it on 2026-04-10; Foreman does not override people (override_humans)"},
		{"and put it back", "2 mona unlabeled bug; 3 mona labeled bug", labelThere, ""},
		{"another label", "2 mona unlabeled docs", labelThere, ""},
		{"we removed it", "2 mona labeled bug; 3 github-actions[bot] unlabeled bug", labelThere, ""},
		{"another program removed it", "2 mona labeled bug; 3 dependabot[bot] unlabeled bug", labelThere, ""},
		{"a deleted account removed it", "2 - unlabeled bug", labelThere, "somebody removed it"},
		{"a person, then we", "2 mona unlabeled bug; 3 github-actions[bot] labeled bug; 4 github-actions[bot] unlabeled bug", labelThere, ""},
		{"the author removed it at once", "1 hubot unlabeled bug", labelThere, "hubot removed it"},
		{"too long to find", "… 9 mona commented x", labelThere, "too long to find people's changes"},
		{"too long, and the end is known", "… 9 mona labeled bug", labelThere, ""},
		{"too long, and removed", "… 9 mona unlabeled bug", labelThere, "mona removed it"},
		{"empty and not complete", "…", labelThere, "too long to find people's changes"},
		{"unassigned", "2 mona assigned mona; 3 mona unassigned MONA", login, "mona removed it"},
		{"another one unassigned", "3 mona unassigned hubot", login, ""},
		{"a label of that name", "3 mona unlabeled mona", login, ""},
		{"a long login", "3 " + strings.Repeat("m", 60) + " unlabeled bug", labelThere, strings.Repeat("m", 39) + "… removed it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := historyOf(t, tt.timeline).RemovedBefore(tt.outcome, "removed it")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestAddedBack checks which labels must stay because a person added them again. Labels that an
// issue form added may be removed.
func TestAddedBack(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, timeline, association string
		want                        string
	}{
		{"nothing happened", "", "NONE", ""},
		{"a person added it", "3 mona labeled bug", "NONE", "mona added it"},
		{"we added it", "3 github-actions[bot] labeled bug", "NONE", ""},
		{"a person removed it", "3 mona labeled bug; 4 mona unlabeled bug", "NONE", ""},
		{"the form added it", "1 hubot labeled bug", "NONE", ""},
		{"the form added it within a minute", "2 hubot labeled bug", "CONTRIBUTOR", ""},
		{"the author later", "3 hubot labeled bug", "NONE", "hubot added it"},
		{"a maintainer's own issue", "1 hubot labeled bug", "OWNER", "hubot added it"},
		{"a collaborator's own issue", "1 hubot labeled bug", "COLLABORATOR", "hubot added it"},
		{"somebody else at once", "1 mona labeled bug", "NONE", "mona added it"},
		{"the form, then a person", "1 hubot labeled bug; 4 mona unlabeled bug; 5 mona labeled bug", "NONE", "mona added it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := historyOf(t, tt.timeline)
			h.Issue.Association = tt.association
			got := h.AddedBack(labelGone, "added it")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	form := []struct {
		name, timeline, body string
		pull                 bool
		want                 string
	}{
		{"a maintainer through a form", "1 hubot labeled bug", "### Version\n\n1.2\n", false, ""},
		{"whoever the event names", "1 mona labeled bug", "### Version\n\n1.2\n", false, ""},
		{"by hand after the form", "2 hubot labeled bug", "### Version\n\n1.2\n", false, "hubot added it"},
		{"taken off and put on after the form", "1 hubot labeled bug; 2 hubot unlabeled bug; 3 hubot labeled bug", "### Version\n", false, "hubot added it"},
		{"without a form", "1 hubot labeled bug", "It panics.\n\n### Version\n", false, "hubot added it"},
		{"a pull request", "1 hubot labeled bug", "### Version\n\n1.2\n", true, "hubot added it"},
	}
	for _, tt := range form {
		h := historyOf(t, tt.timeline)
		h.Issue.Association, h.Issue.Body, h.Issue.PullRequest = "OWNER", tt.body, tt.pull
		if got := h.AddedBack(labelGone, "added it"); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	h := historyOf(t, "1 hubot labeled bug")
	h.Issue.CreatedAt = time.Time{}
	if h.AddedBack(labelGone, "added it") == "" {
		t.Error("the time of the opening is not known: nothing can have come with the issue")
	}
}

func TestOverride(t *testing.T) {
	t.Parallel()
	types := Kinds("issue_type_added", "issue_type_changed", "issue_type_removed")
	tests := []struct {
		name, timeline, kind string
		match                func(triage.TimelineEvent) bool
		want                 bool
	}{
		{"milestone removed", "2 mona milestoned v1; 3 mona demilestoned v1", "demilestoned", Milestone("V1"), true},
		{"another milestone removed", "3 mona demilestoned v2", "demilestoned", Milestone("v1"), false},
		{"any milestone set", "3 mona milestoned v2", "milestoned", Milestone(""), true},
		{"milestone set by a form", "1 hubot milestoned v2", "milestoned", Milestone(""), false},
		{"type decided", "3 mona issue_type_changed Bug", "", types, true},
		{"type removed", "3 mona issue_type_removed Bug", "", types, true},
		{"type by a form", "1 hubot issue_type_added Bug", "", types, false},
		{"type by us", "3 mona issue_type_added Bug; 4 github-actions[bot] issue_type_changed Task", "", types, false},
		{"unlocked", "3 mona unlocked", "unlocked", Kinds("locked", "unlocked"), true},
		{"unlocked and locked", "3 mona unlocked; 4 mona locked", "unlocked", Kinds("locked", "unlocked"), false},
	}
	for _, tt := range tests {
		if got := historyOf(t, tt.timeline).Override(tt.kind, "did it", tt.match); (got != "") != tt.want {
			t.Errorf("%s: got %q", tt.name, got)
		}
	}
}

func TestSince(t *testing.T) {
	t.Parallel()
	all := func(triage.TimelineEvent) bool { return true }
	tests := []struct {
		name, timeline string
		counts         func(triage.TimelineEvent) bool
		want           string
	}{
		{"before", "4 mona commented x", all, ""},
		{"in that minute", "5 mona commented x", all, "mona commented on 2026-04-10"},
		{"later", "5 mona commented x; 6 hubot commented y", all, "hubot commented on 2026-04-10"},
		{"by us", "6 github-actions[bot] commented x", all, ""},
		{"by a program", "6 dependabot[bot] commented x", all, ""},
		{"of another kind", "6 mona reopened", all, ""},
		{"not counted", "6 mona commented skip", func(e triage.TimelineEvent) bool { return e.Body != "skip" }, ""},
		{"by a deleted account", "6 - commented x", all, "somebody commented on 2026-04-10"},
	}
	for _, tt := range tests {
		if got := historyOf(t, tt.timeline).Since(minute(5), "commented", "commented", tt.counts); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		timeline string
		want     bool
	}{
		{"", true},
		{"6 mona reopened", true},
		{"… 4 mona reopened", true},
		{"… 5 mona reopened", true},
		{"… 6 mona reopened", false},
		{"…", true},
	}
	for _, tt := range tests {
		if got := historyOf(t, tt.timeline).Covers(minute(5)); got != tt.want {
			t.Errorf("%q: got %v", tt.timeline, got)
		}
	}
	onlyCommits := historyOf(t, "…")
	onlyCommits.Size = 600
	if onlyCommits.Covers(minute(5)) {
		t.Error("a long timeline of which only commits were read counts as covered")
	}
}

func TestOurs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		bot, actor, kind string
		ours, human      bool
	}{
		{"hubot", "HuBot", "User", true, false},
		{"hubot", "mona", "User", false, true},
		{"hubot", "", "", false, true},
		{"", "", "", false, true},
		{"", "mona", "User", false, true},
		{"hubot", "other", "Bot", false, false},
		{"hubot", "other[bot]", "", false, false},
	}
	for _, tt := range tests {
		h, e := History{Bot: tt.bot}, triage.TimelineEvent{Actor: tt.actor, ActorType: tt.kind}
		if h.Ours(e) != tt.ours || h.Human(e) != tt.human {
			t.Errorf("%q, seen by %q: ours %v, human %v", tt.actor, tt.bot, h.Ours(e), h.Human(e))
		}
	}
}

func TestCommented(t *testing.T) {
	t.Parallel()
	marked := func(task, scope string) string { return `x\n\n` + Marker{Task: task, Scope: scope}.String() }
	tests := []struct {
		name, timeline string
		want           bool
	}{
		{"ours", "2 github-actions[bot] commented " + marked("t", "s"), true},
		{"another task", "2 github-actions[bot] commented " + marked("u", "s"), false},
		{"another scope", "2 github-actions[bot] commented " + marked("t", ""), false},
		{"forged", "2 mona commented " + marked("t", "s"), false},
		{"no comment", "2 github-actions[bot] renamed " + marked("t", "s"), false},
	}
	for _, tt := range tests {
		if got := historyOf(t, tt.timeline).Commented("t", "s"); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}

// tasks returns a record for a text "task minute by type values…; …". All actions are done, or
// noted if their type has a "+".
func tasks(t *testing.T, src string) memory.Record {
	t.Helper()
	var r memory.Record
	for part := range strings.SplitSeq(src, "; ") {
		f := strings.Fields(part)
		if len(f) == 0 {
			continue
		}
		by := strings.Trim(f[2], "-")
		typ, recordOnly := strings.CutPrefix(f[3], "+")
		a := memory.Action{Type: typ, Rule: by, Result: triage.Done, Values: f[4:]}
		if recordOnly {
			a.Result = triage.Noted
		}
		at := minute(int(f[1][0] - '0'))
		if i := len(r.Tasks) - 1; i >= 0 && r.Tasks[i].ID == f[0] {
			a.Index = len(r.Tasks[i].Actions)
			r.Tasks[i].Actions = append(r.Tasks[i].Actions, a)
			continue
		}
		r.Tasks = append(r.Tasks, memory.Task{ID: f[0], At: at, Actions: []memory.Action{a}})
	}
	return r
}

// TestLastMade checks what tasks left behind, as "key there? task by", with "canceled".
func TestLastMade(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, record string
		skip         func(memory.Task) bool
		want         []string
	}{
		{"nothing", "", nil, nil},
		{"a label and a close", "t1 1 r add_label bug; t1 1 - close_issue", nil, []string{"label BUG there t1 r", "state gone t1"}},
		{"the last task counts", "t1 1 r add_label bug; t2 2 q remove_label Bug", nil, []string{"label BUG gone t2 q"}},
		{"canceled by itself", "t1 1 r add_label bug; t1 1 q remove_label bug", nil, []string{"label BUG gone t1 q canceled"}},
		{"canceled, and done again", "t1 1 r add_label bug; t1 1 q remove_label bug; t1 1 r add_label bug", nil, []string{"label BUG there t1 r"}},
		{"the same twice", "t1 1 r add_label bug; t1 1 q add_label bug", nil, []string{"label BUG there t1 q"}},
		{"later tasks move behind", "t1 1 r add_labels a b; t2 2 r remove_label a", nil, []string{"label B there t1 r", "label A gone t2 r"}},
		{"skipped tasks do not count", "t1 1 r add_label bug; t2 2 q remove_label bug", func(t memory.Task) bool { return t.ID == "t2" }, []string{"label BUG there t1 r"}},
		{"by undo", "t1 1 /undo remove_label bug", nil, []string{"label BUG gone t1 /undo undo"}},
		{"noted", "t1 1 r +close_issue; t2 2 - +never_again bug; t3 3 /undo +keep_open r", nil, []string{"never BUG there t2", "closing R gone t3 /undo undo"}},
		{"no trace", "t1 1 r comment x; t1 1 r set_milestone v1", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, m := range LastMade(tasks(t, tt.record), tt.skip) {
				line := strings.ToUpper(m.Key())
				line = strings.TrimSpace(strings.ToLower(line[:strings.IndexByte(line, ' ')]) + line[strings.IndexByte(line, ' '):])
				for _, part := range []struct {
					holds bool
					text  string
				}{{m.There, "there"}, {!m.There, "gone"}, {true, m.Task}, {m.By != "", m.By}, {m.Canceled, "canceled"}, {m.ByUndo(), "undo"}} {
					if part.holds {
						line += " " + part.text
					}
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLastMadeFailed checks that only actions that were carried out count.
func TestLastMadeFailed(t *testing.T) {
	t.Parallel()
	for _, result := range []triage.State{triage.Already, triage.Planned, triage.Skipped, triage.Refused, triage.Failed, triage.NotRun, ""} {
		r := memory.Record{Tasks: []memory.Task{{ID: "t", Actions: []memory.Action{{Type: "add_label", Values: []string{"a"}, Result: result}}}}}
		if list := LastMade(r, nil); len(list) != 0 {
			t.Errorf("%q: got %v", result, list)
		}
	}
}

// TestRevert checks that only outcomes that the issue still shows are reverted.
func TestRevert(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, record, timeline string
		issue                  triage.Issue
		items                  []string // the actions that revert it
		left                   []string // a part of each reason
	}{
		{
			"label", "t1 2 r add_label bug", "2 github-actions[bot] labeled bug", triage.Issue{Labels: []string{"Bug"}},
			[]string{`{"type":"remove_label","label":"bug"}`}, nil,
		},
		{"not there", "t1 2 r add_label bug", "2 github-actions[bot] labeled bug", triage.Issue{}, nil, []string{"the label `bug` was changed since"}},
		{
			"touched", "t1 2 r add_label bug", "2 github-actions[bot] labeled bug; 3 mona unlabeled bug; 4 mona labeled bug", triage.Issue{Labels: []string{"bug"}},
			nil, []string{"the label `bug` stays as it is: `mona` changed it on 2026-04-10"},
		},
		{
			"touched by a program", "t1 2 r add_label bug", "4 other[bot] labeled bug", triage.Issue{Labels: []string{"bug"}},
			nil, []string{"`other[bot]` changed it"},
		},
		{"too long to find", "t1 2 r add_label bug", "…", triage.Issue{Labels: []string{"bug"}}, nil, []string{"too long to find"}},
		{"no trace in the timeline", "t1 2 r add_label bug", "", triage.Issue{Labels: []string{"bug"}}, []string{`{"type":"remove_label","label":"bug"}`}, nil},
		{"removed", "t1 2 r remove_label bug", "2 github-actions[bot] unlabeled bug", triage.Issue{}, []string{`{"type":"add_label","label":"bug"}`}, nil},
		{"assigned", "t1 2 r assign mona", "", triage.Issue{Assignees: []string{"Mona"}}, []string{`{"type":"unassign","assignees":["mona"]}`}, nil},
		{"unassigned", "t1 2 r unassign mona", "", triage.Issue{}, []string{`{"type":"assign","assignees":["mona"]}`}, nil},
		{"closed", "t1 2 r close_issue", "2 github-actions[bot] closed", triage.Issue{State: "closed"}, []string{`{"type":"reopen_issue"}`}, nil},
		{"closed, opened, closed by a person", "t1 2 r close_issue", "2 github-actions[bot] closed; 3 mona reopened; 4 mona closed", triage.Issue{State: "closed"}, nil, []string{"the state of the issue stays as it is: `mona`"}},
		{
			"only the reason", "t1 3 r close_issue not_planned", "2 mona closed completed; 3 github-actions[bot] closed not_planned",
			triage.Issue{State: "closed"}, nil, []string{"it was closed before, and only the reason was changed"},
		},
		{
			"the reason of our own closing", "t1 2 r close_issue completed; t2 9 r close_issue not_planned",
			"2 github-actions[bot] closed completed; 9 github-actions[bot] closed not_planned",
			triage.Issue{State: "closed"}, nil, []string{"it was closed before, and only the reason was changed"},
		},
		{"closed, then the reason", "t1 2 r close_issue", "2 github-actions[bot] closed completed; 9 github-actions[bot] closed not_planned", triage.Issue{State: "closed"}, []string{`{"type":"reopen_issue"}`}, nil},
		{"duplicate", "t1 2 r mark_duplicate 3", "", triage.Issue{State: "closed"}, []string{`{"type":"reopen_issue"}`}, nil},
		{"opened", "t1 2 r reopen_issue", "", triage.Issue{State: "open"}, nil, []string{"the issue stays open: an undo never closes an issue"}},
		{"canceled by itself", "t1 2 r add_label bug; t1 2 r remove_label bug", "", triage.Issue{}, nil, nil},
		{
			"notes", "t1 2 r +close_issue; t1 2 r +never_again bug", "4 mona labeled bug", triage.Issue{},
			[]string{`{"type":"keep_open","rule":"r"}`, `{"type":"allow_again","label":"bug"}`}, nil,
		},
		{"notes that are gone", "t9 2 r +close_issue; t9 2 r +never_again docs", "", triage.Issue{}, nil, []string{"the scheduled close was changed since", "the record of the label `docs` was changed since"}},
		{"an agent's close", "t2 2 - +close_issue", "", triage.Issue{}, []string{`{"type":"keep_open"}`}, nil},
		{"notes that were canceled", "t1 2 r +keep_open r; t1 2 r +allow_again bug", "", triage.Issue{}, nil, nil},
		{"hostile name", "t1 2 r add_label `x`\u202e", "", triage.Issue{Labels: []string{"`x`\u202e"}}, []string{"remove_label"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := tasks(t, tt.record)
			r.Never = []string{"bug"}
			r.Closings = []memory.ScheduledClose{{Rule: "r", Task: "t1"}, {Rule: "", Task: "t2"}, {Rule: "vetoed", Task: "t3", Vetoed: true}}
			h := historyOf(t, tt.timeline)
			h.Issue.State, h.Issue.Labels, h.Issue.Assignees = tt.issue.State, tt.issue.Labels, tt.issue.Assignees
			made := LastMade(r, nil)
			got, err := h.Revert(r, made)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Items) != len(tt.items) || len(got.Made) != len(got.Items) || len(got.Left) != len(tt.left) {
				t.Fatalf("got %v, left %q; want %v, left %q", got.Items, got.Left, tt.items, tt.left)
			}
			for i, want := range tt.items {
				if !strings.Contains(got.Items[i].String(), want) {
					t.Errorf("got %s, want %s", got.Items[i], want)
				}
				if text := got.Made[i].Reverted(); text == "" || strings.Contains(text, "\u202e") {
					t.Errorf("reverted: %q", text)
				}
			}
			for i, want := range tt.left {
				if !strings.Contains(got.Left[i], want) {
					t.Errorf("left %q, want %q", got.Left[i], want)
				}
			}
		})
	}
}

// TestRevertWords checks the texts for people about each kind of thing.
func TestRevertWords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		thing             outcome.Thing
		there             bool
		subject, reverted string
	}{
		{outcome.Label, true, "the label `x`", "the label `x` is removed"},
		{outcome.Label, false, "the label `x`", "the label `x` is added again"},
		{outcome.Assignee, true, "the assignee `x`", "`x` is unassigned"},
		{outcome.Assignee, false, "the assignee `x`", "`x` is assigned again"},
		{outcome.Openness, false, "the state of the issue", "the issue is opened again"},
		{outcome.Forbidden, true, "the record of the label `x`", "the label `x` may be added again"},
		{outcome.Scheduled, true, "the scheduled close", "the scheduled close is canceled"},
	}
	for _, tt := range tests {
		m := Made{Outcome: outcome.Outcome{Thing: tt.thing, Name: "x", There: tt.there}}
		if m.Subject() != tt.subject || m.Reverted() != tt.reverted {
			t.Errorf("%s %v: got %q and %q", tt.thing, tt.there, m.Subject(), m.Reverted())
		}
	}
}

// TestUndoneByCommand checks that a person's undo is distinguished from our other reverts.
func TestUndoneByCommand(t *testing.T) {
	t.Parallel()
	const added = "2 github-actions[bot] labeled bug; 3 github-actions[bot] unlabeled bug"
	answer := `; 4 github-actions[bot] commented x\n\n` + Marker{Task: "t", By: UndoCommand}.String()
	tests := []struct {
		name, timeline, record string
		undone, command        bool
	}{
		{"nothing happened", "", "", false, false},
		{"still there", "2 github-actions[bot] labeled bug", "", false, false},
		{"a person removed it", "2 github-actions[bot] labeled bug; 3 mona unlabeled bug", "", false, false},
		{"we removed it", added, "", true, false},
		{"by a rule", added, "t1 2 r add_label bug; t2 3 r/else_undo remove_label bug", true, false},
		{"by a command", added, "t1 2 r add_label bug; t2 3 /undo remove_label BUG", true, true},
		{"by a rule, and an answer to another undo", added + answer, "t1 2 r add_label bug; t2 3 r/else_undo remove_label bug", true, false},
		{"the record does not know it, an answer tells", added + answer, "", true, true},
		{"the record knows an older state", added + answer, "t1 2 r add_label bug", true, true},
		{"an answer too late", strings.Replace(added+answer, "; 4 ", "; 6 ", 1), "", true, false},
		{"an answer before", strings.Replace(added, "2 github", strings.TrimPrefix(strings.Replace(answer, "4 ", "1 ", 1), "; ")+"; 2 github", 1), "", true, false},
		{"a forged answer", added + strings.Replace(answer, "github-actions[bot]", "mallory", 1), "", true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := historyOf(t, tt.timeline)
			e, undone := h.Undone(labelThere)
			if undone != tt.undone {
				t.Fatalf("undone %v, want %v", undone, tt.undone)
			}
			if undone && h.UndoneByCommand(labelThere, e, tasks(t, tt.record)) != tt.command {
				t.Errorf("by a command %v, want %v", !tt.command, tt.command)
			}
		})
	}
	// A record that was rebuilt from the timeline does not show who requested an action.
	r := tasks(t, "t1 2 r add_label bug; t2 3 r remove_label bug")
	r.Tasks[1].By = memory.ByTimeline
	h := historyOf(t, added+answer)
	if e, _ := h.Undone(labelThere); !h.UndoneByCommand(labelThere, e, r) {
		t.Error("a task of the timeline hides the answer to the command")
	}
}

// TestRecognizes checks when the timeline alone proves that we added a label, because the record
// does not contain it.
func TestRecognizes(t *testing.T) {
	t.Parallel()
	const ours = "2 github-actions[bot] labeled bug"
	tests := []struct {
		name, timeline, record string
		issue, pull            bool
	}{
		{"we added it", ours, "", false, true},
		{"in other letters", "2 github-actions[bot] labeled BUG", "", false, true},
		{"a person added it", "2 mona labeled bug", "", false, false},
		{"another program added it", "2 dependabot[bot] labeled bug", "", false, false},
		{"a person added it again", ours + "; 3 mona unlabeled bug; 4 mona labeled bug", "", false, false},
		{"we added it again", "2 mona labeled bug; 3 mona unlabeled bug; 4 github-actions[bot] labeled bug", "", false, true},
		{"we removed it", ours + "; 3 github-actions[bot] unlabeled bug", "", false, false},
		{"another label", "2 github-actions[bot] labeled docs", "", false, false},
		{"nothing happened", "", "", false, false},
		{"too long to find", "… 9 mona commented x", "", false, false},
		{"too long, and the end is known", "… 9 github-actions[bot] labeled bug", "", false, true},
		{"an agent added it, by the record", ours, "t1 2 - add_label bug", false, false},
		{"a rule added it, by the record", ours, "t1 2 r add_label bug", false, false},
		{"the record knows an older state", ours, "t1 1 r remove_label bug", false, true},
		{"the record knows another label", ours, "t1 1 r add_label docs", false, true},
		{"the record was rebuilt", ours, "timeline 2 - add_label bug", true, true},
		{"the record was rebuilt, and a person added it since", ours + "; 3 mona labeled bug", "timeline 2 - add_label bug", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := tasks(t, tt.record)
			for i := range r.Tasks {
				if r.Tasks[i].ID == "timeline" {
					r.Tasks[i].By = memory.ByTimeline
				}
			}
			h := historyOf(t, tt.timeline)
			issue := h.Recognizes(LastMade(r, nil), labelThere)
			h.Issue.PullRequest = true
			if pull := h.Recognizes(LastMade(r, nil), labelThere); issue != tt.issue || pull != tt.pull {
				t.Errorf("got %v on an issue and %v on a pull request, want %v and %v", issue, pull, tt.issue, tt.pull)
			}
		})
	}
}

// TestRecordHumans checks that changes by people before the readable part of a timeline are kept.
func TestRecordHumans(t *testing.T) {
	t.Parallel()
	before := []memory.Change{{At: minute(2), Type: protocol.ActionAddLabel, Values: []string{"old"}, By: "mona"}}
	tests := []struct {
		name, timeline string
		want           []string
	}{
		{"complete", "5 mona labeled new", []string{"new"}},
		{"complete and empty", "", nil},
		{"cut", "… 5 mona labeled new", []string{"old", "new"}},
		{"cut before what is known", "… 1 mona labeled new", []string{"new"}},
		{"no end", "…", []string{"old"}},
		{"ours, a form's, a comment", "1 hubot labeled form; 5 github-actions[bot] labeled ours; 6 mona commented x", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := tasks(t, "t1 0 r add_label x")
			r.Humans = slices.Clone(before)
			RecordHumans(historyOf(t, tt.timeline), &r)
			var got []string
			for _, c := range r.Humans {
				got = append(got, c.Values...)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
