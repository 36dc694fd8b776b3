package config_test

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// ownFile is one configuration file.
type ownFile string

func (f ownFile) Read(_ context.Context, path string) ([]byte, error) {
	if path != config.DefaultPath {
		return nil, fs.ErrNotExist
	}
	return []byte(f), nil
}

func (ownFile) Glob(context.Context, string) ([]string, error) { return nil, nil }

// TestOwn loads files that use functions and actions of the program's own.
func TestOwn(t *testing.T) {
	t.Parallel()
	own := rules.CompileOptions{
		Funcs: []rules.Func{{
			Name: "tier", Params: []rules.Kind{rules.KindText}, Result: rules.KindText, MaxCost: 1,
			Call: func(_ context.Context, args []any) (any, error) { return "gold", nil },
		}},
		Actions: []protocol.ActionSpec{{Name: "page", Limit: 1, Main: "team", Params: []protocol.Param{{Name: "team", Required: true}}}},
	}
	const rule = "rules:\n  - {id: r, when: 'tier(issue.author) == \"gold\"', then: [{page: db}]}\n"
	const test = "tests:\n  - {name: t, functions: {tier: gold}, expect: {fired: [r], actions: [{page: db}]}}\n"
	tests := []struct {
		name, src string
		own       rules.CompileOptions
		want      string // a part of the error
	}{
		{"all", "policy: {actions: [page], limits: {page: 3}}\nagent: {url: 'https://a', when: 'tier(actor.login) == \"gold\"', may: [page]}\n" + rule + test, own, ""},
		{"without them", "policy: {actions: [page]}\n", rules.CompileOptions{}, `unknown action "page"`},
		{"a rule without them", rule, rules.CompileOptions{}, "unknown name tier"},
		{"a mistake in the name", "policy: {actions: [pgae]}\n", own, `unknown action "pgae"; did you mean page?`},
		{"a limit", "limits: {pgae: 1}\n", own, `unknown action "pgae"; did you mean page?`},
		{"agent.may", "agent: {may: [pgae]}\n", own, `unknown action "pgae"; did you mean page?`},
		{"agent.when", "agent: {when: 'teir(\"a\") == \"\"'}\n", own, "unknown name teir"},
		{"a test", rule + "tests:\n  - {name: t, functions: {teir: x}, expect: {fired: []}}\n", own, "did you mean tier?"},
		{"wrong options", "", rules.CompileOptions{Funcs: make([]rules.Func, 1)}, "rules: CompileOptions.Funcs[0].Name"},
	}
	for _, tt := range tests {
		c, err := config.Load(t.Context(), ownFile("version: 1\n"+tt.src), config.Spec{Path: config.DefaultPath, Own: tt.own, Tests: true})
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		f := facts.Facts{Issue: triage.Issue{Number: 1}, Event: triage.Event{Name: "issues", Action: "opened"}}
		res, err := c.Rules.Decide(t.Context(), f)
		asked, werr := c.Agent.When.Eval(t.Context(), f)
		if err != nil || werr != nil || !asked || !slices.Equal(res.Fired, []string{"r"}) || len(c.Tests) != 1 || c.Policy.EffectiveLimits()["page"] != 3 {
			t.Errorf("%s: got %v, %v, asked %v, %v, %d tests", tt.name, res.Fired, err, asked, werr, len(c.Tests))
		}
	}
}
