package ruletest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
)

// TestFunctions runs tests of rules that call functions of the program's own.
func TestFunctions(t *testing.T) {
	t.Parallel()
	o := rules.CompileOptions{Actions: []protocol.ActionSpec{{Name: "page", Limit: 1, Main: "team", Params: []protocol.Param{{Name: "team"}}}}}
	for name, kind := range map[string]rules.Kind{
		"tier": rules.KindText, "seats": rules.KindNumber, "paid": rules.KindBool, "owners": rules.KindTexts, "left": rules.KindDuration, "since": rules.KindTime,
	} {
		o.Funcs = append(o.Funcs, rules.Func{Name: name, Result: kind, MaxCost: 1, Call: func(context.Context, []any) (any, error) {
			t.Errorf("%s was called", name)
			return nil, nil
		}})
	}
	const fired = "expect: {fired: [r], actions: [{page: db}]}"
	tests := []struct{ when, test, want string }{ // want is a part of the mismatch; empty: the test passes
		{`tier() == "gold"`, "functions: {tier: gold}, " + fired, ""},
		{`seats() > 2.4`, "functions: {seats: 2.5}, " + fired, ""},
		{`paid()`, "functions: {paid: true}, " + fired, ""},
		{`"mona" in owners()`, "functions: {owners: [octo, mona]}, " + fired, ""},
		{`left() < duration("2d")`, "functions: {left: 36h}, " + fired, ""},
		{`since() < now`, "functions: {since: 2025-12-24}, " + fired, ""},
		{`tier() == "gold"`, "functions: {tier: silver}, expect: {fired: []}", ""},
		{`tier() == "gold"`, "functions: {tier: silver}, " + fired, "got []"},
		{`tier() == "gold"`, fired, "there is no recorded result of tier; a test names it under functions"},
		{`tier() == "gold"`, "functions: {paid: true}, " + fired, "there is no recorded result of tier"},
		{`tier() == "gold"`, "functions: {teir: gold}, " + fired, `the program has no function "teir" of its own; did you mean tier?`},
		{`seats() == 1`, "functions: {seats: many}, " + fired, "functions.seats: "},
		{`left() < now - now`, "functions: {left: soon}, " + fired, "functions.left: want a duration"},
		{`since() < now`, "functions: {since: soon}, " + fired, "functions.since: want a time"},
		{`paid()`, "functions: [paid], " + fired, "functions: want a mapping"},
		{`true`, "expect: {actions: [{pgae: db}]}", "did you mean page?"},
	}
	for _, tt := range tests {
		file, err := rules.Parse("rules.yml", []byte("version: 1\nrules:\n  - {id: r, when: '"+tt.when+"', then: [{page: db}]}\ntests:\n  - {name: t, "+tt.test+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		own, err := o.Source()
		if err != nil {
			t.Fatal(err)
		}
		set, err := rules.CompileWith(o, file)
		if err != nil {
			t.Errorf("%s: %v", tt.when, err)
			continue
		}
		list, err := ruletest.Parse(own, file)
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case len(list) != 1:
			t.Fatalf("%s: got %d tests", tt.test, len(list))
		default:
			for _, m := range ruletest.Run(t.Context(), set, list[0], nil).Mismatches {
				got += m.Key + ": got " + m.Got + "\n"
			}
		}
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.test, got, tt.want)
		}
	}
}
