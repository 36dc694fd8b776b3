package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// TestRationaleGolden runs every archive in testdata/rationale: rule files, the facts in facts.json,
// and in want the rationale of each rule, in order.
func TestRationaleGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "rationale", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			set, _, err := compile(ar)
			if err != nil {
				t.Fatal(err)
			}
			f := factsOf(t, ar)
			got := rationales(t, set, f)
			for range 3 {
				if again := rationales(t, set, f); again != got {
					t.Errorf("differs the second time:\n%s\n%s", got, again)
				}
			}
			if *update {
				setFile(ar, "want", got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(getFile(ar, "want"), got); diff != "" {
				t.Errorf("want and got differ (-want +got):\n%s", diff)
			}
		})
	}
}

// rationales returns the rationale of each rule, a line for each.
func rationales(t *testing.T, set *rules.Set, f facts.Facts) string {
	t.Helper()
	all := set.Rationale(t.Context(), f, set.IDs()...)
	var b strings.Builder
	for _, id := range set.IDs() {
		b.WriteString(all[id] + "\n")
		if alone := set.Rationale(t.Context(), f, id, "no-such-rule"); len(alone) != 1 || alone[id] != all[id] {
			t.Errorf("%s: alone got %q, with the others %q", id, alone, all[id])
		}
	}
	return b.String()
}

// factsOf reads the facts of an archive.
func factsOf(t *testing.T, ar *txtar.Archive) facts.Facts {
	t.Helper()
	var f struct {
		facts.Facts
		Known    *facts.Known
		Supplied []string
	}
	if err := json.Unmarshal([]byte(getFile(ar, "facts.json")), &f); err != nil {
		t.Fatalf("facts.json: %v", err)
	}
	if f.Known != nil {
		f.Lookup = *f.Known
	}
	if f.Supplied != nil {
		f.Lookup = supplied(f.Known, f.Supplied)
	}
	return f.Facts
}

// For every golden case, the rationale of each rule that fires contains only text of its condition, and
// none of the issue: a canary in all texts of the issue never occurs. Its parts are in the condition in
// their order.
func TestRationaleHasNothingOfTheIssue(t *testing.T) {
	t.Parallel()
	const canary = "c4n4ry"
	fired, explained := 0, 0
	for _, dir := range []string{"cases", "ok", "why", "rationale"} {
		files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no archives: %v", dir, err)
		}
		for _, file := range files {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			set, _, err := compile(ar)
			if err != nil {
				continue // a case of a mistake
			}
			f := factsOf(t, ar)
			for _, f := range []facts.Facts{f, poisoned(f, canary)} {
				res, err := set.Decide(t.Context(), f)
				if err != nil {
					continue
				}
				all := set.Rationale(t.Context(), f, set.IDs()...)
				for _, trace := range res.Trace {
					got, when := all[trace.ID], strings.Join(strings.Fields(trace.Condition), " ")
					parts, ok := strings.CutPrefix(got, "rule "+trace.ID)
					switch {
					case !ok || strings.Contains(got, canary) || strings.ContainsAny(got, "\n\t"):
						t.Errorf("%s: got %q", file, got)
					case trace.Outcome != rules.Matched && parts != "":
						t.Errorf("%s: the rule %s is %s, got %q", file, trace.ID, trace.Outcome, got)
					case trace.Outcome != rules.Matched:
					case trace.Condition == "" && parts != ": always", trace.Condition != "" && parts == "":
						t.Errorf("%s: got %q", file, got)
					case trace.Condition != "":
						explained++
						for part := range strings.SplitSeq(strings.TrimPrefix(parts, ": "), "; ") {
							if _, after, found := strings.Cut(when, part); found {
								when = after
							} else if !strings.Contains(trace.Condition, "//") {
								t.Errorf("%s: %q is not in the rest of the condition %q", file, part, when)
							}
						}
					}
				}
				fired += len(res.Fired)
			}
		}
	}
	if fired < 400 || explained < 300 {
		t.Errorf("%d rules fired, and %d with a condition: too few", fired, explained)
	}
}

// poisoned returns facts with a canary in every text that an account chooses.
func poisoned(f facts.Facts, canary string) facts.Facts {
	f.Issue.Title += " " + canary
	f.Issue.Body = canary + "\n" + f.Issue.Body + "\n" + canary
	f.Issue.Labels = append(slices.Clone(f.Issue.Labels), canary, "area/"+canary)
	f.Issue.Assignees = append(slices.Clone(f.Issue.Assignees), canary)
	if f.Issue.Milestone == "" {
		f.Issue.Milestone = canary
	}
	f.Issue.Author = canary + f.Issue.Author
	f.Event.Comment.Body += "\n" + canary
	f.Event.Comment.Author += canary
	return f
}

// A look-up that Decide does not need is not made. Functions of the program are called only for operands
// that the evaluation reaches.
func TestRationaleLooksNothingMoreUp(t *testing.T) {
	t.Parallel()
	calls := 0
	tier := fn(func(f *rules.Func) {
		f.Call = func(context.Context, []any) (any, error) { calls++; return "gold", nil }
	})
	tests := []struct {
		when, want string
		calls      int // of the function, in both
	}{
		{`issue.number == 7 or tier("a") == "gold" or label("a")`, `rule r: issue.number == 7; label("a")`, 0},
		{`label("none") or tier("a") == "gold"`, `rule r: tier("a") == "gold"`, 2},
		{`tier("a") == "gold" and tier("a") != "free"`, `rule r: tier("a") == "gold"; tier("a") != "free"`, 2},
		{`issue.number == 7 or author.issues == 0`, `rule r: issue.number == 7`, 0},
		{`issue.number == 7 or label_age("a") > duration("1d")`, `rule r: issue.number == 7`, 0},
		{`issue.number == 7 or issue.labels[9] == "x"`, `rule r: issue.number == 7`, 0},
		{`label("none") or actor.permission == "write"`, `rule r: actor.permission == "write"`, 0},
	}
	for _, tt := range tests {
		calls = 0
		set, err := compileWith(ruleWith(tt.when), tier)
		if err != nil {
			t.Fatal(err)
		}
		f := newIssue()
		f.Actor = triage.Actor{Login: "mona"}
		f.Lookup = onlyPermission{t: t}
		if res, err := set.Decide(t.Context(), f); err != nil || len(res.Fired) != 1 {
			t.Fatalf("%s: %v %v", tt.when, res, err)
		}
		if got := set.Rationale(t.Context(), f, "r")["r"]; got != tt.want || calls != tt.calls {
			t.Errorf("%s: got %q and %d calls, want %q and %d", tt.when, got, calls, tt.want, tt.calls)
		}
	}
}

// onlyPermission fails the test at any look-up but that of a permission.
type onlyPermission struct {
	facts.Known

	t *testing.T
}

func (onlyPermission) Permission(context.Context, string) (string, error) { return "write", nil }

func (l onlyPermission) Read(_ context.Context, p facts.Part, _ *facts.Known) error {
	l.t.Errorf("%s was looked up", p)
	return nil
}

func (l onlyPermission) Timeline(context.Context) (facts.Timeline, error) {
	l.t.Error("the timeline was looked up")
	return facts.Timeline{}, nil
}

func TestRationaleOfNothing(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	set := mustCompile(t, ruleWith("issue.number == 7"))
	failing := mustCompile(t, ruleWith(`issue.labels[9] == "x"`))
	for _, tt := range []struct {
		name string
		ctx  context.Context
		set  *rules.Set
		ids  []string
		want map[string]string
	}{
		{"no rules", t.Context(), nil, []string{"r"}, map[string]string{}},
		{"no ids", t.Context(), set, nil, map[string]string{}},
		{"an unknown id", t.Context(), set, []string{"x"}, map[string]string{}},
		{"twice", t.Context(), set, []string{"r", "r"}, map[string]string{"r": "rule r: issue.number == 7"}},
		{"a context that ended", ended, set, []string{"r"}, map[string]string{"r": "rule r"}},
		{"a rule that failed", t.Context(), failing, []string{"r"}, map[string]string{"r": "rule r"}},
	} {
		if got := tt.set.Rationale(tt.ctx, newIssue(), tt.ids...); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// After a thousand evaluated parts, rules are not explained any more. The result does not depend on the
// order of the ids.
func TestRationaleIsBounded(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	src.WriteString("version: 1\nrules:\n")
	for i := range 60 {
		fmt.Fprintf(&src, "  - {id: r%d, when: '%sissue.number == 7', then: [lock]}\n", i, strings.Repeat(`label("x") or `, 40))
	}
	set := mustCompile(t, src.String())
	all := set.Rationale(t.Context(), newIssue(), set.IDs()...)
	if all["r0"] != "rule r0: issue.number == 7" || all["r59"] != "rule r59" {
		t.Errorf("got %q and %q", all["r0"], all["r59"])
	}
}

// In random conditions, a rule that matches has a rationale, and each of its parts is a condition that is
// true.
func TestRationalePartsAreTrue(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(38, 1))
	matched := 0
	for range 2000 {
		when := randomCondition(r, 4)
		set := mustCompile(t, "version: 1\nrules:\n  - id: r\n    when: |\n      "+when+"\n    then: [lock]\n")
		res, err := set.Decide(t.Context(), newIssue())
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		got := set.Rationale(t.Context(), newIssue(), "r")["r"]
		text, ok := strings.CutPrefix(got, "rule r: ")
		if ok != (len(res.Fired) == 1) {
			t.Fatalf("%s: fired %v, got %q", when, res.Fired, got)
		}
		if !ok {
			continue
		}
		matched++
		for part := range strings.SplitSeq(text, "; ") {
			c, err := rules.CompileCondition(part)
			if err != nil {
				t.Fatalf("%s: the part %q: %v", when, part, err)
			}
			if value, err := c.Eval(t.Context(), newIssue()); err != nil || !value {
				t.Errorf("%s: the part %q is %t: %v", when, part, value, err)
			}
		}
	}
	if matched < 500 {
		t.Errorf("%d conditions are true, want at least 500", matched)
	}
}

// randomCondition returns a condition of at most that depth.
func randomCondition(r *rand.Rand, depth int) string {
	leaves := []string{
		"issue.number == 7", "issue.locked", `label("a")`, `any_label("x*", "b")`, `issue.title contains "and ( or"`, "issue.title matches `(?i)panic|\\)`",
		"1 < issue.number < 9", `"a" not in issue.labels`, `(issue.author == 'mona')`, `(issue.locked ? label("a") : label("b"))`, `len(issue.labels) > 1 // or` + "\n      ",
	}
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	if depth == 0 || r.IntN(5) == 0 {
		return pick(leaves)
	}
	a, b := randomCondition(r, depth-1), randomCondition(r, depth-1)
	switch r.IntN(6) {
	case 0:
		return "not (" + a + ")"
	case 1:
		return "(" + a + ")"
	case 2:
		return "(" + a + ") " + pick([]string{"and", "or"}) + " (" + b + ")"
	}
	return a + " " + pick([]string{"and", "&&", "or", "||"}) + " " + b
}
