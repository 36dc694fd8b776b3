package rules_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/triage"
)

// byHand returns n rules of the ten kinds in [shapes] as handwritten Go functions with the same
// patterns.
func byHand(n int) []func(*triage.Issue) bool {
	list := make([]func(*triage.Issue) bool, n)
	for i := range list {
		d := strconv.Itoa(i)
		switch i % 10 {
		case 0:
			re := regexp.MustCompile(`(?i)(docker|podman)-compose` + d)
			list[i] = func(x *triage.Issue) bool { return re.MatchString(x.Title) }
		case 1:
			re := regexp.MustCompile(`(?im)^### Version\s+v?` + d + `\.\d+`)
			list[i] = func(x *triage.Issue) bool { return re.MatchString(x.Body) }
		case 2:
			list[i] = func(x *triage.Issue) bool {
				return slices.ContainsFunc(x.Labels, func(l string) bool { return strings.EqualFold(l, "area/"+d) })
			}
		case 3:
			list[i] = func(x *triage.Issue) bool {
				return (x.Association == "OWNER" || x.Association == "MEMBER") && x.Comments > i
			}
		case 4:
			list[i] = func(x *triage.Issue) bool { return strings.Contains(x.Body, "error E"+d) }
		case 5:
			list[i] = func(x *triage.Issue) bool {
				return slices.ContainsFunc(x.Labels, func(l string) bool { return strings.HasPrefix(l, "kind/"+d) })
			}
		case 6:
			list[i] = func(x *triage.Issue) bool { return utf8.RuneCountInString(x.Body) > 100000+i }
		case 7:
			panics, segfaults := regexp.MustCompile(`(?i)panic`+d), regexp.MustCompile(`(?i)segfault`+d)
			list[i] = func(x *triage.Issue) bool { return panics.MatchString(x.Title) || segfaults.MatchString(x.Body) }
		case 8:
			list[i] = func(x *triage.Issue) bool { return (x.Number+i)%1009 == 1000 }
		case 9:
			list[i] = func(x *triage.Issue) bool { return strings.Contains(x.Title, "crash"+d) && x.Author != "bot"+d }
		}
	}
	return list
}

// plainEnv is the environment of conditions that run on the expr library alone.
type plainEnv struct {
	Issue triage.Issue      `expr:"issue"`
	Label func(string) bool `expr:"label"`
}

func newPlainEnv(x triage.Issue) plainEnv {
	return plainEnv{x, func(name string) bool {
		return slices.ContainsFunc(x.Labels, func(l string) bool { return strings.EqualFold(l, name) })
	}}
}

// plain compiles n rules of the ten kinds in [shapes] with the expr library alone.
func plain(t testing.TB, n int) []*vm.Program {
	t.Helper()
	list := make([]*vm.Program, n)
	for i := range list {
		p, err := expr.Compile(fmt.Sprintf(shapes[i%len(shapes)], i), expr.Env(plainEnv{}), expr.AsBool())
		if err != nil {
			t.Fatal(err)
		}
		list[i] = p
	}
	return list
}

// form returns an issue whose body has size bytes: a filled-in form and log lines. Some of the
// [shapes] match it.
func form(size int) triage.Issue {
	var b strings.Builder
	b.WriteString("### Version\n\nv77.3.1\n\n### What happened?\n\nAfter the upgrade it stops: error E12, segfault7 in docker-compose.\n")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "2026-11-%02dT08:%02d:%02d.%03dZ worker %d of 40: panic: invalid memory address, code 0x%04x, retry in 1.%ds\n",
			1+i%28, i%60, i*7%60, i*131%1000, i%40, i*7919%65536, i%10)
	}
	return triage.Issue{
		Number: 77, Title: "Panic37 with Podman-Compose120 after the upgrade, crash9", Body: b.String()[:size], Author: "octocat",
		Association: "MEMBER", Labels: []string{"kind/5", "AREA/22", "needs-info"}, Comments: 50,
	}
}

// This package, handwritten Go and the expr library give the same result for every rule and issue.
func TestPeersAgree(t *testing.T) {
	t.Parallel()
	const n = 1000
	set, hand, programs := mustCompile(t, string(ruleFile(n))), byHand(n), plain(t, n)
	odd := form(1500)
	odd.Title, odd.Body = "CRAſH9 PANIC37 doc\u212Aer-compose0 \xff", strings.ReplaceAll(odd.Body, "s", "ſ")+"### VERSION \u2028v1.2\n### verſion v11.2 \xffſegfault17 SEGFAULT27"
	full := form(500)
	for i := range n {
		full.Body += fmt.Sprintf("error E%d\n### version\tv%[1]d.0\nsegFault%[1]d\n", i)
	}
	matched := 0
	for i, x := range []triage.Issue{{}, benchFacts(repeated(1500)).Issue, form(1500), odd, full, form(64 << 10)} {
		r, err := set.Decide(t.Context(), opened(x))
		if err != nil {
			t.Fatal(err)
		}
		env := newPlainEnv(x)
		for j, trace := range r.Trace {
			want, got := hand[j](&x), trace.Outcome == rules.Matched
			if got != want {
				t.Errorf("issue %d, %s: got %v, by hand %v", i, trace.Condition, got, want)
			}
			if want {
				matched++
			}
			if len(x.Body) > 4000 {
				continue // expr is slow on a large body and has the same regexp engine as Go
			}
			if other, err := expr.Run(programs[j], env); other != want || err != nil {
				t.Errorf("issue %d, %s: by hand %v, with expr alone %v, %v", i, trace.Condition, want, other, err)
			}
		}
	}
	if matched < 300 {
		t.Errorf("%d rules matched: too few to tell", matched)
	}
}

func BenchmarkPeers(b *testing.B) {
	const n = 1000
	set, hand, programs := mustCompile(b, string(ruleFile(n))), byHand(n), plain(b, n)
	for _, size := range []int{1500, 64 << 10} {
		x := form(size)
		facts, env := opened(x), newPlainEnv(x)
		if _, err := set.Decide(b.Context(), facts); err != nil { // builds the programs and engines
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("body=%d/rules", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := set.Decide(b.Context(), facts); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("body=%d/go", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, f := range hand {
					f(&x)
				}
			}
		})
		b.Run(fmt.Sprintf("body=%d/expr", size), func(b *testing.B) {
			b.ReportAllocs()
			var machine vm.VM
			for b.Loop() {
				for _, p := range programs {
					if _, err := machine.Run(p, &env); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkPeersCompile compiles the same rules as [BenchmarkCompile], but reads no YAML.
func BenchmarkPeersCompile(b *testing.B) {
	b.Run("go", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			byHand(1000)
		}
	})
	b.Run("expr", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			plain(b, 1000)
		}
	})
}
