package outcome_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// An example is an action with its effect.
type example struct {
	action     string // JSON
	effect     effect.Effect
	values     []string
	shown      bool // a state shows whether the issue has the effect
	recordOnly bool // only the memory's record changes
}

// examples returns an example for each type of action and each type of effect.
func examples() []example {
	return []example{
		{`{"type": "add_label", "label": "bug"}`, effect.AddLabels{Names: []string{"bug"}}, []string{"bug"}, true, false},
		{`{"type": "add_labels", "labels": ["bug", "docs", "BUG"]}`, effect.AddLabels{Names: []string{"bug", "docs"}}, []string{"bug", "docs"}, true, false},
		{`{"type": "remove_label", "label": "bug"}`, effect.RemoveLabels{Names: []string{"bug"}}, []string{"bug"}, true, false},
		{`{"type": "comment", "body": "hello"}`, effect.Comment{Body: "hello"}, nil, false, false},
		{`{"type": "comment", "body": " @mona\u202e", "once": "hi"}`, effect.Comment{Body: " @mona\u202e", Once: "hi"}, []string{"hi"}, false, false},
		{`{"type": "update_comment", "body": "hello"}`, effect.Comment{Body: "hello", Key: "sticky"}, nil, false, false},
		{`{"type": "update_comment", "body": "hello", "key": "k", "once": "ignored"}`, effect.Comment{Body: "hello", Key: "k"}, nil, false, false},
		{`{"type": "close_issue"}`, effect.Close{}, nil, true, false},
		{`{"type": "close_issue", "reason": "not_planned"}`, effect.Close{Reason: "not_planned"}, []string{"not_planned"}, true, false},
		{
			`{"type": "close_issue", "reason": "completed", "after": "3d", "veto": ["comment", "reopen"]}`,
			effect.Close{Reason: "completed", After: 72 * time.Hour, Veto: []string{"comment", "reopen"}}, []string{"completed"}, false, true,
		},
		{`{"type": "close_issue", "veto": ["comment"]}`, effect.Close{}, nil, true, false},
		{`{"type": "mark_duplicate", "of": 3}`, effect.MarkDuplicate{Of: 3}, []string{"3"}, true, false},
		{`{"type": "reopen_issue"}`, effect.Reopen{}, nil, true, false},
		{`{"type": "assign", "assignees": "mona"}`, effect.Assign{Logins: []string{"mona"}}, []string{"mona"}, true, false},
		{`{"type": "unassign", "assignees": ["mona", "hubot"]}`, effect.Unassign{Logins: []string{"mona", "hubot"}}, []string{"mona", "hubot"}, true, false},
		{`{"type": "set_milestone", "milestone": "v1"}`, effect.SetMilestone{Title: "v1"}, []string{"v1"}, true, false},
		{`{"type": "remove_milestone"}`, effect.SetMilestone{}, nil, true, false},
		{`{"type": "set_type", "issue_type": "Bug"}`, effect.SetType{Name: "Bug"}, []string{"Bug"}, true, false},
		{`{"type": "lock"}`, effect.Lock{}, nil, true, false},
		{`{"type": "lock", "reason": "spam"}`, effect.Lock{Reason: "spam"}, []string{"spam"}, true, false},
		{`{"type": "unlock"}`, effect.Unlock{}, nil, true, false},
		{`{"type": "react", "content": "+1"}`, effect.React{Content: "+1"}, []string{"+1"}, false, false},
		{`{"type": "never_again", "label": "bug"}`, effect.NeverAgain{Labels: []string{"bug"}}, []string{"bug"}, false, true},
		{`{"type": "hide_comment"}`, effect.HideComment{}, nil, false, false},
		{`{"type": "hide_comment", "key": "k"}`, effect.HideComment{Key: "k"}, nil, false, false},
		{
			`{"type": "request_review", "users": ["mona", "MONA"], "teams": "docs"}`,
			effect.RequestReview{Users: []string{"mona"}, Teams: []string{"docs"}}, []string{"mona", "team/docs"}, false, false,
		},
		{`{"type": "allow_again", "label": "bug"}`, effect.AllowAgain{Label: "bug"}, []string{"bug"}, false, true},
		{`{"type": "keep_open", "rule": "r"}`, effect.KeepOpen{Rule: "r"}, []string{"r"}, false, true},
		{`{"type": "keep_open"}`, effect.KeepOpen{}, nil, false, true},
	}
}

func item(t testing.TB, src string) protocol.ActionItem {
	t.Helper()
	var a protocol.ActionItem
	if err := a.UnmarshalJSON([]byte(src)); err != nil {
		t.Fatal(err)
	}
	return a
}

// states returns issues in many different states.
func states() []triage.Issue {
	return []triage.Issue{
		{State: "open"},
		{State: "closed"},
		{State: "closed", StateReason: "not_planned"},
		{State: "closed", StateReason: "duplicate"},
		{State: "closed", PullRequest: true},
		{}, // an unknown state counts as open
		{State: "open", Labels: []string{"Bug", "DOCS"}, Assignees: []string{"MONA", "hubot"}, Milestone: "v1", Type: "bug", Locked: true},
		{State: "closed", Labels: []string{"docs"}, Assignees: []string{"octocat"}, Milestone: "v2", Type: "Feature"},
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range examples() {
		a := item(t, tt.action)
		got, err := outcome.Parse(a)
		if err != nil {
			t.Errorf("%s: %v", a, err)
			continue
		}
		if diff := cmp.Diff(tt.effect, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", a, diff)
		}
		if diff := cmp.Diff(tt.values, effect.Values(got)); diff != "" {
			t.Errorf("%s: values (-want +got):\n%s", a, diff)
		}
		if outcome.RecordOnly(got) != tt.recordOnly {
			t.Errorf("%s: recordOnly %v, want %v", a, !tt.recordOnly, tt.recordOnly)
		}
		// add_label with one label becomes add_labels.
		if want := strings.Replace(a.Type, "add_label", "add_labels", 1); effect.TypeOf(got) != want && effect.TypeOf(got) != a.Type {
			t.Errorf("%s: the type of its effect is %s", a, effect.TypeOf(got))
		}
		if _, ok := outcome.SpecOf(a.Type); !ok {
			t.Errorf("%s: no spec", a)
		}
	}
}

// TestEveryAction checks that there is an example for each action of the protocol, and for each
// action that reverts a deferred one.
func TestEveryAction(t *testing.T) {
	t.Parallel()
	names := []string{effect.ActionAllowAgain, effect.ActionKeepOpen}
	for _, name := range names {
		if _, known := protocol.SpecOf(name); known || !outcome.Cancels(name) {
			t.Errorf("%s: decisions can name it, or it cancels nothing", name)
		}
	}
	for _, spec := range protocol.ActionSpecs() {
		names = append(names, spec.Name)
		if outcome.Cancels(spec.Name) {
			t.Errorf("%s cancels what the memory keeps, and decisions can name it", spec.Name)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(examples(), func(e example) bool { return item(t, e.action).Type == name }) {
			t.Errorf("the examples lack an action %s", name)
		}
	}
}

// TestEveryEffect checks that there is an example for each type of effect.
func TestEveryEffect(t *testing.T) {
	t.Parallel()
	have := map[string]bool{"Custom": true} // in custom_test.go, because Parse never returns it
	for _, e := range examples() {
		have[reflect.TypeOf(e.effect).Name()] = true
	}
	files, err := filepath.Glob("../../effect/*.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			m, ok := d.(*ast.FuncDecl)
			if !ok || m.Recv == nil || m.Name.Name != "action" {
				continue
			}
			n++
			if name := m.Recv.List[0].Type.(*ast.Ident).Name; !have[name] {
				t.Errorf("the examples lack the effect %s", name)
			}
		}
	}
	if n != len(have) {
		t.Errorf("the package effect declares %d effects, the examples have %d", n, len(have))
	}
}

func TestParseFails(t *testing.T) {
	t.Parallel()
	tests := []struct{ action, want string }{
		{`{"type": ""}`, "unknown action"},
		{`{"type": "make_coffee"}`, "unknown action: make_coffee"},
		{`{"type": "Add_Label", "label": "x"}`, "unknown action"},
		{`{"type": "` + strings.Repeat("x", 300) + `"}`, "unknown action: " + strings.Repeat("x", 39) + "…"},
		{`{"type": "add_label"}`, "label: required"},
		{`{"type": "add_label", "label": 7}`, "label: want a string"},
		{`{"type": "add_labels", "labels": ["a", 7]}`, "labels[1]: want a string"},
		{`{"type": "close_issue", "after": "0s"}`, "after: want a time"},
		{`{"type": "close_issue", "after": "-1h"}`, "after: want a time"},
		{`{"type": "close_issue", "reason": "bored"}`, "reason"},
		{`{"type": "close_issue", "veto": ["prayer"]}`, "veto"},
		{`{"type": "mark_duplicate", "of": "7"}`, "of: want a whole number"},
		{`{"type": "mark_duplicate", "of": 1.5}`, "of: want a whole number"},
		{`{"type": "keep_open", "rule": 1}`, "rule: want a string"},
	}
	for _, tt := range tests {
		got, err := outcome.Parse(item(t, tt.action))
		if err == nil || !strings.Contains(err.Error(), tt.want) || got != nil {
			t.Errorf("%s: got %v, %v, want %q", tt.action, got, err, tt.want)
		}
	}
}

// TestHolds applies each effect to issues in many states. Then the effect must hold, and applying
// it again must change nothing. Effects that a state does not show must never hold.
func TestHolds(t *testing.T) {
	t.Parallel()
	for _, tt := range examples() {
		held := 0
		for _, issue := range states() {
			s := outcome.StateOf(issue)
			if outcome.Holds(tt.effect, s) {
				held++
			}
			outcome.Change(tt.effect, s)
			if got := outcome.Holds(tt.effect, s); got != tt.shown {
				t.Errorf("%s on %+v: holds %v, want %v", tt.action, issue, got, tt.shown)
			}
			once := shown(s)
			outcome.Change(tt.effect, s)
			if diff := cmp.Diff(once, shown(s)); diff != "" {
				t.Errorf("%s on %+v, the second time (-once +twice):\n%s", tt.action, issue, diff)
			}
		}
		if tt.shown && (held == 0 || held == len(states())) {
			t.Errorf("%s held before on %d of %d issues: the issues show nothing", tt.action, held, len(states()))
		}
	}
}

// shown returns the parts of a state that can be compared.
func shown(s outcome.State) any {
	return struct {
		Labels, Never, Assignees outcome.Names
		Open, Locked             bool
		Reason                   string
		Milestone                string
		Bug                      bool
	}{
		there(s.Labels()), there(s.Never()), there(s.Assignees()), s.Open(), outcome.Holds(effect.Lock{}, s), s.Reason(), s.Milestone(),
		outcome.Holds(effect.SetType{Name: "Bug"}, s),
	}
}

// there returns the members of a set.
func there(n outcome.Names) outcome.Names {
	out := outcome.Names{}
	for name, in := range n {
		if in {
			out[name] = true
		}
	}
	return out
}

// TestChange compares the states after several effects in a row.
func TestChange(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		effects []effect.Effect
		check   func(outcome.State) bool
	}{
		{"closed later is open now", []effect.Effect{effect.Close{After: time.Hour}}, outcome.State.Open},
		{"a close later opens nothing", []effect.Effect{effect.Close{}, effect.Close{After: time.Hour}}, func(s outcome.State) bool { return !s.Open() }},
		{"closed and opened", []effect.Effect{effect.Close{}, effect.Reopen{}}, outcome.State.Open},
		{"duplicate", []effect.Effect{effect.MarkDuplicate{Of: 3}}, func(s outcome.State) bool { return !s.Open() }},
		{"added and removed", []effect.Effect{effect.AddLabels{Names: []string{"A"}}, effect.RemoveLabels{Names: []string{"a"}}}, func(s outcome.State) bool { return !s.Labels().Has("A") }},
		{"never again", []effect.Effect{effect.NeverAgain{Labels: []string{"A"}}}, func(s outcome.State) bool { return s.Never().Has("a") && !s.Labels().Has("a") }},
		{"milestone", []effect.Effect{effect.SetMilestone{Title: "v1"}, effect.SetMilestone{Title: "v2"}}, func(s outcome.State) bool { return s.Milestone() == "v2" }},
		{"assigned", []effect.Effect{effect.Assign{Logins: []string{"x", "y"}}, effect.Unassign{Logins: []string{"X"}}}, func(s outcome.State) bool {
			return s.Assignees().Has("Y") && !s.Assignees().Has("x")
		}},
		{"comments and reactions show nothing", []effect.Effect{effect.Comment{Body: "x"}, effect.React{Content: "+1"}, effect.KeepOpen{}, effect.AllowAgain{Label: "x"}}, func(s outcome.State) bool {
			return cmp.Equal(shown(s), shown(outcome.StateOf(triage.Issue{State: "open"})))
		}},
	}
	for _, tt := range tests {
		s := outcome.StateOf(triage.Issue{State: "open"})
		for _, e := range tt.effects {
			outcome.Change(e, s)
		}
		if !tt.check(s) {
			t.Errorf("%s: got %+v", tt.name, shown(s))
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	n := outcome.NamesOf([]string{"Bug", "ſcan"}) // with a long s (ſ), which equals S if case is ignored
	list := []string{"docs", "BUG", "Scan", "bug"}
	if got := n.In(list); !slices.Equal(got, []string{"BUG", "Scan", "bug"}) {
		t.Errorf("In: got %v", got)
	}
	if got := n.NotIn(list); !slices.Equal(got, []string{"docs"}) {
		t.Errorf("NotIn: got %v", got)
	}
	if !slices.Equal(list, []string{"docs", "BUG", "Scan", "bug"}) {
		t.Errorf("the list was changed: %v", list)
	}
	var none outcome.Names
	if none.Has("") || len(none.In(list)) != 0 || len(none.NotIn(list)) != len(list) {
		t.Error("the zero value is not empty")
	}
}
