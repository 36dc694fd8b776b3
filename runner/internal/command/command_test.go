package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner/internal/command"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// ofRules reports whether rules define a command: here only "deploy".
func ofRules(name string) bool { return name == "deploy" }

// names formats the names of commands, with the text that follows them.
func names(c command.Commands) string {
	var list []string
	for _, cmd := range c.List {
		list = append(list, strings.TrimSpace(cmd.Name+" "+cmd.Rest))
	}
	return strings.Join(list, ", ")
}

// TestCommands parses comments, and checks which commands each permission allows.
func TestCommands(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body, permission string
		list, refused, reason  string // after Permit
		empty, mute            bool   // before Permit
	}{
		{"none", "hello", "admin", "", "", "mona asked for ", true, false},
		{"why", "/foreman why", "write", "why", "", "mona asked for why", false, true},
		{"case", "/Foreman WHY", "maintain", "why", "", "mona asked for why", false, true},
		{"several", "/foreman triage\n/foreman why\n/foreman triage", "admin", "triage, why", "", "mona asked for triage, why", false, true},
		{"undo of a task", "/foreman undo abcd", "write", "undo abcd", "", "mona asked for undo", false, true},
		{"the same undo twice", "/foreman undo abcd\n/foreman undo abcd", "write", "undo abcd", "", "mona asked for undo", false, true},
		{"two undos", "/foreman undo\n/foreman undo abcd", "write", "undo", "undo", "mona asked for undo; only the first /foreman undo of a comment is carried out", false, true},
		{"two undos and more", "/foreman undo a\n/foreman why\n/foreman undo b", "write", "undo a, why", "undo", "mona asked for undo, why; only the first", false, true},
		{"two undos and the first again", "/foreman undo a\n/foreman undo b\n/foreman undo a", "write", "undo a", "undo", "mona asked for undo; only the first", false, true},
		{"answers on several lines", "/foreman accept 1\n/foreman accept 2 3", "write", "accept 1 2 3", "", "", false, true},
		{"an answer with the permission triage", "/foreman accept 1\n/foreman triage", "triage", "accept 1", "triage", "/foreman triage is refused", false, true},
		{"a command of rules", "/foreman deploy", "write", "", "", "mona asked for ", true, false},
		{"a command of rules beside ours", "/foreman deploy\n/foreman why", "write", "why", "", "mona asked for why", false, true},
		{"unknown", "/foreman coffee", "write", "", "coffee", "unknown command /foreman coffee; available: why, triage, undo, accept, reject, deploy, coffees; did you mean coffees?", false, false},
		{"unknown beside ours", "/foreman why\n/foreman coffee\n/foreman tea", "write", "why", "coffee", "unknown command /foreman coffee", false, true},
		{"quoted", "> /foreman why", "write", "", "", "mona asked for ", true, false},
		{"triage permission", "/foreman why", "triage", "", "why", "/foreman why is refused: mona has the permission triage, and commands need write", false, true},
		{"reader", "/foreman undo\n/foreman undo x", "read", "", "undo", "/foreman undo is refused", false, true},
		{"unknown of a reader", "/foreman coffee", "read", "", "", "", false, false},
		{"unknown beside ours of a reader", "/foreman coffee\n/foreman why", "none", "", "why", "/foreman why is refused", false, true},
		{"strange permission", "/foreman why", strings.Repeat("x", 99), "", "why", "has the permission " + strings.Repeat("x", 39) + "…,", false, true},
		{"no permission", "/foreman why", "", "", "why", "is refused", false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := command.Parse(tt.body, ofRules)
			if c.Empty() != tt.empty || c.Mute != tt.mute {
				t.Errorf("empty %v, mute %v", c.Empty(), c.Mute)
			}
			before := names(c)
			got := c.Permit("mona", tt.permission, []string{"deploy", "coffees"})
			if names(got) != tt.list || got.Refused != tt.refused ||
				!strings.Contains(got.Reason, tt.reason) || (tt.reason == "") != (got.Reason == "") {
				t.Errorf("got %q, refused %q: %s", names(got), got.Refused, got.Reason)
			}
			if got.Mute != (tt.list != "") || names(c) != before {
				t.Errorf("mute %v; the commands before are %q", got.Mute, names(c))
			}
			for _, name := range []string{command.Why, command.Triage, command.Undo} {
				if got.Has(name) != strings.Contains(tt.list, name) {
					t.Errorf("has %s: %v", name, got.Has(name))
				}
			}
		})
	}
}

func TestOnlyWhy(t *testing.T) {
	t.Parallel()
	tests := []struct {
		body string
		want bool
	}{
		{"/foreman why", true},
		{" \n/foreman WHY please \n", true},
		{"/foreman why\nI am against it", false},
		{"/foreman why\n/foreman why", false},
		{"/foreman undo", false},
		{"why", false},
		{"", false},
	}
	for _, tt := range tests {
		if got := command.OnlyWhy(tt.body); got != tt.want {
			t.Errorf("%q: got %v", tt.body, got)
		}
	}
}

// task returns a task in which each rule added a label; "" is an agent.
func task(id string, minute int, label string, by string) memory.Task {
	return memory.Task{
		ID: id, At: time.Date(2026, 4, 10, 8, minute, 0, 0, time.UTC),
		Actions: []memory.Action{{Type: "add_label", Values: []string{label}, Rule: by, Result: triage.Done}},
	}
}

func TestFindTask(t *testing.T) {
	t.Parallel()
	commented := memory.Task{ID: "cccc0000", Actions: []memory.Action{{Type: "comment", Result: triage.Done}}}
	canceled := task("dddd0000", 4, "x", "r")
	canceled.Actions = append(canceled.Actions, memory.Action{Index: 1, Type: "remove_label", Values: []string{"x"}, Result: triage.Done})
	opened := memory.Task{ID: "eeee0000", Actions: []memory.Action{{Type: "reopen_issue", Result: triage.Done}}}
	all := []memory.Task{task("aaaa0000", 1, "a", "r"), task("aaaa1111", 2, "b", ""), commented, canceled, opened, task("ffff0000", 5, "c", "/undo")}
	tests := []struct {
		name  string
		tasks []memory.Task
		rest  string
		want  string // id of the task, or a part of the reason why there is none
	}{
		{"the last that can be reverted", all, "", "aaaa1111"},
		{"not what was changed since", append(all[:2:2], task("bbbb0000", 3, "B", "/undo")), "", "aaaa0000"},
		{"none", all[2:], "", "no task of ours on this issue has an action"},
		{"no record", nil, "", "no task of ours on this issue has an action"},
		{"by id", all, "cccc0000", "cccc0000"},
		{"by the beginning of the id", all, "ffff and more", "ffff0000"},
		{"in quotes and capitals", all, "`AAAA1`", "aaaa1111"},
		{"of several", all, "aaaa", "the ids of 2 tasks begin with `aaaa`"},
		{"of none", all, "9999", "has an id that begins with `9999`"},
		{"too short", all, "aaa", "has an id that begins with `aaa`"},
		{"no id", all, "please!", "has an id that begins with `please!`"},
		{"a long one", all, strings.Repeat("z", 99), "`" + strings.Repeat("z", 39) + "…`"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, why := command.FindTask(memory.Record{Tasks: tt.tasks}, nil, tt.rest)
			if (why == "") != (got.ID == tt.want) || why != "" && !strings.Contains(why, tt.want) {
				t.Errorf("got %q, %q, want %q", got.ID, why, tt.want)
			}
		})
	}
	// Tasks after the comment cannot be meant.
	later := func(t memory.Task) bool { return t.ID == "aaaa1111" }
	if got, why := command.FindTask(memory.Record{Tasks: all[:2]}, later, ""); got.ID != "aaaa0000" || why != "" {
		t.Errorf("got %q, %q", got.ID, why)
	}
}

func TestUndoAnswer(t *testing.T) {
	t.Parallel()
	made := func(name string) history.Made {
		return history.Made{Outcome: outcome.Outcome{Thing: outcome.Label, Name: name, There: true}}
	}
	step := func(v triage.Verdict, reason string) plan.Step {
		return plan.Step{ActionResult: triage.ActionResult{Verdict: v, Reason: reason}}
	}
	done := task("aaaa0000", 1, "a", "r")
	done.Event = "issues.opened"
	done.Actions = append(done.Actions,
		memory.Action{Type: "comment", Result: triage.Done}, memory.Action{Type: "comment", Result: triage.Done},
		memory.Action{Type: "lock", Result: triage.Done}, memory.Action{Type: "react", Result: triage.Failed})
	tests := []struct {
		name     string
		task     memory.Task
		reversal history.Reversal
		steps    []plan.Step
		want     string
	}{
		{
			"everything", done, history.Reversal{Made: []history.Made{made("a"), made("b")}, Left: []string{"the rest stays"}},
			[]plan.Step{step(triage.Do, ""), step(triage.Refuse, "policy says no")},
			"Undo of task `aaaa0000` (`issues.opened`, 2026-04-10 08:01 UTC):\n\n" +
				"- the label `a` is removed\n- the label `b` stays as it is: policy says no\n- the rest stays\n- cannot be undone: `comment`, `lock`\n",
		},
		{
			"nothing left", task("aaaa0000", 1, "a", "r"), history.Reversal{}, nil,
			"Undo of task `aaaa0000` (2026-04-10 08:01 UTC):\n\n- everything that it did was changed since by other tasks\n",
		},
	}
	for _, tt := range tests {
		if got := command.UndoAnswer(tt.task, tt.reversal, tt.steps); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestExplain renders each outcome of a rule.
func TestExplain(t *testing.T) {
	t.Parallel()
	rule := func(id string, o rules.Outcome, why *rules.Why, err string) rules.RuleWhy {
		return rules.RuleWhy{RuleTrace: rules.RuleTrace{ID: id, Outcome: o, Error: err}, Why: why}
	}
	cond := &rules.Why{Text: "a   and\nb", Value: "false", Parts: []rules.Why{{Text: "a", Value: "false"}, {Text: "b", Value: "not reached", Idle: true}, {Text: "c", Error: "boom"}}}
	tests := []struct {
		name string
		list []rules.RuleWhy
		room int
		want []string
		not  []string
	}{
		{"none", nil, 1000, []string{"There are no rules."}, nil},
		{
			"each", []rules.RuleWhy{
				rule("fires", rules.Matched, nil, ""), rule("false", rules.False, cond, ""), rule("cut", rules.Cut, nil, ""),
				rule("old", rules.Unknown, nil, "the age is\nunknown"), rule("broken", rules.Failed, nil, "no such\nname"), rule("deaf", rules.NotListed, nil, ""),
			}, 10_000,
			[]string{
				"1 of 6 rules would fire", "+ fires  fires\n", "- false  does not fire\n", "  false  a and b\n", "    (not reached)  b\n", "    ! boom  c\n",
				"- cut  does not fire: an earlier rule stops\n", "? old  is unknown, so it does nothing: the age is unknown\n",
				"! broken  fails, so it does nothing: no such name\n", "Not listening to newly opened issues: 1.",
			},
			[]string{"deaf", "not listed"},
		},
		{"no room", []rules.RuleWhy{rule("a", rules.Matched, nil, ""), rule("b", rules.Matched, nil, "")}, 30, []string{"2 of 2", "+ a", "not listed here: 1;"}, []string{"+ b"}},
		{"no room at all", []rules.RuleWhy{rule("a", rules.Matched, nil, "")}, 0, []string{"1 of 1", "not listed here: 1;"}, []string{"<details>"}},
		{"a long one before a short one", []rules.RuleWhy{rule("a", rules.False, cond, ""), rule("b", rules.Matched, nil, "")}, 60, []string{"1 of 2", "not listed here: 2;"}, []string{"+ b"}},
		{"a long line", []rules.RuleWhy{rule("a", rules.False, &rules.Why{Text: strings.Repeat("é", 300), Value: "v"}, "")}, 10_000, []string{strings.Repeat("é", 200) + "…"}, []string{strings.Repeat("é", 201)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := command.Explain(tt.list, tt.room)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is missing from\n%s", want, got)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(got, not) {
					t.Errorf("%q is in\n%s", not, got)
				}
			}
		})
	}
}
