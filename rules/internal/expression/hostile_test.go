package expression

import (
	"runtime"
	"strings"
	"testing"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/cost"
	"github.com/org/foreman-action/rules/internal/symbols"
	"github.com/org/foreman-action/triage"
)

// hostileBody is as large as GitHub allows the body of an issue to be.
var hostileBody = strings.Repeat("aA x", 65536/4)

// hostile lists expressions of unbounded cost in an unguarded evaluator. Each is stopped at load or
// at run time.
var hostile = []struct {
	name, src string
	load, run string // a part of the error; if both are empty, the evaluation must just end
}{
	{"huge range", `len(1..100000000) > 0`, "a range has at most 1000 elements", ""},
	{"range one too long", `len(1..1001) > 0`, "a range has at most 1000 elements", ""},
	{"range as long as allowed", `len(1..1000) == 1000`, "", ""},
	{"overflowing range", `len(-9223372036854775807..9223372036854775807) > 0`, "a range has at most 1000 elements", ""},
	{"computed range", `len(1..issue.number) > 0`, "the bounds of a range must be literal whole numbers", ""},
	{"repeat", `repeat("x", 100000000) == ""`, "not available in rules", ""},
	{"nested map", `len(map(1..1000, map(1..1000, #))) > 0`, "", "builds lists that are too long"},
	{"three loops with ranges", `all(1..1000, all(1..1000, all(1..1000, # > 0)))`, "more than 2 loops", ""},
	{"two loops over a variable", `let a = 1..1000; all(a, all(a, # > 0))`, "", "more than 100000 steps"},
	{"three loops over a variable", `let a = 1..1000; all(a, all(a, all(a, # > 0)))`, "more than 2 loops", ""},
	{"loops in different predicates", `let a = 1..1000; count(a, any(a, # == -1)) == 0`, "", "more than 100000 steps"},
	{"slices in a loop", `any(1..1000, issue.body[#:60000] == "")`, "", "more than 100000 steps"},
	{"offsets in a loop", `any(1..1000, indexOf(issue.body, "zzz") + lastIndexOf(issue.body, "x") == #)`, "", "more than 100000 steps"},
	{"split", `let a = split(issue.body, ""); all(a, all(a, # != ""))`, "not available in rules", ""},
	{"doubled text", "let a = issue.body; " + doubled(24) + "len(z) > 0", "", "builds more than"},
	{"doubled text of unknown type", `let a = find([issue.body], true) ?? ""; let b = a + a; let c = b + b; let d = c + c; let e = d + d; let f = e + e; let g = f + f; let h = g + g; len(h + h) > 0`, "", "builds more than"},
	{"doubled text in a loop", `let l = map(1..1000, issue.body + #index); len(l) > 0`, "invalid operation: +", ""},
	{"text built in a loop", `len(map(1..1000, issue.body + "x")) > 0`, "", "builds more than"},
	{"lower in a loop", `len(map(1..1000, lower(issue.body))) > 0`, "", ""},
	{"lower of different texts in a loop", `len(map(1..1000, lower(string(#) + issue.body))) > 0`, "", "builds more than"},
	{"join", `len(join(map(1..1000, issue.body), "")) > 0`, "", "builds more than"},
	{"join of join", `let a = map(1..1000, "0123456789"); let b = map(1..1000, join(a, "")); len(b) > 0`, "", "builds more than"},
	{"replace", `len(replace(issue.body, "x", issue.body)) > 0`, "not available in rules", ""},
	{"reduce", `reduce(1..1000, # + #acc) > 0`, "not available in rules", ""},
	{"toJSON of everything", `toJSON($env) == ""`, "unknown name $env", ""},
	{"string of a list", `string(map(1..1000, issue.body)) == ""`, "cannot use", ""},
	{"flatten", `len(flatten([[1]])) > 0`, "not available in rules", ""},
	{"concat", `len(concat(1..1000, 1..1000)) > 0`, "not available in rules", ""},
	{"dynamic pattern", `issue.body matches repeat("(a?){500}", 400)`, "the right side of matches", ""},
	{"large pattern", "issue.body matches `((a?){30}){30}((a?){30}){30}`", "the pattern is too large", ""},
	{"slow pattern", "issue.body matches `(.?.?.?.?.?){150}0`", "the pattern is too expensive for the largest issue", ""},
	{"slow literal", "issue.body matches `(?i)" + strings.Repeat("aax", 500) + "0`", "the pattern is too expensive for the largest issue", ""},
	{"many loops in a pattern", "issue.body matches `" + strings.Repeat("a*A*", 200) + "0`", "the pattern is too expensive for the largest issue", ""},
	{"ordinary patterns", "issue.body matches `(?i)\\b(panic|segfault|stack ?trace)\\b` or issue.body matches `\\b[0-9a-f]{40}\\b` or issue.body matches `v?\\d+\\.\\d+`", "", ""},
	{"nested options in a pattern", "issue.body matches `((((a?)?)?)?){60}z`", "the pattern is too expensive for the largest issue", ""},
	{"slow pattern on a title", "issue.title matches `(.?.?.?.?.?){30}0`", "", ""},
	{"slow pattern on a body by another name", "{\"title\": issue.body}.title matches `(.?.?.?.?.?){30}0`", "the pattern is too expensive for the largest issue", ""},
	{"many patterns", "issue.body matches `" + strings.Repeat("[ab]{40}` or issue.body matches `", 4) + "x`", "with this pattern the expression is too expensive", ""},
	{"pattern in a loop", "any(1..90, issue.body matches `x+y`)", "", ""},
	{"pattern on different texts in a loop", "any(1..1000, issue.body[#:] matches `x+y`)", "", "patterns are too much work"},
	{"contains in loops", `all(1..1000, all(1..90, not (issue.body contains "zzz")))`, "", "more than 100000 steps"},
	{"comparison in loops", `let a = lower(issue.body); let b = lower(issue.body); all(1..1000, all(1..90, a == b))`, "", "more than 100000 steps"},
	{"membership in loops", `let a = 1..1000; all(a, all(1..90, # in a))`, "", "more than 100000 steps"},
	{"length of text in loops", `all(1..1000, all(1..90, len(issue.body) > 0))`, "", "more than 100000 steps"},
	{"sum in loops", `let a = 1..1000; all(a, all(1..90, sum(a) > 0))`, "", "more than 100000 steps"},
	{"searches from the end in a loop", `all(1..1000, findLast(issue.labels, true) != "")`, "", "more than 100000 steps"},
	{"label in loops", `all(1..1000, all(1..90, not label("zzz")))`, "", "more than 100000 steps"},
	{"any_label in loops", `all(1..1000, all(1..90, not any_label("*0*0*")))`, "", "more than 100000 steps"},
	{"loops over the labels", `all(issue.labels, let l = #; all(issue.labels, # == l or # != l))`, "", ""},
	{"6,000 and", strings.Repeat("true and ", 6000) + "true", "at most 4096 are allowed", ""},
	{"600 and", strings.Repeat("1>0&&", 600) + "true", "more than 500 terms", ""},
	{"20,000 not", strings.Repeat("not ", 20000) + "true", "at most 4096 are allowed", ""},
	{"1,000 not", strings.Repeat("not ", 1000) + "true", "more than 500 terms", ""},
	{"4,000 signs", "1 > " + strings.Repeat("-", 4000) + "1", "more than 500 terms", ""},
	{"nested conditionals", strings.Repeat("true?", 150) + "true" + strings.Repeat(":true", 150), "", ""},
	{"1,000,000 parentheses", strings.Repeat("(", 1_000_000) + "true", "at most 4096 are allowed", ""},
	{"101 parentheses", strings.Repeat("(", 101) + "true" + strings.Repeat(")", 101), "more than 100 brackets", ""},
	{"100 parentheses", strings.Repeat("(", 100) + "true" + strings.Repeat(")", 100), "", ""},
	{"101 lists", "len(" + strings.Repeat("[", 101) + strings.Repeat("]", 101) + ") > 0", "more than 100 brackets", ""},
	{"101 brackets in a text", `"` + strings.Repeat("(", 101) + `" != ""`, "", ""},
	{"nil", `-findIndex(issue.labels, # == "zzz") > 0`, "", "a missing value is nil"},
	{"missing values compared in loops", `let a = 1..1000; all(a, all(1..90, not (first(a[:0]) in a)))`, "", "more than 100000 steps"},
	{"missing values equal in loops", `let a = lower(issue.body); all(1..1000, all(1..90, first([a]) == a))`, "", "more than 100000 steps"},
	{"index", `len(issue.labels[1000]) > 0`, "", "index out of range"},
	{"modulo by zero", `1 % (issue.number - issue.number) == 0`, "", "integer divide by zero"},
	{"division by zero", `1 / 0 > 1`, "", ""},
	{"bad pattern", "issue.body matches `(`", "bad pattern", ""},
	{"whole environment", `len($env) > 0`, "unknown name $env", ""},
	{"our internals", `__run.steps > 0`, "unknown name __run", ""},
	{"our internals by name", `issue["__run"] == nil`, "issue has no field __run", ""},
	{"our internal functions", `__tick(1)`, "unknown name __tick", ""},
	{"method of a time", `issue.created_at.Format("2006") != ""`, "values have no methods", ""},
	{"method by name", `issue.created_at["Format"]("2006") != ""`, "unexpected token", ""},
}

// doubled declares n variables from b on, each twice as long as the one before.
func doubled(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("let " + string(rune('b'+i)) + " = " + string(rune('a'+i)) + " + " + string(rune('a'+i)) + "; ")
	}
	return b.String() + "let z = " + string(rune('a'+n)) + "; "
}

// hostileFacts returns an event with the worst values that an attacker can choose.
func hostileFacts() facts.Facts {
	labels := make([]string, 100)
	for i := range labels {
		labels[i] = strings.Repeat(string(rune('a'+i%26)), 50)
	}
	return facts.Facts{Issue: triage.Issue{Number: 1, Title: strings.Repeat("t", 256), Body: hostileBody, Labels: labels}, Event: triage.Event{Name: "issues", Action: "opened"}}
}

// Every hostile expression ends with an ordinary error, within the limits of steps and bytes. The
// test is not parallel because it measures the memory in use.
func TestHostileExpressions(t *testing.T) {
	const maxBytes = 64 << 20
	facts := hostileFacts()
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c := NewCompiler(symbols.New())
			v := NewEvaluation(t.Context(), facts)
			program, err := c.compile(tt.src, Bool)
			checkError(t, "load", err, tt.load)
			if err == nil {
				_, err = eval(&v.machine, program, v.env)
				checkError(t, "run", err, tt.run)
			}
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > maxBytes {
				t.Errorf("allocated %d bytes, want at most %d", got, maxBytes)
			}
			r := v.env.Run
			if r.meter.Steps.Spent() > cost.MaxSteps+len(hostileBody) || r.meter.Patterns.Spent() > cost.MaxPatterns+cost.MaxStates*len(hostileBody) || r.meter.Text.Spent() > 2*cost.MaxText+1000*len(hostileBody) {
				t.Errorf("steps %d, matched %d, made %d: far beyond the bounds", r.meter.Steps.Spent(), r.meter.Patterns.Spent(), r.meter.Text.Spent())
			}
		})
	}
}

func checkError(t *testing.T, when string, err error, want string) {
	t.Helper()
	switch {
	case err == nil && want != "":
		t.Errorf("%s: no error, want %q", when, want)
	case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: got error %q, want %q", when, err, want)
	case err != nil && len(err.Error()) > 300:
		t.Errorf("%s: the error has %d bytes", when, len(err.Error()))
	}
}

// The limits are per expression: each rule may use them in full.
func TestBoundsAreOfOneExpression(t *testing.T) {
	t.Parallel()
	c := NewCompiler(symbols.New())
	program, err := c.compile(`all(1..300, all(1..300, # > 0))`, Bool)
	if err != nil {
		t.Fatal(err)
	}
	v := NewEvaluation(t.Context(), hostileFacts())
	for i := range 3 {
		if got, err := eval(&v.machine, program, v.env); got != true || err != nil {
			t.Fatalf("run %d: got %v, %v", i, got, err)
		}
	}
	if got := v.env.Run.meter.Steps.Spent(); got < 90_000 || got > cost.MaxSteps {
		t.Errorf("got %d steps, want about 90,300", got)
	}
}

// Conditions can reach only plain data in the environment.
func TestEnvironmentIsPlainData(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"issue", "event", "actor", "repo", "event.comment"} {
		_, err := NewCompiler(symbols.New()).compile(src+".complete() == nil", Bool)
		if err == nil {
			t.Errorf("%s has methods", src)
		}
	}
}

// Rules may use exactly the functions of rules and the allowed built-in functions.
func TestFunctionsAreAListOfTheirOwn(t *testing.T) {
	t.Parallel()
	c := NewCompiler(symbols.New())
	if got, want := len(c.builder.config.Builtins), len(allowed()); got != want {
		t.Errorf("%d functions of the language are there, want %d: a name in the list is unknown to it", got, want)
	}
	for _, name := range []string{"timezone", "toJSON", "fromJSON", "groupBy", "get", "replace", "toBase64"} {
		_, err := c.compile(name+"([1], true) == 1", Bool)
		if err == nil || !strings.Contains(err.Error(), "not available") {
			t.Errorf("%s: got %v, want it to be unavailable", name, err)
		}
	}
}

// Common conditions work on the largest issue, whatever its characters are. So an author cannot
// switch rules off by the size of an issue.
func TestOrdinaryConditionsFitTheLargestIssue(t *testing.T) {
	t.Parallel()
	tests := []string{
		"issue.text matches `\\b[0-9a-f]{40}\\b`",
		"issue.text matches `\\bgh[pousr]_[A-Za-z0-9]{36}\\b` or issue.text matches `\\bAKIA[0-9A-Z]{16}\\b` or issue.text matches `eyJ[A-Za-z0-9_-]{20,}\\.`",
		"issue.text matches `(?m)^- \\[ \\] I have (searched|read|checked).{0,200}$`",
		"issue.text matches `(?i)\\b(panic|segfault|stack ?trace)\\b` and issue.text matches `(?im)^### Version\\s+v?\\d+\\.\\d+` or issue.text matches `(?i)password.{0,40}[:=]` or issue.text matches `\\b\\d{1,3}(\\.\\d{1,3}){3}\\b`",
		`any(1..45, lower(issue.text) contains "zzz" or upper(issue.text) contains "zzz")`,
		strings.Repeat(`lower(issue.text) contains "zzz" or `, 60) + "false",
	}
	for _, char := range []string{"a", "\u4e2d", "\U0001f600", "- [ ] I have read ", "0f ", "\n"} {
		body := []rune(strings.Repeat(char, 65_536))[:65_536]
		facts := facts.Facts{Issue: triage.Issue{Number: 1, Title: strings.Repeat("\U0001f600", 256), Body: string(body)}}
		v := NewEvaluation(t.Context(), facts)
		for _, src := range tests {
			program, err := NewCompiler(symbols.New()).compile(src, Bool)
			if err != nil {
				t.Fatalf("%s: %v", src, err)
			}
			if _, err := eval(&v.machine, program, v.env); err != nil {
				t.Errorf("%s on %q: %v", src, char, err)
			}
		}
	}
}

// A text whose case was changed is kept for later expressions. Each expression is charged for it
// once.
func TestCaseIsChangedOnce(t *testing.T) {
	t.Parallel()
	v := NewEvaluation(t.Context(), hostileFacts())
	c := NewCompiler(symbols.New())
	for range 2 {
		program, err := c.compile(`lower(issue.body) == "" or lower(issue.body) == "a" or upper(issue.body) == ""`, Bool)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := eval(&v.machine, program, v.env); got != false || err != nil {
			t.Fatalf("got %v, %v", got, err)
		}
		if got, want := v.env.Run.meter.Text.Spent(), 2*len(hostileBody); got != want {
			t.Errorf("charged %d bytes, want %d", got, want)
		}
	}
	if got := len(v.env.Run.cased); got != 2 {
		t.Errorf("%d texts are kept, want 2", got)
	}
}
