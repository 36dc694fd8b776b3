package github_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// TestIntentBodies checks the request of each effect. Without an intent it has the form that all
// servers know.
func TestIntentBodies(t *testing.T) {
	t.Parallel()
	none := effect.Intent{}
	all := effect.Intent{Rationale: `rule a: issue.text matches "<b>" & more`, Confidence: protocol.ConfidenceMedium, Suggest: true}
	tests := []struct {
		name string
		e    effect.Effect
		want string // the only call with its body
	}{
		{"labels", effect.AddLabels{Names: []string{"a", "b"}}, `POST /labels {"labels":["a","b"]}`},
		{"labels with zero intents", effect.AddLabels{Names: []string{"a", "b"}, Intents: []effect.Intent{none, none}}, `POST /labels {"labels":["a","b"]}`},
		{"labels with an intent", effect.AddLabels{Names: []string{"a", "b"}, Intents: []effect.Intent{none, all}},
			`POST /labels {"labels":["a",{"name":"b","rationale":"rule a: issue.text matches \"<b>\" & more","confidence":"medium","suggest":true}]}`},
		{"only suggested", effect.AddLabels{Names: []string{"a"}, Intents: []effect.Intent{{Suggest: true}}}, `POST /labels {"labels":[{"name":"a","suggest":true}]}`},
		{"only a confidence", effect.AddLabels{Names: []string{"a"}, Intents: []effect.Intent{{Confidence: protocol.ConfidenceLow}}}, `POST /labels {"labels":[{"name":"a","confidence":"low"}]}`},
		{"assignees", effect.Assign{Logins: []string{"alice"}}, `POST /assignees {"assignees":["alice"]}`},
		{"assignees with zero intents", effect.Assign{Logins: []string{"alice"}, Intents: []effect.Intent{none}}, `POST /assignees {"assignees":["alice"]}`},
		{"assignees with an intent", effect.Assign{Logins: []string{"alice", "bob"}, Intents: []effect.Intent{{Rationale: "why"}, none}},
			`POST /assignees {"assignees":[{"login":"alice","rationale":"why"},"bob"]}`},
		{"a type", effect.SetType{Name: "Bug"}, `PATCH  {"type":"Bug"}`},
		{"a type with an intent", effect.SetType{Name: "Bug", Intent: effect.Intent{Rationale: "why", Confidence: protocol.ConfidenceHigh}},
			`PATCH  {"type":{"value":"Bug","rationale":"why","confidence":"high"}}`},
		{"a suggested type", effect.SetType{Name: "Bug", Intent: effect.Intent{Suggest: true}}, `PATCH  {"type":{"value":"Bug","suggest":true}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := fake(t)
			c, _ := client(t, s.URL)
			if err := put(t.Context(), c, ref, tt.e); err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, call := range s.Calls() {
				got += call.Method + " " + strings.TrimPrefix(call.Path, "/repos/octo/hello/issues/7") + " " + call.Body
			}
			if diff := cmp.Diff(tt.want+"\n", got); diff != "" {
				t.Errorf("call (-want +got):\n%s", diff)
			}
		})
	}
}

// TestIntentPairs checks that an effect with too few intents makes no call.
func TestIntentPairs(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL)
	for _, e := range []effect.Effect{
		effect.AddLabels{Names: []string{"a", "b"}, Intents: []effect.Intent{because}},
		effect.Assign{Logins: []string{"alice", "bob"}, Intents: []effect.Intent{because}},
	} {
		if err := put(t.Context(), c, ref, e); err == nil || !strings.Contains(err.Error(), "octo/hello#7: there are 1 intents for 2 names") {
			t.Errorf("%v: got %v", e, err)
		}
	}
	if len(s.Log()) > 0 {
		t.Errorf("got the calls %v, want none", s.Log())
	}
}

// levels are the levels of automation with the confidences that each applies.
var levels = map[githubtest.Automation]string{
	githubtest.AutomationOff: "high medium low", githubtest.AutomationApplies: "high medium low", githubtest.FullControl: "",
	githubtest.Cautious: "high", githubtest.Balanced: "high medium", githubtest.FullAutomation: "high medium low",
}

// TestHeld writes with each confidence, proposed and not, at each level. The result names what the
// issue does not have, and GitHub has it as a pending suggestion.
func TestHeld(t *testing.T) {
	t.Parallel()
	for level, applies := range levels {
		for _, confidence := range protocol.Confidences() {
			for _, suggest := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/%t", level, confidence, suggest), func(t *testing.T) {
					t.Parallel()
					knows := level != githubtest.AutomationOff && level != githubtest.AutomationApplies
					held := knows && (suggest || !strings.Contains(applies, string(confidence)))
					checkHeld(t, level, effect.Intent{Rationale: "why", Confidence: confidence, Suggest: suggest}, held)
				})
			}
		}
	}
}

func checkHeld(t *testing.T, level githubtest.Automation, in effect.Intent, held bool) {
	t.Helper()
	s := fake(t)
	s.Repo("octo/hello").SetAutomation(level)
	c, _ := client(t, s.URL)
	var pending []githubtest.Suggestion
	for _, tt := range []struct {
		e             effect.Effect
		kind, as, has string // the value of the suggestion, in the caller's spelling and in GitHub's
	}{
		{effect.AddLabels{Names: []string{"BUG", "KIND/feature"}, Intents: []effect.Intent{in, in}}, "label", "KIND/feature", "Kind/Feature"},
		{effect.Assign{Logins: []string{"Alice"}, Intents: []effect.Intent{in}}, "assignee", "Alice", "alice"},
		{effect.SetType{Name: "bug", Intent: in}, "type", "bug", "Bug"},
	} {
		want := effect.Written{}
		if held {
			want.Held = []string{tt.as}
			pending = append(pending, githubtest.Suggestion{
				Kind: tt.kind, Value: tt.has, By: "github-actions[bot]",
				Intent: githubtest.Intent{Rationale: in.Rationale, Confidence: string(in.Confidence), Suggest: in.Suggest},
			})
		} else if tt.kind == "assignee" {
			want.Accepted = []string{tt.has}
		}
		got, err := c.Write(t.Context(), ref, tt.e)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: got %v (-want +got):\n%s", tt.kind, err, diff)
		}
	}
	i := s.Issue("octo/hello", 7)
	if diff := cmp.Diff(pending, i.Suggestions); diff != "" {
		t.Errorf("suggestions (-want +got):\n%s", diff)
	}
	if got := len(i.Labels) < 2 && len(i.Assignees) == 0 && i.Type == ""; got != held {
		t.Errorf("got the labels %q, the assignees %q, the type %q; want them held: %t", i.Labels, i.Assignees, i.Type, held)
	}
	checkIntents(t, c, level != githubtest.AutomationOff, !held && level != githubtest.AutomationOff)
}

// checkIntents checks the intents in the timeline of an issue: the first event is a label of its
// author, and others are by us.
func checkIntents(t *testing.T, c *github.Client, intends, intended bool) {
	t.Helper()
	got, err := c.Timeline(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	for k, e := range got.Events {
		if e.Intends != intends || e.Intended != (intended && k > 0) {
			t.Errorf("event %d, %s by %s: got %t, %t, want %t, %t", k, e.Kind, e.Actor, e.Intends, e.Intended, intends, intended && k > 0)
		}
	}
}

// TestMixedIntents checks a write in which GitHub holds some of the names.
func TestMixedIntents(t *testing.T) {
	t.Parallel()
	s := fake(t)
	s.Repo("octo/hello").SetAutomation(githubtest.Cautious)
	c, _ := client(t, s.URL)
	got, err := c.Write(t.Context(), ref, effect.AddLabels{
		Names:   []string{"a", "b", "c", "bug"},
		Intents: []effect.Intent{{}, {Confidence: protocol.ConfidenceHigh}, {Confidence: protocol.ConfidenceLow}, {Suggest: true}},
	})
	if diff := cmp.Diff(effect.Written{Held: []string{"c"}}, got); err != nil || diff != "" {
		t.Errorf("labels: got %v (-want +got):\n%s", err, diff)
	}
	got, err = c.Write(t.Context(), ref, effect.Assign{Logins: []string{"bob", "alice"}, Intents: []effect.Intent{{Suggest: true}, {}}})
	if diff := cmp.Diff(effect.Written{Accepted: []string{"alice"}, Held: []string{"bob"}}, got); err != nil || diff != "" {
		t.Errorf("assignees: got %v (-want +got):\n%s", err, diff)
	}
}

// TestZeroIntents checks that without an intent the result is the same as before: who cannot be
// assigned is missing from it, and is not held.
func TestZeroIntents(t *testing.T) {
	t.Parallel()
	c, _ := client(t, fake(t).URL)
	got, err := c.Write(t.Context(), ref, effect.Assign{Logins: []string{"alice", "mallory"}, Intents: make([]effect.Intent, 2)})
	if diff := cmp.Diff(effect.Written{Accepted: []string{"alice"}}, got); err != nil || diff != "" {
		t.Errorf("got %v (-want +got):\n%s", err, diff)
	}
}

// TestTypeAnswers compares the type with the suggestions of the answer.
func TestTypeAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, has, suggestions string
		want                   effect.Written
		uncertain              bool
	}{
		{name: "applied", has: `{"name":"Bug"}`},
		{name: "pending", has: "null", suggestions: `{"type":[{"value":"Bug","suggest":true}]}`, want: effect.Written{Held: []string{"bug"}}},
		{name: "pending in place of another", has: `{"name":"Task"}`, suggestions: `{"type":[{"value":"BUG"}]}`, want: effect.Written{Held: []string{"bug"}}},
		{name: "another is pending", has: `{"name":"Bug"}`, suggestions: `{"type":[{"value":"Task"}]}`},
		{name: "applied, and pending from before", has: `{"name":"Bug"}`, suggestions: `{"type":[{"value":"Bug"}]}`},
		{name: "it holds", has: `{"name":"Bug"}`, suggestions: `{"type":[{"value":"Bug","ignored":true,"ignored_reason":"already_applied"}]}`, want: effect.Written{Overtaken: []string{"bug"}}},
		{name: "the issue is closed", has: "null", suggestions: `{"type":[{"value":"Bug","ignored_reason":"issue_already_closed"}]}`, want: effect.Written{Overtaken: []string{"bug"}}},
		{name: "ignored without a reason", has: "null", suggestions: `{"type":[{"value":"Bug","ignored":true}]}`, want: effect.Written{Overtaken: []string{"bug"}}},
		{name: "another is ignored", has: "null", suggestions: `{"type":[{"value":"Task","ignored":true},{"value":"Bug"}]}`, want: effect.Written{Held: []string{"bug"}}},
		{name: "no suggestions", has: "null", suggestions: "null"},
		{name: "a list", has: "null", suggestions: `[]`, uncertain: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := fake(t)
			if tt.suggestions == "" {
				tt.suggestions = "{}"
			}
			s.Fault(githubtest.Fault{Status: 200, Body: `{"number":7,"type":` + tt.has + `,"suggestions":` + tt.suggestions + `}`})
			c, _ := client(t, s.URL)
			got, err := c.Write(t.Context(), ref, effect.SetType{Name: "bug", Intent: because})
			if errors.Is(err, triage.ErrUncertain) != tt.uncertain || (err != nil) != tt.uncertain {
				t.Fatalf("got the error %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("written (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOvertaken sets a type that the issue has, and one of a closed issue.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	s := fake(t)
	r := s.Repo("octo/hello").SetAutomation(githubtest.Cautious)
	c, _ := client(t, s.URL)
	if err := put(t.Context(), c, ref, effect.SetType{Name: "Bug", Intent: because}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"BUG", "Task"} {
		got, err := c.Write(t.Context(), ref, effect.SetType{Name: name, Intent: effect.Intent{Suggest: true}})
		if diff := cmp.Diff(effect.Written{Overtaken: []string{name}}, got); err != nil || diff != "" {
			t.Errorf("%s: got %v (-want +got):\n%s", name, err, diff)
		}
		r.CloseAs("bob", 7, "")
	}
	if i := s.Issue("octo/hello", 7); i.Type != "Bug" || i.Suggestions != nil {
		t.Errorf("got the type %q and the suggestions %v, want Bug and none", i.Type, i.Suggestions)
	}
}
