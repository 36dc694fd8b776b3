package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// A pager records the calls of the action page, and returns its results in order; after the last one
// it succeeds.
type pager struct {
	results []func(context.Context) error
	calls   []string // the issue and the parameters
	keys    []string
}

func (p *pager) action() runner.Action {
	return runner.Action{
		Spec: protocol.ActionSpec{
			Name: "page", Main: "team", Limit: 2,
			Params: []protocol.Param{
				{Name: "team", Required: true}, {Name: "text", Kind: protocol.KindMarkdown}, {Name: "level", Kind: protocol.KindInt},
				{Name: "people", Kind: protocol.KindTexts},
			},
		},
		Do: func(ctx context.Context, ref triage.Ref, item protocol.ActionItem, key string) (effect.Written, error) {
			p.calls, p.keys = append(p.calls, fmt.Sprintf("%s %s", ref, item)), append(p.keys, key)
			if n := len(p.calls); n <= len(p.results) {
				return effect.Written{}, p.results[n-1](ctx)
			}
			return effect.Written{Comment: triage.Comment{URL: "https://pager.example/1"}}, nil
		},
	}
}

// failing returns a result of the action.
func failing(err error) func(context.Context) error {
	return func(context.Context) error { return err }
}

const pageDB = `{"type":"page","team":"db"}`

// TestAction carries out decisions that request an own action.
func TestAction(t *testing.T) {
	t.Parallel()
	const allowed = "Codertocat/Hello-World#1 "
	uncertain := failing(fmt.Errorf("post: %w", triage.ErrUncertain))
	tests := []struct {
		name     string
		policy   []string // the names in policy.actions; nil: the key is absent
		may      []string // agent.may
		limit    map[string]int
		decision []string
		results  []func(context.Context) error
		dry      bool

		calls   []string
		states  string
		reason  string // a part of the first action's
		failure string // a part of the error
	}{
		{name: "named by the policy", policy: []string{"page"}, decision: []string{pageDB}, calls: []string{allowed + pageDB}, states: "done"},
		{name: "an absent list permits no own action", decision: []string{pageDB, labelDocs}, states: "refused done", reason: "policy.actions does not list page"},
		{name: "an empty list", policy: []string{}, decision: []string{pageDB}, states: "refused", reason: "policy.actions does not list page"},
		{name: "a list without it", policy: []string{"comment"}, decision: []string{pageDB}, states: "refused", reason: "policy.actions does not list page"},
		{name: "a pattern is no name", policy: []string{"*", "pag*", "PAGE"}, decision: []string{pageDB}, states: "refused", reason: "policy.actions does not list page"},
		{name: "not for agents", policy: []string{"page", "add_label"}, may: []string{"add_label"}, decision: []string{pageDB}, states: "refused", reason: "agent.may does not list page"},
		{name: "agent.may alone permits nothing", may: []string{"page"}, decision: []string{pageDB}, states: "refused", reason: "policy.actions does not list page"},
		{name: "a dry run", policy: []string{"page"}, decision: []string{pageDB}, dry: true, states: "planned"},
		{
			name: "its own limit", policy: []string{"page"}, decision: []string{pageDB, pageDB, pageDB},
			calls: []string{allowed + pageDB, allowed + pageDB}, states: "done done refused",
		},
		{name: "the policy's limit", policy: []string{"page"}, limit: map[string]int{"page": 0}, decision: []string{pageDB}, states: "refused", reason: "policy.limits.page is 0"},
		{
			name: "another spelling of the name", policy: []string{"page"}, decision: []string{`{"type":"Page","team":"db"}`},
			states: "failed", failure: `the unknown type "Page"`,
		},
		{name: "a parameter is missing", policy: []string{"page"}, decision: []string{`{"type":"page"}`}, states: "refused", reason: "team: required, but missing"},
		{name: "a parameter of a wrong type", policy: []string{"page"}, decision: []string{`{"type":"page","team":["db"]}`}, states: "refused", reason: "team: want a string"},
		{name: "a number out of range", policy: []string{"page"}, decision: []string{`{"type":"page","team":"db","level":-1}`}, states: "refused", reason: "level: want a whole number"},
		{
			name: "parameters are sanitized", policy: []string{"page"},
			decision: []string{`{"type":"page","team":"d\u0000b\u202e\n::stop::","text":"ping @octo/all, fixes #3","people":["a\u200b","a",""],"extra":"{{ x }}"}`},
			states:   "refused", reason: "people: must not be empty",
		},
		{
			name: "texts are neutralized", policy: []string{"page"},
			decision: []string{`{"type":"page","team":"d\u0000b\u202e\n::stop::","text":"ping @octo/all","extra":"{{ x }}"}`},
			calls:    []string{allowed + `{"type":"page","team":"db::stop::","text":"ping @` + "\u200b" + `octo/all"}`}, states: "done",
		},
		{
			name: "a text that is too long", policy: []string{"page"},
			decision: []string{`{"type":"page","team":"db","text":"` + strings.Repeat("x", 70_000) + `"}`}, states: "refused", reason: "policy.comment_length",
		},
		{
			name: "only invisible characters", policy: []string{"page"}, decision: []string{`{"type":"page","team":"\u202e"}`},
			states: "refused", reason: "team is empty after sanitizing",
		},
		{
			name: "the outcome is unknown once", policy: []string{"page"}, decision: []string{pageDB}, results: []func(context.Context) error{uncertain},
			calls: []string{allowed + pageDB, allowed + pageDB}, states: "done", reason: "repeated with the same key",
		},
		{
			name: "its time ran out after it acted", policy: []string{"page"}, decision: []string{pageDB},
			results: []func(context.Context) error{failing(fmt.Errorf("post: %w", context.DeadlineExceeded))},
			calls:   []string{allowed + pageDB, allowed + pageDB}, states: "done", reason: "repeated with the same key",
		},
		{
			name: "the outcome stays unknown", policy: []string{"page", "add_label"}, decision: []string{pageDB, labelDocs},
			results: []func(context.Context) error{uncertain, uncertain, uncertain},
			calls:   []string{allowed + pageDB, allowed + pageDB, allowed + pageDB}, states: "unknown not_run", failure: "gave up after 3 tries",
		},
		{
			name: "it fails", policy: []string{"page", "add_label"}, decision: []string{pageDB, labelDocs}, results: []func(context.Context) error{failing(errors.New("no such pager"))},
			calls: []string{allowed + pageDB}, states: "failed not_run", failure: "page on Codertocat/Hello-World#1: no such pager",
		},
		{
			name: "it is refused", policy: []string{"page", "add_label"}, decision: []string{pageDB, labelDocs},
			results: []func(context.Context) error{failing(&triage.RefusedError{Reason: "the team has no pager"})},
			calls:   []string{allowed + pageDB}, states: "refused done", reason: "the team has no pager",
		},
		{
			name: "it panics", policy: []string{"page"}, decision: []string{pageDB},
			results: []func(context.Context) error{func(context.Context) error { panic("index\nout of range") }},
			calls:   []string{allowed + pageDB}, states: "failed", failure: "the action page panicked: index",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, e, o := world(t, "")
			p, asked := &pager{results: tt.results}, 0
			o.Config.Policy.Actions, o.Config.Policy.AgentMay, o.Config.Policy.Limits = tt.policy, tt.may, tt.limit
			o.Actions, o.DryRun, o.Agent.Agent = []runner.Action{p.action()}, tt.dry, answers(&asked, protocol.LabelAndRespond, tt.decision...)
			rep, err := run(t, o, e)
			if tt.failure == "" && err != nil || tt.failure != "" && (err == nil || !strings.Contains(err.Error(), tt.failure)) {
				t.Errorf("got the error %v, want %q", err, tt.failure)
			}
			var states []string
			for _, a := range rep.Actions {
				states = append(states, string(a.State))
			}
			if got := strings.Join(states, " "); got != tt.states || !strings.Contains(rep.Actions[0].Reason, tt.reason) {
				t.Errorf("got %s (%s), want %s (%s)", got, rep.Actions[0].Reason, tt.states, tt.reason)
			}
			if !slices.Equal(p.calls, tt.calls) {
				t.Errorf("got the calls\n%s, want\n%s", strings.Join(p.calls, "\n"), strings.Join(tt.calls, "\n"))
			}
			if n := len(tt.results); n > 0 && slices.ContainsFunc(p.keys, func(k string) bool { return k != p.keys[0] }) {
				t.Errorf("one action had several keys: %v", p.keys)
			}
			if tt.states == "done" && rep.Actions[0].URL != "https://pager.example/1" {
				t.Errorf("got the URL %q", rep.Actions[0].URL)
			}
		})
	}
}

// TestActionKeys checks that equal actions of one decision, and those of another task, have keys of
// their own, and that a later attempt has the keys of the first.
func TestActionKeys(t *testing.T) {
	t.Parallel()
	p, asked := &pager{}, 0
	attempt := func(id string, first bool) {
		_, e, o := world(t, "")
		o.Config.Policy.Actions, o.Actions = []string{"page"}, []runner.Action{p.action()}
		o.Agent.Agent, o.Task = answers(&asked, protocol.LabelAndRespond, pageDB, pageDB), runner.TaskIdentity{ID: id, First: first}
		if rep, err := run(t, o, e); err != nil || !first && !strings.Contains(rep.Actions[0].Reason, "the same key") {
			t.Fatalf("got %v, %v", rep.Actions, err)
		}
	}
	attempt(runTask, true)
	attempt(runTask, false)
	attempt(strings.Replace(runTask, "a3", "b4", 1), true)
	k := p.keys
	if len(k) != 6 || k[0] == k[1] || k[0] != k[2] || k[1] != k[3] || slices.Contains(k[:4], k[4]) || slices.Contains(k[:4], k[5]) {
		t.Errorf("got the keys\n%s", strings.Join(k, "\n"))
	}
}

// TestActionJournal checks that an action which an earlier attempt carried out is not repeated, that
// one which it began is repeated with the same key, and that the memory records it.
func TestActionJournal(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, "")
	p, asked := &pager{results: []func(context.Context) error{failing(nil), failing(triage.ErrUncertain), failing(triage.ErrUncertain), failing(triage.ErrUncertain)}}, 0
	o.Config.Policy.Actions, o.Actions = []string{"page"}, []runner.Action{p.action()}
	o.Agent.Agent = answers(&asked, protocol.LabelAndRespond, pageDB, `{"type":"page","team":"web"}`)
	o.Memory.Journal = memory.NewJournal()
	keepIn(&o, memory.New())
	if _, err := run(t, o, e); !errors.Is(err, triage.ErrUncertain) {
		t.Fatalf("got %v", err)
	}
	o.Task.First = false
	rep, err := run(t, o, e)
	if err != nil {
		t.Fatal(err)
	}
	if asked != 1 || len(p.calls) != 5 || p.keys[4] != p.keys[1] || p.keys[0] == p.keys[1] {
		t.Errorf("asked %d, calls\n%s\nkeys %v", asked, strings.Join(p.calls, "\n"), p.keys)
	}
	if rep.Actions[0].Reason != "an earlier attempt did it" || !strings.Contains(rep.Actions[1].Reason, "repeated with the same key") {
		t.Errorf("got the reasons %q and %q", rep.Actions[0].Reason, rep.Actions[1].Reason)
	}
	rec, err := o.Memory.Store.Load(t.Context(), journalRepo, 1)
	if err != nil || len(rec.Tasks) != 1 || len(rec.Tasks[0].Actions) != 2 {
		t.Fatalf("got the record %+v, %v", rec, err)
	}
	for i, team := range []string{"db", "web"} {
		if a := rec.Tasks[0].Actions[i]; a.Type != "page" || !slices.Equal(a.Values, []string{team}) || a.Result != triage.Done {
			t.Errorf("got the action %+v", a)
		}
	}
}

// TestActionTime checks that the context of an action ends, so that an action which waits for a
// service does not stop the run for ever.
func TestActionTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, asked := &pager{}, 0
		waits := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		p.results = []func(context.Context) error{waits, waits, waits}
		host := struct { // nothing is read
			runner.Issues
			runner.Repository
		}{}
		e := triage.Delivery{
			Event: triage.Event{Name: "issues", Action: "opened"}, Repo: triage.Repo{Owner: "octo-org", Name: "hello"},
			Number: 7, Issue: &triage.Issue{Number: 7, State: "open", CreatedAt: time.Now(), UpdatedAt: time.Now()},
		}
		var o options
		o.Config, o.Live, o.Task = &config.Config{Policy: policy.Policy{Actions: []string{"page"}}}, true, runner.TaskIdentity{ID: runTask, First: true}
		o.Host = runner.Host{Issues: host, Repository: host}
		o.Actions, o.Agent.Agent = []runner.Action{p.action()}, answers(&asked, protocol.LabelAndRespond, pageDB)
		begun := time.Now()
		rep, err := run(t, o, e)
		if !errors.Is(err, triage.ErrUncertain) || rep.Actions[0].State != triage.Unknown || len(p.calls) != 3 {
			t.Errorf("got %v, %v after %d calls", rep.Actions, err, len(p.calls))
		}
		if took := time.Since(begun); took < 3*runner.ActionTimeout || took > 4*runner.ActionTimeout {
			t.Errorf("it took %s", took)
		}
	})
}

// TestActionOptions checks that New names the wrong field of an action.
func TestActionOptions(t *testing.T) {
	t.Parallel()
	do := (&pager{}).action().Do
	spec := func(change func(*protocol.ActionSpec)) runner.Action {
		a := (&pager{}).action()
		change(&a.Spec)
		return a
	}
	tests := []struct {
		name    string
		actions []runner.Action
		want    string // empty: valid
	}{
		{"valid", []runner.Action{(&pager{}).action()}, ""},
		{"no Do", []runner.Action{{Spec: (&pager{}).action().Spec}}, "Options.Actions[0].Do is nil"},
		{"zero", []runner.Action{{Do: do}}, "Options.Actions[0].Spec.Name: want at most 64"},
		{"built in", []runner.Action{spec(func(s *protocol.ActionSpec) { s.Name = "comment" })}, "Options.Actions[0].Spec.Name: comment is a built-in action"},
		{"of rules alone", []runner.Action{spec(func(s *protocol.ActionSpec) { s.Name = "escalate" })}, "escalate is a built-in action"},
		{"that cancels", []runner.Action{spec(func(s *protocol.ActionSpec) { s.Name = "allow_again" })}, "allow_again is a built-in action"},
		{"twice", []runner.Action{(&pager{}).action(), (&pager{}).action()}, "Options.Actions[1].Spec.Name: page is used twice"},
		{"capitals", []runner.Action{spec(func(s *protocol.ActionSpec) { s.Name = "Page" })}, "Spec.Name: want"},
		{"no limit", []runner.Action{spec(func(s *protocol.ActionSpec) { s.Limit = 0 })}, "Spec.Limit: want 1 or more"},
		{"another's limit", []runner.Action{spec(func(s *protocol.ActionSpec) { s.CountsAs = "comment" })}, "Spec.CountsAs: only built-in actions have it"},
		{"a record", []runner.Action{spec(func(s *protocol.ActionSpec) { s.RecordOnly = true })}, "Spec.RecordOnly: only"},
		{"a change of labels", []runner.Action{spec(func(s *protocol.ActionSpec) { s.Thing = protocol.ThingLabel })}, "Spec.Thing: only"},
		{"an undo", []runner.Action{spec(func(s *protocol.ActionSpec) { s.Gone = true })}, "Spec.Gone: only"},
		{"an event", []runner.Action{spec(func(s *protocol.ActionSpec) { s.Events = []string{"closed"} })}, "Spec.Events: only"},
		{"a nameless parameter", []runner.Action{spec(func(s *protocol.ActionSpec) { s.Params[0].Name = "" })}, "Spec.Params[0].Name: want"},
		{"the parameter type", []runner.Action{spec(func(s *protocol.ActionSpec) { s.Params[0].Name = "type" })}, "Spec.Params[0].Name: type has a meaning"},
		{"two of a name", []runner.Action{spec(func(s *protocol.ActionSpec) { s.Params[1].Name = "team" })}, "Spec.Params[1].Name: team is used twice"},
		{"no such kind", []runner.Action{spec(func(s *protocol.ActionSpec) { s.Params[1].Kind = 9 })}, "Spec.Params[1].Kind: there is no kind 9"},
		{"no such main", []runner.Action{spec(func(s *protocol.ActionSpec) { s.Main = "who" })}, `Spec.Main: there is no parameter "who"`},
	}
	for _, tt := range tests {
		_, err := runner.New(runner.Options{DryRun: true, Actions: tt.actions})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}
