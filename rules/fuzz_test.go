package rules

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/triage"
)

// FuzzRules checks that no rule file makes parsing or deciding panic, that mistakes have positions,
// and that decisions are well formed.
func FuzzRules(f *testing.F) {
	for _, dir := range []string{"ok", "err"} {
		files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(ar.Files[0].Data, "title", "body")
		}
	}
	f.Fuzz(func(t *testing.T, src []byte, title, body string) {
		s, err := Parse("rules.yml", src)
		if err == nil {
			var set *Set
			if set, err = Compile(s); err == nil {
				decideAnything(t, set, title, body)
				return
			}
		}
		ps, ok := errors.AsType[yamlfile.Problems](err)
		if !ok || len(ps) == 0 {
			t.Fatalf("got a %T: %v", err, err)
		}
		for _, p := range ps {
			if p.Line < 1 && len(src) <= yamlfile.MaxSize || p.Message == "" {
				t.Errorf("a problem without place or text: %v", p)
			}
		}
	})
}

func decideAnything(t *testing.T, set *Set, title, body string) {
	t.Helper()
	facts := facts.Facts{Issue: triage.Issue{Number: 1, Title: title, Body: body, Labels: []string{title, "bug"}}, Event: triage.Event{Name: "issues", Action: "opened"}}
	for _, u := range (*ruleset.Set)(set).Rules().Labels() {
		if u.Place.Line < 1 || u.Label == "" {
			t.Errorf("a label without place or name: %v", u)
		}
	}
	(*ruleset.Set)(set).Rules().Forms()
	(*ruleset.Set)(set).Rules().FormTables()
	r, err := set.Decide(t.Context(), facts)
	if err != nil {
		if _, ok := errors.AsType[*EvalError](err); !ok {
			t.Errorf("got a %T: %v", err, err)
		}
		return
	}
	if len(r.Sources) != len(r.Message.Actions) || len(r.Trace) != set.Len() || r.Message.Rationale == "" {
		t.Errorf("sources %v, trace %v, rationale %q", r.Sources, r.Trace, r.Message.Rationale)
	}
	for _, a := range r.Message.Actions {
		spec, ok := protocol.SpecOf(a.Type)
		if !ok || spec.Check(a) != nil {
			t.Errorf("bad action %v: %v", a, spec.Check(a))
		}
		if b, err := a.MarshalJSON(); err != nil || len(b) > 8*action.MaxMarkdown {
			t.Errorf("the action has %d bytes: %v", len(b), err)
		}
	}
}
