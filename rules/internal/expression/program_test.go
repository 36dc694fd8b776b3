package expression

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/symbols"
	"github.com/org/foreman-action/triage"
)

// Programs are built only for conditions of the event's rules, once. Mistakes are found in all
// conditions.
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
			v := NewEvaluation(t.Context(), facts.Facts{Issue: triage.Issue{Body: "panic77, panic7 " + strings.Repeat(".", 200), Labels: []string{"x"}}, Event: triage.Event{Name: "issues", Action: "opened"}})
			for _, x := range opened {
				if value, err := v.Eval(x); value != false || err != nil {
					t.Errorf("%s: got %v, %v", x.Source(), value, err)
				}
			}
		})
	}
	all.Wait()
	if n := programs(); n != len(opened) {
		t.Errorf("%d programs, want %d", n, len(opened))
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
