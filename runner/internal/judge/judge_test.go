package judge_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/judge"
	"github.com/org/foreman-action/triage"
)

var update = flag.Bool("update", false, "rewrite the wanted verdicts")

// start is when Foreman acted. Times in the cases are relative to it.
var start = time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC)

const bot = "foreman[bot]"

// TestJudge judges each case of testdata at three times: an hour, 13 days and 15 days after the action. A case has these lines:
//
//	act TYPE VALUE          the action; a comment has the page "our-comment"
//	plan TYPE VALUE         the action, which shadow mode suppressed
//	author NAME ASSOCIATION of the issue; without it: alice NONE
//	now FIELD VALUE         the issue at the time of judging: labels, assignees, milestone, type, state with its reason, locked
//	long                    the timeline has earlier events that were not read
//	TIME ACTOR KIND VALUE   an event; TIME is as in time.ParseDuration, after the action
func TestJudge(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		changed := false
		for i := 0; i+1 < len(a.Files); i += 2 {
			c, want := a.Files[i], &a.Files[i+1]
			got := verdicts(t, string(c.Data))
			if got == string(want.Data) {
				continue
			}
			if *update {
				want.Data, changed = []byte(got), true
				continue
			}
			t.Errorf("%s, %s: got\n%s\nwant\n%s", name, c.Name, got, want.Data)
		}
		if changed {
			if err := os.WriteFile(name, txtar.Format(a), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// verdicts returns a line for each time of judging.
func verdicts(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	for _, after := range []time.Duration{time.Hour, 13 * 24 * time.Hour, 15 * 24 * time.Hour} {
		h, act := parse(t, text, start.Add(after))
		v, ok := judge.Judge(h, act, 14*24*time.Hour, start.Add(after))
		if !ok {
			fmt.Fprintf(&b, "%s: not yet\n", after)
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n", after, strings.TrimSpace(fmt.Sprintf("%s %s %s", v.Outcome, v.At.Sub(start), v.By)))
	}
	return b.String()
}

// parse reads a case, with the events up to a time.
func parse(t *testing.T, text string, now time.Time) (h history.History, act judge.Act) {
	t.Helper()
	h.Bot, h.Complete = bot, true
	h.Issue = triage.Issue{Number: 7, Author: "alice", Association: "NONE", State: "open", CreatedAt: start.Add(-time.Hour)}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		rest := func(n int) string { return strings.Join(f[min(n, len(f)):], " ") }
		switch f[0] {
		case "act", "plan":
			act = judge.Act{Type: f[1], Value: rest(2), At: start, Planned: f[0] == "plan"}
			if act.Type == "comment" {
				act.URL, act.Value = "our-comment", ""
			}
		case "author":
			h.Issue.Author, h.Issue.Association = f[1], rest(2)
		case "long":
			h.Complete = false
		case "now":
			switch f[1] {
			case "labels":
				h.Issue.Labels = strings.Split(rest(2), ",")
			case "assignees":
				h.Issue.Assignees = f[2:]
			case "milestone":
				h.Issue.Milestone = rest(2)
			case "type":
				h.Issue.Type = rest(2)
			case "state":
				h.Issue.State, h.Issue.StateReason = f[2], rest(3)
			case "locked":
				h.Issue.Locked = true
			default:
				t.Fatalf("unknown field %s", f[1])
			}
		default:
			d, err := time.ParseDuration(f[0])
			if err != nil {
				t.Fatal(err)
			}
			e := triage.TimelineEvent{At: start.Add(d), Actor: f[1], ActorType: "User", Kind: f[2]}
			switch e.Kind {
			case "labeled", "unlabeled":
				e.Label = rest(3)
			case "assigned", "unassigned":
				e.Assignee = rest(3)
			case "milestoned", "demilestoned":
				e.Milestone = rest(3)
			case "issue_type_added", "issue_type_changed", "issue_type_removed":
				e.IssueType = rest(3)
			case "commented":
				e.URL, e.Association = "our-comment", ""
				if e.Actor != bot {
					e.URL, e.Association = "", rest(3)
				}
				e.Hidden = rest(3) == "hidden"
			}
			if !e.At.After(now) {
				h.Events = append(h.Events, e)
			}
		}
	}
	return h, act
}

// TestActs checks which changes of a recorded action are judged.
func TestActs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		action memory.Action
		want   string
	}{
		{memory.Action{Type: "add_label", Values: []string{"bug"}, Result: triage.Done}, "add_label bug"},
		{memory.Action{Type: "add_labels", Values: []string{"bug", "docs"}, Result: triage.Done, Rule: "r"}, "add_label bug, add_label docs"},
		{memory.Action{Type: "close_issue", Values: []string{"not_planned"}, Result: triage.Done, Rule: "r"}, "close_issue "},
		{memory.Action{Type: "comment", Result: triage.Done, URL: "u"}, "comment "},
		{memory.Action{Type: "set_type", Values: []string{"Bug"}, Result: triage.Done}, "set_type Bug"},
		{memory.Action{Type: "add_label", Values: []string{"bug"}, Result: triage.Already}, ""},
		{memory.Action{Type: "add_label", Values: []string{"bug"}, Result: triage.Suggested}, ""},
		{memory.Action{Type: "add_label", Values: []string{"bug"}, Result: triage.Done, Rule: "/undo"}, ""},
		{memory.Action{Type: "react", Values: []string{"eyes"}, Result: triage.Done}, ""},
		{memory.Action{Type: "update_comment", Result: triage.Done}, ""},
		{memory.Action{Type: "never_again", Values: []string{"bug"}, Result: triage.Noted}, ""},

		{memory.Action{Type: "add_label", Values: []string{"bug"}, Result: triage.Planned}, "planned add_label bug"},
		{memory.Action{Type: "add_labels", Values: []string{"bug", "docs"}, Result: triage.Planned}, "planned add_label bug, planned add_label docs"},
		{memory.Action{Type: "remove_label", Values: []string{"bug"}, Result: triage.Planned, Rule: "r/else_undo"}, "planned remove_label bug"},
		{memory.Action{Type: "close_issue", Values: []string{"not_planned"}, Result: triage.Planned}, "planned close_issue not_planned"},
		{memory.Action{Type: "close_issue", Result: triage.Planned}, "planned close_issue "},
		{memory.Action{Type: "add_label", Values: []string{"bug"}, Result: triage.Planned, Rule: "/undo"}, ""},
		{memory.Action{Type: "mark_duplicate", Values: []string{"3"}, Result: triage.Planned}, ""},
		{memory.Action{Type: "assign", Values: []string{"mona"}, Result: triage.Planned}, ""},
		{memory.Action{Type: "comment", Result: triage.Planned}, ""},
		{memory.Action{Type: "lock", Result: triage.Planned}, ""},
	}
	for _, tt := range tests {
		var got []string
		for _, a := range judge.Acts(tt.action, start) {
			got = append(got, map[bool]string{true: "planned "}[a.Planned]+a.Type+" "+a.Value)
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.action, s, tt.want)
		}
	}
}
