package rules_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

func opened(issue triage.Issue) facts.Facts {
	return facts.Facts{Issue: issue, Event: triage.Event{Name: "issues", Action: "opened"}, Repo: triage.Repo{Owner: "o", Name: "r"}}
}

// body returns the comment that a rule with this template writes on the issue.
func body(t *testing.T, template string, issue triage.Issue) string {
	t.Helper()
	set := mustCompile(t, "version: 1\nrules:\n  - id: r\n    then: [comment: "+fmt.Sprintf("%q", template)+"]\n")
	r, err := set.Decide(t.Context(), opened(issue))
	if err != nil {
		t.Fatal(err)
	}
	text, ok, err := r.Message.Actions[0].Text("body")
	if !ok || err != nil {
		t.Fatalf("no body: %v", err)
	}
	return text
}

func TestForeignValuesAreNeutralisedInMarkdown(t *testing.T) {
	t.Parallel()
	title := "@all fixes #1 <!-- foreman:v1 x --> [x](http://e) o/r#2"
	got := body(t, "Hi @team, see #3 and {{ issue.title }}.", triage.Issue{Title: title})
	want := "Hi @team, see #3 and " + sanitize.ValueAt(title, sanitize.InText) + "."
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if strings.Contains(got, "@all") {
		t.Errorf("the mention is live: %q", got)
	}
}

func TestRenderedTextIsBounded(t *testing.T) {
	t.Parallel()
	issue := triage.Issue{Body: strings.Repeat("é", 65536)}
	if got := utf8.RuneCountInString(body(t, "<{{ issue.body }}>", issue)); got < 4000 || got > 4200 {
		t.Errorf("one value: got %d characters, want about 4,096", got)
	}
	got := body(t, strings.Repeat("{{ issue.body }}", 50), issue)
	if n := utf8.RuneCountInString(got); n != 60_000 || !strings.HasSuffix(got, "…") {
		t.Errorf("many values: got %d characters, want 60,000 that end in …", n)
	}
	set := mustCompile(t, "version: 1\nrules:\n  - id: r\n    then: [add_label: 'x{{ issue.body }}', add_labels: '[issue.body]', escalate: '{{ issue.body }}{{ issue.body }}']\n")
	r, err := set.Decide(t.Context(), opened(issue))
	if err != nil {
		t.Fatal(err)
	}
	label, _, _ := r.Message.Actions[0].Text("label")
	labels, _, _ := r.Message.Actions[1].Texts("labels")
	for _, s := range []string{label, labels[0], r.Message.Rationale} {
		if n := utf8.RuneCountInString(s); n < 256 || n > 300 {
			t.Errorf("a name has %d characters, want about 256", n)
		}
	}
}

// The rationale contains untrusted text, such as an issue's title. It must be one line.
func TestRationaleIsOneLine(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, "version: 1\nrules:\n  - id: r\n    then: [escalate: '{{ issue.title }}']\n")
	r, err := set.Decide(t.Context(), opened(triage.Issue{Title: "a\n::error::b\r\x1b[2J"}))
	if err != nil {
		t.Fatal(err)
	}
	if want := "escalated by rule r: a::error::b[2J"; r.Message.Rationale != want {
		t.Errorf("got %q, want %q", r.Message.Rationale, want)
	}
}

// A rule that fails does nothing: none of its actions is planned, and it is not undone. The others
// go on.
func TestFailureLeavesOthers(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, `version: 1
rules:
  - id: bad
    when: 1 % issue.comments == 0
    else_undo: true
    then: [add_label: y]
  - id: half
    then: [add_label: z, comment: '{{ string(1 % issue.comments) }}']
  - id: good
    when: not label("z")
    then: [add_label: x]
`)
	r, err := set.Decide(t.Context(), opened(triage.Issue{}))
	ee, ok := errors.AsType[*rules.EvalError](err)
	if !ok {
		t.Fatalf("got %v, want an EvalError", err)
	}
	if !strings.Contains(err.Error(), "evaluate rule bad: ") || !strings.Contains(err.Error(), "evaluate rule half: ") {
		t.Errorf("got %v, want the errors of both rules", err)
	}
	if got := strings.Join(r.With(rules.Failed), " "); got != "bad half" || len(r.Undone) > 0 || r.Stopped {
		t.Errorf("failed: %s, undone: %v, stopped: %v", got, r.Undone, r.Stopped)
	}
	if got := fmt.Sprint(r.Fired, r.Sources, r.Labels, r.Message.Rationale); got != "[good] [good] [x]rules fired: good; failed: bad, half" {
		t.Errorf("got %s", got)
	}
	if ee.Rule != "bad" || ee.Problem.File != "rules.yml" || ee.Problem.Line != 4 || ee.Problem.Column != 13 {
		t.Errorf("got rule %s at %s:%d:%d, want bad at rules.yml:4:13", ee.Rule, ee.Problem.File, ee.Problem.Line, ee.Problem.Column)
	}
}

// A rule with "stop: true" may guard against later rules. So it stops them, too, if it fails or is
// unknown.
func TestUnjudgedStops(t *testing.T) {
	t.Parallel()
	for when, want := range map[string]rules.Outcome{
		"1 % issue.comments == 0":                            rules.Failed,
		`label_age("bug") > duration("1h")`:                  rules.Unknown,
		`not (label_age("bug") > duration("1s"))`:            rules.Unknown,
		`issue.locked and label_age("bug") > duration("1h")`: rules.False,
	} {
		set := mustCompile(t, "version: 1\nrules:\n  - {id: guard, when: '"+when+"', stop: true, else_undo: true, then: [add_label: y]}\n  - {id: close, then: [close_issue]}\n")
		f := opened(triage.Issue{Labels: []string{"bug"}})
		f.Lookup = facts.Known{}
		r, err := set.Decide(t.Context(), f)
		if stopped := want != rules.False; r.Trace[0].Outcome != want || (err != nil) != (want == rules.Failed) || r.Stopped != stopped || len(r.Message.Actions) == 0 != stopped || len(r.Undone) == 0 != stopped {
			t.Errorf("%s: got %v, %+v", when, err, r)
		}
	}
}

// TestLaterStops checks that a rule that did not fire for a late event still guards those after it.
func TestLaterStops(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, "version: 1\nrules:\n  - {id: guard, when: 'label(\"keep\")', stop: true, then: [add_label: y]}\n  - {id: close, then: [close_issue]}\n")
	f := opened(triage.Issue{Labels: []string{"keep"}})
	f.FalseBefore = []string{"guard"}
	r, err := set.Decide(t.Context(), f)
	if err != nil || r.Trace[0].Outcome != rules.Later || !r.Stopped || len(r.Message.Actions) > 0 {
		t.Errorf("got %v, %+v", err, r)
	}
}

func TestTrace(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, `version: 1
rules:
  - id: a
    on: issues.closed
    when: label("x")
    then: [escalate]
  - id: b
    when: |
      label("y")
    then: [escalate]
  - {id: c, then: [add_label: x], stop: true}
  - {id: d, then: [escalate]}
`)
	r, err := set.Decide(t.Context(), opened(triage.Issue{}))
	if err != nil {
		t.Fatal(err)
	}
	want := []rules.RuleTrace{
		{ID: "a", Outcome: rules.NotListed, Condition: `label("x")`, File: "rules.yml", Line: 3},
		{ID: "b", Outcome: rules.False, Condition: `label("y")`, File: "rules.yml", Line: 7},
		{ID: "c", Outcome: rules.Matched, File: "rules.yml", Line: 11},
		{ID: "d", Outcome: rules.Cut, File: "rules.yml", Line: 12},
	}
	if diff := cmp.Diff(want, r.Trace); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	if !r.Stopped || r.Message.TaskID != "" {
		t.Errorf("got stopped %v, task id %q", r.Stopped, r.Message.TaskID)
	}
}

func TestDecideIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, `version: 1
rules:
  - id: a
    when: 'any(issue.labels, # matches "^x[0-9]+$") and label("x1")'
    then: [add_label: "y{{ issue.number }}"]
`)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				r, err := set.Decide(t.Context(), opened(triage.Issue{Number: i, Labels: []string{"X1", "x1"}}))
				if err != nil {
					t.Error(err)
					return
				}
				if got, _, _ := r.Message.Actions[0].Text("label"); got != fmt.Sprintf("y%d", i) {
					t.Errorf("got %q for issue %d", got, i)
				}
			}
		})
	}
	wg.Wait()
}

// Conditions see the derived fields.
func TestDerivedFacts(t *testing.T) {
	t.Parallel()
	c, err := condition(`issue.text == "a\n\nb" and event.key == "issues.opened" and repo.full_name == "o/r"`)
	if err != nil {
		t.Fatal(err)
	}
	f := opened(triage.Issue{Title: "a", Body: "b"})
	if got, err := c.Eval(t.Context(), f); !got || err != nil {
		t.Errorf("got %v, %v, want true", got, err)
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, "version: 1\nrules:\n  - {id: a, on: [issues.labeled, issue_comment.*], then: [escalate]}\n  - {id: b, on: repository_dispatch, then: [escalate]}\n")
	if diff := cmp.Diff([]string{"a", "b"}, set.IDs()); diff != "" || set.Len() != 2 {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	tests := []struct {
		event, Action string
		Type          bool
	}{
		{"issues", "labeled", true},
		{"issues", "opened", false},
		{"issue_comment", "edited", true},
		{"repository_dispatch", "anything", true},
		{"repository_dispatch", "", true},
		{"workflow_dispatch", "", false},
		{"push", "", false},
	}
	for _, tt := range tests {
		if got := set.Listens(tt.event, tt.Action); got != tt.Type {
			t.Errorf("Listens(%q, %q): got %v, want %v", tt.event, tt.Action, got, tt.Type)
		}
	}
	var none *rules.Set
	if none.Len() != 0 || none.Listens("issues", "opened") || len(none.IDs()) != 0 {
		t.Error("a nil set is not empty")
	}
	if r, err := none.Decide(t.Context(), opened(triage.Issue{})); err != nil || r.Message.Decision != protocol.Skip {
		t.Errorf("a nil set decides %v, %v", r.Message.Decision, err)
	}
}

// Compile returns the mistakes of the rules together with other mistakes in the same file.
func TestCompileInAConfigurationFile(t *testing.T) {
	t.Parallel()
	f, err := yamlfile.Parse("foreman.yml", []byte("mode: aply\nrules:\n  - id: a\n    when: isue.title == ``\n    then: [escalate]\n"))
	if err != nil {
		t.Fatal(err)
	}
	f.Problemf(f.Root().Content[1], "mode: want apply or shadow")
	src := rules.Source(rulesource.New(rulesource.Parts{File: f, Rules: f.Root().Content[3]}))
	_, err = rules.Compile(src)
	ps, ok := errors.AsType[yamlfile.Problems](err)
	if !ok || len(ps) != 2 || ps[0].Line != 1 || ps[1].Line != 4 {
		t.Errorf("got %v, want two problems", err)
	}
	other := rules.Source(rulesource.New(rulesource.Parts{File: f}))
	if _, err := rules.Compile(other, other); len(err.(yamlfile.Problems)) != 2 {
		t.Errorf("a file given twice doubles its problems: %v", err)
	}
	if _, err := rules.Compile(rules.Source{}); err == nil {
		t.Error("a source without a file was accepted")
	}
	if set, err := rules.Compile(); err != nil || set.Len() != 0 {
		t.Errorf("no sources: got %v, %v", set.Len(), err)
	}
}

func TestTooManyRules(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("version: 1\nrules:\n")
	for i := range 5001 {
		fmt.Fprintf(&b, "- {id: r%d, then: [escalate]}\n", i)
	}
	s, err := rules.Parse("f", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rules.Compile(s); err == nil || !strings.Contains(err.Error(), "more than 5000 rules") {
		t.Errorf("got %v", err)
	}
}

func TestCondition(t *testing.T) {
	t.Parallel()
	c, err := condition(`not any_label("area/*")`)
	if err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string]bool{"area/net": false, "kind/bug": true} {
		if got, err := c.Eval(t.Context(), opened(triage.Issue{Labels: []string{label}})); got != want || err != nil {
			t.Errorf("%s: got %v, %v, want %v", label, got, err, want)
		}
	}
	if got := c.String(); got != `not any_label("area/*")` {
		t.Errorf("String: got %q", got)
	}
	if _, err := condition("label("); err == nil || !strings.Contains(err.Error(), "c.yml:2:8: ") {
		t.Errorf("got %v, want a position", err)
	}
	c, err = condition("1 % issue.number == 0")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Eval(t.Context(), facts.Facts{})
	ee, ok := errors.AsType[*rules.EvalError](err)
	if !ok || ee.Rule != "" || !strings.HasPrefix(err.Error(), "evaluate the condition: c.yml:2:5: integer divide by zero") {
		t.Errorf("got %v, want an EvalError with its place", err)
	}
}

// All rules fire although each one needs a label that the next rule adds. For 1,000 rules the limit
// on repeated evaluations is reached.
func TestRulesInReverse(t *testing.T) {
	t.Parallel()
	for n, wantErr := range map[int]string{20: "", 25: "", 400: "", 1000: "evaluated again more than 100000 times"} {
		var b strings.Builder
		b.WriteString("version: 1\nrules:\n")
		for i := n; i > 0; i-- {
			fmt.Fprintf(&b, "  - {id: r%d, when: label(\"l%d\"), then: [add_label: l%d]}\n", i, i-1, i)
		}
		r, err := mustCompile(t, b.String()).Decide(t.Context(), opened(triage.Issue{Labels: []string{"l0"}}))
		switch {
		case wantErr != "":
			if err == nil || !strings.Contains(err.Error(), wantErr) {
				t.Errorf("%d rules: got %v, want the error %q", n, err, wantErr)
			}
		case err != nil || len(r.Fired) != n || r.Fired[0] != "r1":
			t.Errorf("%d rules: %d fired: %v", n, len(r.Fired), err)
		}
	}
}

// TestReason checks the line for people about each outcome of a rule.
func TestReason(t *testing.T) {
	t.Parallel()
	tests := []struct {
		trace rules.RuleTrace
		want  string
	}{
		{rules.RuleTrace{Outcome: rules.Matched}, "it has no condition"},
		{rules.RuleTrace{Outcome: rules.Matched, Condition: "a\n  and b"}, "true: a and b"},
		{rules.RuleTrace{Outcome: rules.NotListed, Condition: "a"}, "it does not listen to issues.opened"},
		{rules.RuleTrace{Outcome: rules.False, Condition: "a"}, "false: a"},
		{rules.RuleTrace{Outcome: rules.Later, Condition: "a"}, "true only since the event: a"},
		{rules.RuleTrace{Outcome: rules.Cut, Condition: "a"}, "an earlier rule stopped the evaluation"},
		{rules.RuleTrace{Outcome: rules.Failed, Error: "the list is too long\n  in line 3"}, "failed: the list is too long"},
		{rules.RuleTrace{Outcome: rules.Unknown, Error: "no token"}, "unknown: no token"},
	}
	for _, tt := range tests {
		if got := tt.trace.Reason("issues.opened"); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.trace.Outcome, got, tt.want)
		}
	}
}
