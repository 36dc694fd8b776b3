package rules_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// fn returns the function tier, with a change.
func fn(change func(*rules.Func)) rules.Func {
	f := rules.Func{
		Name: "tier", Doc: "the tier of a customer", Params: []rules.Kind{rules.KindText}, Result: rules.KindText, MaxCost: 1000,
		Call: func(_ context.Context, args []any) (any, error) { return "gold of " + args[0].(string), nil },
	}
	if change != nil {
		change(&f)
	}
	return f
}

// ruleWith returns rules with one rule that adds a label.
func ruleWith(when string) string {
	return "version: 1\nrules:\n  - id: r\n    when: |\n      " + when + "\n    then: [{add_label: x}]\n"
}

// compileWith compiles rules with functions.
func compileWith(src string, funcs ...rules.Func) (*rules.Set, error) {
	file, err := rules.Parse("rules.yml", []byte(src))
	if err != nil {
		return nil, err
	}
	return rules.CompileWith(rules.CompileOptions{Funcs: funcs}, file)
}

func newIssue() facts.Facts {
	return facts.Facts{
		Issue: triage.Issue{Number: 7, Title: "Panic", Body: strings.Repeat("x", 1000), Author: "mona", Labels: []string{"a", "b"}, CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		Event: triage.Event{Name: "issues", Action: "opened"}, Now: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
	}
}

// TestFuncOptions checks that CompileWith names the wrong field of a function or an action.
func TestFuncOptions(t *testing.T) {
	t.Parallel()
	page := protocol.ActionSpec{Name: "page", Limit: 1}
	tests := []struct {
		name string
		o    rules.CompileOptions
		want string // empty: valid
	}{
		{"valid", rules.CompileOptions{Funcs: []rules.Func{fn(nil)}, Actions: []protocol.ActionSpec{page}}, ""},
		{"zero", rules.CompileOptions{Funcs: make([]rules.Func, 1)}, "CompileOptions.Funcs[0].Name: want"},
		{"twice", rules.CompileOptions{Funcs: []rules.Func{fn(nil), fn(nil)}}, "CompileOptions.Funcs[1].Name: tier is used twice"},
		{"no kind", rules.CompileOptions{Funcs: []rules.Func{fn(func(f *rules.Func) { f.Params = []rules.Kind{rules.KindText, "map"} })}}, `Funcs[0].Params[1]: there is no kind "map"`},
		{"no result", rules.CompileOptions{Funcs: []rules.Func{fn(func(f *rules.Func) { f.Result = "" })}}, `Funcs[0].Result: there is no kind ""`},
		{"free", rules.CompileOptions{Funcs: []rules.Func{fn(func(f *rules.Func) { f.MaxCost = 0 })}}, "Funcs[0].MaxCost: want 1 to 100000, got 0"},
		{"negative", rules.CompileOptions{Funcs: []rules.Func{fn(func(f *rules.Func) { f.MaxCost = -1 })}}, "Funcs[0].MaxCost"},
		{"too expensive", rules.CompileOptions{Funcs: []rules.Func{fn(func(f *rules.Func) { f.MaxCost = 100_001 })}}, "Funcs[0].MaxCost"},
		{"no Call", rules.CompileOptions{Funcs: []rules.Func{fn(func(f *rules.Func) { f.Call = nil })}}, "Funcs[0].Call: is nil"},
		{"an action without a limit", rules.CompileOptions{Actions: []protocol.ActionSpec{{Name: "page"}}}, "CompileOptions.Actions[0].Limit"},
		{"a built-in action", rules.CompileOptions{Actions: []protocol.ActionSpec{{Name: "lock", Limit: 1}}}, "CompileOptions.Actions[0].Name: lock is a built-in action"},
		{"an action twice", rules.CompileOptions{Actions: []protocol.ActionSpec{page, page}}, "CompileOptions.Actions[1].Name: page is used twice"},
	}
	for _, name := range []string{
		"label", "issue", "pr", "memory", "form", "tables", "now", "matches", "len", "filter", "fromJSON", "groupBy", "let", "in", "not", "and", "true", "nil",
		"if", "contains", "Tier", "__run", "a-b", "a.b", "", "a b", "tiér", strings.Repeat("a", 65),
	} {
		tests = append(tests, struct {
			name string
			o    rules.CompileOptions
			want string
		}{"the name " + name, rules.CompileOptions{Funcs: []rules.Func{fn(func(f *rules.Func) { f.Name = name })}}, "CompileOptions.Funcs[0].Name: "})
	}
	for _, tt := range tests {
		_, err := rules.CompileWith(tt.o)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestFunc evaluates conditions that call a program's own function.
func TestFunc(t *testing.T) {
	t.Parallel()
	returns := func(kind rules.Kind, v any) rules.Func {
		return fn(func(f *rules.Func) {
			f.Params, f.Result, f.Call = nil, kind, func(context.Context, []any) (any, error) { return v, nil }
		})
	}
	takes := func(kinds ...rules.Kind) rules.Func {
		return fn(func(f *rules.Func) {
			f.Params, f.Call = kinds, func(_ context.Context, args []any) (any, error) { return fmt.Sprintf("%T %v", args, args), nil }
		})
	}
	tests := []struct {
		name, when string
		f          rules.Func
		want       string // "true", "false", or a part of the error
	}{
		{"text", `tier(issue.author) == "gold of mona"`, fn(nil), "true"},
		{"in a loop", `any(issue.labels, tier(#) == "gold of b")`, fn(nil), "true"},
		{"with itself", `tier(tier("a")) endsWith "gold of a"`, fn(nil), "true"},
		{"number", `tier() * 2 == 5`, returns(rules.KindNumber, 2.5), "true"},
		{"whole number", `tier() == 2`, returns(rules.KindNumber, 2), "true"},
		{"true or false", `tier()`, returns(rules.KindBool, true), "true"},
		{"list", `"b" in tier() and len(tier()) == 2`, returns(rules.KindTexts, []string{"a", "b"}), "true"},
		{"no list", `len(tier()) == 0`, returns(rules.KindTexts, []string(nil)), "true"},
		{"duration", `tier() > duration("1h")`, returns(rules.KindDuration, 2*time.Hour), "true"},
		{"time", `now - tier() == duration("1d")`, returns(rules.KindTime, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), "true"},
		{"all kinds", `tier("a", issue.number, true, issue.labels, duration("1h"), issue.created_at) == "[]interface {} [a 7 true [a b] 1h0m0s 2026-01-01 00:00:00 +0000 UTC]"`,
			takes(rules.KindText, rules.KindNumber, rules.KindBool, rules.KindTexts, rules.KindDuration, rules.KindTime), "true"},
		{"a computed list", `tier(filter(issue.labels, # != "a")) contains "[[b]]"`, takes(rules.KindTexts), "true"},
		{"a missing text", `tier(find(issue.labels, # == "c")) == "gold of "`, fn(nil), "true"},

		{"unknown name", `teir(issue.author) == ""`, fn(nil), "unknown name teir"},
		{"too few arguments", `tier() == ""`, fn(nil), "not enough arguments to call tier"},
		{"too many arguments", `tier("a", "b") == ""`, fn(nil), "too many arguments to call tier"},
		{"wrong argument", `tier(issue.number) == ""`, fn(nil), "cannot use int as argument"},
		{"text for a list", `tier(issue.title) == ""`, takes(rules.KindTexts), "argument 1 of tier: want a list of texts, got text"},
		{"wrong comparison", `tier(issue.author) == 1`, fn(nil), "mismatched types"},
		{"no condition", `tier(issue.author)`, fn(nil), "want a condition"},
		{"a variable of its name", `let tier = 1; tier == 1`, fn(nil), "cannot redeclare"},
		{"a list of numbers", `tier(map(issue.labels, len(#))) == ""`, takes(rules.KindTexts), "argument 1 of tier: want a list"},

		{"another type", `tier() == ""`, returns(rules.KindText, 7), "tier returned a number; its result is declared as text"},
		{"nothing", `tier() == ""`, returns(rules.KindText, nil), "tier returned nothing; its result is declared as text"},
		{"a pointer", `tier() == ""`, returns(rules.KindText, new(int)), "tier returned a value of type *int"},
		{"a list of any", `len(tier()) == 1`, returns(rules.KindTexts, []any{1}), "tier returned a value of type []interface {}; its result is declared as a list of texts"},
		{"a huge text", `tier() == ""`, returns(rules.KindText, strings.Repeat("x", 5<<20)), "the result of tier: the expression builds more than"},
		{"a huge list", `len(tier()) == 1`, returns(rules.KindTexts, make([]string, 100_001)), "tier returned a list"},
		{"its cost", `tier("a") + tier("b") + tier("c") == ""`, fn(func(f *rules.Func) { f.MaxCost = 40_000 }), "tier: the expression takes more than 100000 steps"},
		{"its cost for equal calls", `tier("a") + tier("a") + tier("a") == ""`, fn(func(f *rules.Func) { f.MaxCost = 40_000 }), "tier: the expression takes more than 100000 steps"},
		{"its cost in a loop", `any(1..1000, tier(string(#)) == "")`, fn(nil), "tier: the expression takes more than 100000 steps"},
		{"it fails", `tier("a") == ""`, fn(func(f *rules.Func) {
			f.Call = func(context.Context, []any) (any, error) { return nil, errors.New("no\x1b[31m\nanswer") }
		}), "tier: no"},
		{"it panics", `tier("a") == ""`, fn(func(f *rules.Func) {
			f.Call = func(_ context.Context, args []any) (any, error) { return args[1], nil }
		}), "tier: it panicked: runtime error: index"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set, err := compileWith(ruleWith(tt.when), tt.f)
			var res rules.Result
			if err == nil {
				res, err = set.Decide(t.Context(), newIssue())
			}
			switch got := fmt.Sprint(len(res.Fired) == 1); {
			case err != nil && (!strings.Contains(err.Error(), tt.want) || strings.ContainsRune(err.Error(), '\x1b')):
				t.Errorf("got the error %v, want %s", err, tt.want)
			case err == nil && got != tt.want:
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestFuncOfOneRule checks that a function which panics stops its own rule alone, and that a value
// which is not known stops no rule.
func TestFuncOfOneRule(t *testing.T) {
	t.Parallel()
	const src = "version: 1\nrules:\n" +
		"  - {id: a, when: 'tier(issue.author) == \"gold\"', then: [{add_label: x}]}\n" +
		"  - {id: b, then: [{add_label: '{{ tier(\"b\") }}'}]}\n" +
		"  - {id: c, then: [{add_label: y}]}\n"
	for _, unknown := range []bool{false, true} {
		set, err := compileWith(src, fn(func(f *rules.Func) {
			f.Call = func(context.Context, []any) (any, error) {
				if unknown {
					return nil, fmt.Errorf("crm: %w", &facts.UnknownError{Reason: "the customer is not known yet"})
				}
				panic("no such customer")
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		res, err := set.Decide(t.Context(), newIssue())
		want := rules.Failed
		if unknown {
			want = rules.Unknown
		}
		if (err == nil) != unknown || len(res.Fired) != 1 || res.Fired[0] != "c" || res.Trace[0].Outcome != want || res.Trace[1].Outcome != want {
			t.Errorf("got %v, %v, %+v", err, res.Fired, res.Trace)
		}
	}
}

// TestFuncTemplate checks that a result in {{ }} is untrusted text.
func TestFuncTemplate(t *testing.T) {
	t.Parallel()
	set, err := compileWith("version: 1\nrules:\n  - {id: r, then: [{comment: 'Hi {{ tier(issue.author) }}'}]}\n", fn(func(f *rules.Func) {
		f.Call = func(context.Context, []any) (any, error) { return "@octo/all fixes #3 \xff", nil }
	}))
	if err != nil {
		t.Fatal(err)
	}
	res, err := set.Decide(t.Context(), newIssue())
	if err != nil || len(res.Message.Actions) != 1 {
		t.Fatalf("got %v, %v", res.Message, err)
	}
	if body, _, _ := res.Message.Actions[0].Text("body"); strings.Contains(body, "@octo") || strings.Contains(body, "#3") {
		t.Errorf("got %q", body)
	}
}

// TestFuncContext checks that a function which waits ends with the context, and that each equal call
// of one decision is made once.
func TestFuncContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	set, err := compileWith(ruleWith(`tier("a") == "" or tier("b") == ""`), fn(func(f *rules.Func) {
		f.Call = func(ctx context.Context, _ []any) (any, error) {
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if res, err := set.Decide(ctx, newIssue()); !errors.Is(err, context.Canceled) || len(res.Fired) > 0 {
		t.Errorf("got %v, %v", res.Fired, err)
	}
	calls := 0
	set, err = compileWith(ruleWith(`tier("a") != "" and tier("a") == "a" and tier("b") != ""`), fn(func(f *rules.Func) {
		f.Call = func(_ context.Context, args []any) (any, error) { calls++; return args[0], nil }
	}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Decide(t.Context(), newIssue()); err != nil || calls != 2 {
		t.Errorf("got %v after %d calls", err, calls)
	}
	if why := set.Explain(t.Context(), newIssue())[0].Why.String(); !strings.Contains(why, `"a"  tier("a")`) || calls != 4 {
		t.Errorf("after %d calls, got\n%s", calls, why)
	}
}

// TestReferenceOfFuncs checks that a program's own functions are listed after the built-in names.
func TestReferenceOfFuncs(t *testing.T) {
	t.Parallel()
	list := rules.Reference(fn(nil), fn(func(f *rules.Func) {
		f.Name, f.Params, f.Result = "owners", []rules.Kind{rules.KindTexts, rules.KindNumber}, rules.KindTexts
	}))
	n := len(rules.Reference())
	if len(list) != n+2 || list[n] != (rules.Name{Name: "tier", Type: "(text) text", Doc: "the tier of a customer"}) || list[n+1].Type != "(list of texts, number) list of texts" {
		t.Errorf("got %+v", list[n:])
	}
}

// TestOwnAction checks that rules can have own actions that are declared, and no others.
func TestOwnAction(t *testing.T) {
	t.Parallel()
	page := protocol.ActionSpec{Name: "page", Main: "team", Limit: 1, Params: []protocol.Param{{Name: "team", Required: true, Enum: []string{"db", "web"}}, {Name: "text", Kind: protocol.KindMarkdown}}}
	tests := []struct{ then, want string }{
		{`{page: db}`, `{"type":"page","team":"db"}`},
		{`{page: {team: web, text: "{{ issue.author }}"}}`, `{"type":"page","team":"web","text":"mona"}`},
		{`{page: mail}`, "page: team: want 'db' or 'web'"},
		{`page`, "page needs team"},
		{`{page: {team: db, who: x}}`, `unknown key "who"`},
		{`{pgae: db}`, `did you mean page?`},
	}
	for _, tt := range tests {
		file, err := rules.Parse("rules.yml", []byte("version: 1\nrules:\n  - {id: r, then: ["+tt.then+"]}\n"))
		if err != nil {
			t.Fatal(err)
		}
		set, err := rules.CompileWith(rules.CompileOptions{Actions: []protocol.ActionSpec{page}}, file)
		if err != nil {
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: got %v, want %s", tt.then, err, tt.want)
			}
			continue
		}
		res, err := set.Decide(t.Context(), newIssue())
		if err != nil || len(res.Message.Actions) != 1 || res.Message.Actions[0].String() != tt.want {
			t.Errorf("%s: got %v, %v, want %s", tt.then, res.Message.Actions, err, tt.want)
		}
		if _, err := rules.Compile(file); err == nil || !strings.Contains(err.Error(), `unknown action "page"`) {
			t.Errorf("%s: without the option, got %v", tt.then, err)
		}
	}
}
