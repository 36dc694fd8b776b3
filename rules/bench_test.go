package rules_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// shapes are ten common kinds of conditions; %[1]d is the number of the rule.
var shapes = []string{
	"issue.title matches `(?i)(docker|podman)-compose%[1]d`",
	"issue.body matches `(?im)^### Version\\s+v?%[1]d\\.\\d+`",
	"label(\"area/%[1]d\")",
	"issue.association in [\"OWNER\", \"MEMBER\"] and issue.comments > %[1]d",
	"issue.body contains \"error E%[1]d\"",
	"any(issue.labels, {# startsWith \"kind/%[1]d\"})",
	"len(issue.body) > 100000 + %[1]d",
	"issue.title matches `(?i)panic%[1]d` or issue.body matches `(?i)segfault%[1]d`",
	"(issue.number + %[1]d) %% 1009 == 1000",
	"issue.title contains \"crash%[1]d\" and issue.author not in [\"bot%[1]d\"]",
}

// withAlternation returns the shapes with an alternation of words on the body in place of the length
// of the body.
func withAlternation() []string {
	list := slices.Clone(shapes)
	list[6] = "issue.body matches `\\b(oomkill%[1]d|kaputt|nullpointer%[1]d)\\b`"
	return list
}

// ruleFile returns n rules of the ten shapes.
func ruleFile(n int) []byte { return ruleFileOf(n, shapes) }

func ruleFileOf(n int, shapes []string) []byte {
	var b strings.Builder
	b.WriteString("version: 1\nrules:\n")
	for i := range n {
		fmt.Fprintf(&b, "- id: r%d\n  when: |-\n    %s\n  then: [add_label: l%d]\n", i, fmt.Sprintf(shapes[i%len(shapes)], i), i)
	}
	return []byte(b.String())
}

// repeated returns the same sentence over and over.
func repeated(size int) string {
	return strings.Repeat("The service does not start after the upgrade, see the log below.\n", 1+size/65)[:size]
}

// prose returns sentences of many different words, as in a long report. They are the same in every
// run.
func prose(size int) string {
	random := rand.New(rand.NewPCG(1, 2))
	syllables := strings.Fields("a be con de er ex fi ga hy in jo ka le mo nu o per qui re se ti un ver wi xy za ble cker ding est fer gram hen ion ject kle ler ment ness ough pler quest rance ster tion ture upt vice wark ize")
	var b strings.Builder
	for words := 1; b.Len() < size; words++ {
		for range 2 + random.IntN(2) {
			b.WriteString(syllables[random.IntN(len(syllables))])
		}
		b.WriteString([]string{" ", ".\n"}[words%12/11])
	}
	return b.String()[:size]
}

func benchFacts(text string) facts.Facts {
	return opened(triage.Issue{
		Number: 77, Title: "It does not start after the upgrade", Body: text, Author: "octocat",
		Association: "NONE", Labels: []string{"kind/bug", "area/net", "needs-info"}, Comments: 2,
	})
}

// Each shape matches an issue made for it. Otherwise the benchmarks would measure rules that never
// match.
func TestShapesMatch(t *testing.T) {
	t.Parallel()
	facts := opened(triage.Issue{
		Number: 992, Title: "Docker-Compose0 panic7 crash9", Body: "### version 1.2\nerror E4" + strings.Repeat(".", 100_010),
		Association: "OWNER", Labels: []string{"AREA/2", "kind/5x"}, Comments: 4,
	})
	r, err := mustCompile(t, string(ruleFile(10))).Decide(t.Context(), facts)
	if err != nil {
		t.Fatal(err)
	}
	if r.Message.Decision != protocol.LabelAndRespond || len(r.Fired) != 10 {
		t.Errorf("fired: %v, want all ten", r.Fired)
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		src := ruleFile(n)
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := rules.Parse("rules.yml", src)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := rules.Compile(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkParse measures the part of [BenchmarkCompile] that reads YAML.
func BenchmarkParse(b *testing.B) {
	src := ruleFile(1000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := rules.Parse("rules.yml", src); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstDecision measures a run of the action with 1,000 rules: it reads and compiles them,
// then decides once.
func BenchmarkFirstDecision(b *testing.B) {
	src, facts := ruleFile(1000), opened(form(1500))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mustCompile(b, string(src)).Decide(b.Context(), facts); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecide measures one decision. The bounds are for prose with alternations: 0.3 ms for 100
// rules and 3 ms for 1,000 rules on a body of 1.5 KB, and 4 ms and 35 ms on a body of 64 KB.
func BenchmarkDecide(b *testing.B) {
	for _, kind := range []struct {
		name   string
		body   func(int) string
		shapes []string
	}{{"repeated", repeated, shapes}, {"prose", prose, shapes}, {"alternations", prose, withAlternation()}} {
		for _, size := range []int{1500, 64 << 10} {
			for _, n := range []int{10, 100, 1000} {
				set, facts := mustCompile(b, string(ruleFileOf(n, kind.shapes))), benchFacts(kind.body(size))
				if _, err := set.Decide(b.Context(), facts); err != nil { // builds the programs and engines
					b.Fatal(err)
				}
				b.Run(fmt.Sprintf("%s/body=%d/rules=%d", kind.name, size, n), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := set.Decide(b.Context(), facts); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkExplain measures the explanation of the rules in the job summary.
func BenchmarkExplain(b *testing.B) {
	for _, size := range []int{1500, 64 << 10} {
		for _, n := range []int{10, 100} {
			set, facts := mustCompile(b, string(ruleFile(n))), benchFacts(repeated(size))
			b.Run(fmt.Sprintf("body=%d/rules=%d", size, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					set.Explain(b.Context(), facts)
				}
			})
		}
	}
}
