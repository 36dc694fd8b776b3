package expression

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/symbols"
	"github.com/org/foreman-action/triage"
)

// fastPaths lists conditions; sure is for how many of fastPathFacts the fast path is sure.
var fastPaths = []struct {
	src  string
	sure int
}{
	{"issue.title matches `(?i)panic`", 3},
	{"not (issue.title matches `(?i)panic`)", 3},
	{"!(event.comment.body startsWith 'x')", 3},
	{"issue.title == 'A panic' and issue.comments >= 2", 3},
	{"issue.comments < 2 or issue.labels[0] == 'bug'", 2}, // the operand after or has no fast path
	{"issue.labels[0] == 'bug' and issue.comments < 2", 0},
	{"issue.comments > 0 and issue.labels[9] == 'x' or issue.number == 5", 1},
	{"issue.body matches `[x-z]+y` or any(1..90, issue.body matches `[x-z]+y`)", 0},
	{"issue.comments != 7 && len(issue.labels[9]) > 0", 0},
	{"issue.comments == 7 && len(issue.labels[9]) > 0", 3},
	{"label('BUG') and not (issue.association in ['OWNER', 'MEMBER'])", 3},
	{"issue.association not in ['OWNER']", 3},
	{"len(issue.body) > 3 and len(issue.title) <= 7", 3},
	{"issue.body contains 'b' or issue.body endsWith 'z'", 3},
	{"(issue.number + 3 - 1) % 5 == 2", 3},
	{"issue.number % 2 > -1", 0},
	{"issue.number % 2 >= 0 or issue.number < 0", 3},
	{"issue.locked", 0},
	{"true", 0},
	{"issue.number > 1.5", 0},
	{"issue.number / 2 > 1", 0},
	{"issue?.title == ''", 0},
	{"issue.title < 'b'", 0},
	{"event.comment.body == ''", 3},
	{"issue.title in issue.labels", 0},
	{"1 == 1", 0},
	{"any(issue.labels, # startsWith 'b')", 3},
	{"all(issue.labels, # endsWith 'g')", 3},
	{"none(issue.assignees, {# == 'bug'}) and not any(issue.labels, # contains 'ug')", 3},
	{"all(issue.labels, # != 'x')", 3},
	{"any(issue.labels, # == issue.title)", 0},
	{"any(issue.labels, 'bug' == #)", 0},
	{"one(issue.labels, # == 'bug')", 0},
	{"any(issue.labels, # in ['bug'])", 0},
	{"any(issue.labels, not (# == 'bug'))", 0},
	{"all(issue.labels, len(#) > 0)", 0},
	{"any(1..3, # == 2)", 0},
	{"any(issue.labels, #index == 0)", 0},
	{"any(issue.labels, any(issue.labels, # == 'bug'))", 0},
}

func fastPathFacts() []facts.Facts {
	return []facts.Facts{
		{},
		{Issue: triage.Issue{Number: 5, Title: "A panic", Body: "abz", Labels: []string{"bug"}, Association: "OWNER", Comments: 1}},
		{Issue: triage.Issue{Number: -3, Title: "quiet", Body: strings.Repeat("ä", 300), Labels: []string{"x", "Bug"}, Comments: 2}, Event: triage.Event{Comment: triage.Comment{Body: "xy"}}},
	}
}

// Where the fast path is sure, the program returns the same value.
func TestFastPaths(t *testing.T) {
	t.Parallel()
	for _, tt := range fastPaths {
		sure := 0
		for _, facts := range fastPathFacts() {
			if sameFastPath(t, tt.src, facts) {
				sure++
			}
		}
		if sure != tt.sure {
			t.Errorf("%s: sure for %d issues, want %d", tt.src, sure, tt.sure)
		}
	}
}

func sameFastPath(t *testing.T, src string, facts facts.Facts) (sure bool) {
	t.Helper()
	c := NewCompiler(symbols.New())
	x, err := c.check(src, Bool)
	if err != nil {
		return false
	}
	quick := x.fastPath()
	program, err := x.compiled()
	if err != nil {
		t.Fatalf("%q: a mistake that is found late: %v", src, err)
	}
	if quick == nil {
		return false
	}
	value, sure := quick(newEnv(facts))
	v := NewEvaluation(facts)
	want, err := eval(&v.machine, program, v.env)
	if sure && (err != nil || want != value) {
		t.Errorf("%q on %+v: the fast path yields %v, the program %v, %v", src, facts, value, want, err)
	}
	// An evaluation that used the fast path before gives the same results.
	after := NewEvaluation(facts)
	quick(after.env)
	again, errAgain := eval(&after.machine, program, after.env)
	if again != want || fmt.Sprint(err) != fmt.Sprint(errAgain) {
		t.Errorf("%q on %+v: %v, %v after the fast path; %v, %v without", src, facts, again, errAgain, want, err)
	}
	if a, b := v.env.Run, after.env.Run; a.meter.Steps.Spent() != b.meter.Steps.Spent() || a.meter.Patterns.Spent() != b.meter.Patterns.Spent() || a.meter.Text.Spent() != b.meter.Text.Spent() {
		t.Errorf("%q on %+v: the fast path changes what the program is charged", src, facts)
	}
	return sure
}

// FuzzFastPath checks that the fast path never differs from the program, and that Compile finds all
// mistakes of a condition.
func FuzzFastPath(f *testing.F) {
	for _, tt := range fastPaths {
		f.Add(tt.src, "A panic", "abz", 5)
	}
	for _, h := range hostile {
		if len(h.src) < MaxLength {
			f.Add(h.src, "t", "body", 1)
		}
	}
	f.Fuzz(func(t *testing.T, src, title, body string, number int) {
		sameFastPath(t, src, facts.Facts{Issue: triage.Issue{Number: number, Title: title, Body: body, Labels: []string{"a", title}}})
	})
}

// Programs are built only for conditions of the event's rules, once, and only where the fast path
// is not sure. Mistakes are found in all conditions.
func TestOnlyWhatIsAskedIsBuilt(t *testing.T) {
	t.Parallel()
	c := NewCompiler(symbols.New())
	var opened, closed []*Expression
	compile := func(src string) *Expression {
		f, err := yamlfile.Parse("rules.yml", []byte("when: |\n  "+src+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		n := f.Root().Content[1]
		x := c.Compile(Source{File: f, Node: n, Text: n.Value}, Bool)
		if x == nil {
			t.Fatal(f.Err())
		}
		return x
	}
	for i := range 100 {
		opened = append(opened, compile(fmt.Sprintf("issue.body matches `(?i)panic%d\\d` and any(issue.labels, # == issue.title)", i)))
		closed = append(closed, compile(fmt.Sprintf("issue.body matches `(?i)panic%d\\d` or issue.labels[0] == `x`", i)))
	}
	programs := func() (n int) {
		for _, x := range slices.Concat(opened, closed) {
			if x.code.program != nil {
				n++
			}
		}
		return n
	}
	if n := programs(); n != 0 {
		t.Errorf("%d programs before the first event", n)
	}
	// Evaluate concurrently, as a server does.
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			v := NewEvaluation(facts.Facts{Issue: triage.Issue{Body: "panic77, panic7 " + strings.Repeat(".", 200), Labels: []string{"x"}}, Event: triage.Event{Name: "issues", Action: "opened"}})
			for _, x := range opened {
				if value, err := v.Eval(x); value != false || err != nil {
					t.Errorf("%s: got %v, %v", x.Source(), value, err)
				}
			}
		})
	}
	all.Wait()
	// Only panic7\d matches, so only its condition needs a program.
	if n := programs(); n != 1 {
		t.Errorf("%d programs, want 1", n)
	}
}

// The fast path reads the right field, for every field that is a text or a number.
func TestFastPathReadsItsField(t *testing.T) {
	t.Parallel()
	e := newEnv(facts.Facts{})
	n := 0
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		for _, field := range v.Fields() {
			n++
			switch field.Kind() {
			case reflect.String:
				field.SetString(fmt.Sprint("text", n))
			case reflect.Int:
				field.SetInt(int64(n))
			case reflect.Struct:
				if field.Type() != reflect.TypeFor[time.Time]() {
					fill(field)
				}
			}
		}
	}
	fill(reflect.ValueOf(e).Elem())
	tested := 0
	for _, name := range Names() {
		x, err := NewCompiler(symbols.New()).check(name, Any)
		if err != nil || x.tree == nil {
			continue
		}
		index, _ := fieldIndex(x.tree.Node)
		if index == nil {
			continue
		}
		want := reflect.ValueOf(e).Elem().FieldByIndex(index).Interface()
		if text := newTextField(x.tree.Node); text != nil {
			tested++
			if got := text(e); got != want {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
		}
		if number := newIntField(x.tree.Node); number != nil {
			tested++
			if got := number(e); got != want {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
		}
	}
	if tested < 40 {
		t.Errorf("%d fields, want at least 40", tested)
	}
}

// Compile reports mistakes that only the optimizer or the compiler of expr finds.
func TestLateMistakesAreFoundAtOnce(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"1 % 0 == 1", "issue.number > 5 % (1 - 1)", "any(issue.labels, 7 % 0 == 1)"} {
		if x, err := NewCompiler(symbols.New()).check(src, Bool); err == nil {
			t.Errorf("%s: no error, settled: %v", src, settled(x.tree.Node))
		}
	}
}
