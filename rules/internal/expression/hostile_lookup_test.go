package expression

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/cost"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// hostileRows maps the known attacks on an unguarded evaluator to the tests of
// TestHostileExpressions and TestHostileLookups that cover them.
var hostileRows = []struct {
	row   string
	tests []string
}{
	{"huge ranges, repeat, nested map", []string{"huge range", "range one too long", "overflowing range", "computed range", "repeat", "nested map"}},
	{"three nested loops with ranges", []string{"three loops with ranges"}},
	{"two loops over a variable", []string{"two loops over a variable"}},
	{"three loops over a variable", []string{"three loops over a variable", "loops in different predicates"}},
	{"loops over the letters of a text", []string{"split", "splitAfter", "pattern on different texts in a loop"}},
	{"texts that double: +, replace, join, split, toJSON", []string{"doubled text", "doubled text of unknown type", "text built in a loop", "join", "join of join", "toJSON of everything", "fromJSON"}},
	{"replace by itself", []string{"replace"}},
	{"a pattern that is computed", []string{"dynamic pattern", "large pattern", "slow pattern"}},
	{"6,000 and, 20,000 not", []string{"6,000 and", "600 and", "20,000 not", "1,000 not", "4,000 signs"}},
	{"10,000 parentheses", []string{"10,000 parentheses", "100 parentheses", "101 parentheses"}},
	{"1,000,000 parentheses", []string{"1,000,000 parentheses", "1,000,000 lists", "1,000,000 maps"}},
	{"nil, index, modulo, bad pattern, division by zero", []string{"nil", "index", "modulo by zero", "bad pattern", "division by zero"}},
	{"functions without a bound", []string{"repeat", "replace", "join", "split", "toJSON of everything", "fromJSON", "concat", "flatten", "reduce"}},
	{"what is looked up, in loops", []string{"label_age in a loop", "last_human in a loop", "idle in a loop", "added_by_us in a loop", "removed_by_human in a loop", "any_file in a loop", "all_files in a loop", "pr.files in a loop", "matches_glob in loops"}},
	{"long texts compared in loops", []string{"similar in loops", "similar of the largest texts in loops", "similar of many words"}},
}

func TestEveryRowOfHostileExpressionsHasTests(t *testing.T) {
	t.Parallel()
	var names []string
	for _, h := range slices.Concat(hostile, hostileMore) {
		names = append(names, h.name)
	}
	for _, h := range hostileLookups {
		names = append(names, h.name)
	}
	for _, r := range hostileRows {
		for _, name := range r.tests {
			if !slices.Contains(names, name) {
				t.Errorf("%s: no test %q", r.row, name)
			}
		}
	}
}

// hostileMore lists expressions that are rejected at load, whatever event they are for.
var hostileMore = []struct {
	name, src string
	load, run string
}{
	{"splitAfter", `len(splitAfter(issue.body, "")) > 0`, "not available in rules", ""},
	{"fromJSON", `len(fromJSON(issue.body)) > 0`, "not available in rules", ""},
	{"10,000 parentheses", strings.Repeat("(", 10_000) + "true" + strings.Repeat(")", 10_000), "at most 4096 are allowed", ""},
	{"1,000,000 lists", strings.Repeat("[", 1_000_000), "at most 4096 are allowed", ""},
	{"1,000,000 maps", strings.Repeat("{a:", 1_000_000), "at most 4096 are allowed", ""},
	{"101 maps", strings.Repeat("{a:", 101) + "1" + strings.Repeat("}", 101) + " == nil", "more than 100 brackets", ""},
	{"501 list elements", "len([" + strings.Repeat("1,", 500) + "1]) > 0", "more than 500 terms", ""},
	{"similar of three texts", `similar(issue.title, issue.body, issue.text) > 0.0`, "too many arguments", ""},
	{"any_file of a computed list", `any_file(issue.labels)`, "cannot use", ""},
	{"matches_glob without a glob", `matches_glob(issue.title)`, "not enough arguments", ""},
	{"matches_glob that takes away", `matches_glob(issue.title, "a", "!b")`, "matches no file", ""},
	{"last_human of somebody", `last_human(issue.author).login == ""`, "too many arguments", ""},
}

func TestHostileAtLoad(t *testing.T) {
	t.Parallel()
	for _, tt := range hostileMore {
		_, err := NewCompiler(symbols.New()).compile(tt.src, Bool)
		checkError(t, tt.name, err, tt.load)
	}
}

// hostilePast is the length of the longest timeline that is read. hostileFiles is the largest
// number of files that GitHub lists for a pull request.
const (
	hostilePast  = 500
	hostileFiles = 3000
)

// hostileLookups lists expressions whose cost grows with the looked-up data. steps is the most they
// may take; 0 means that they exceed the limit and fail.
var hostileLookups = []struct {
	name, src string
	steps     int
}{
	{"label_age in a loop", `any(1..1000, label_age("stale") < duration("0s"))`, 0},
	{"label_age in two loops", `any(1..1000, any(1..1000, label_age("stale") < duration("0s")))`, 0},
	{"label_age once", `label_age("stale") > duration("1s")`, 2 * hostilePast},
	{"last_human in a loop", `any(1..1000, last_human().login == "nobody")`, 0},
	{"last_human once", `last_human().login == "" and last_human().at < now`, 3 * hostilePast},
	{"idle in a loop", `any(1..1000, idle() < duration("0s"))`, 0},
	{"added_by_us in a loop", `any(1..1000, added_by_us("zzz"))`, 0},
	{"added_by_us of every label", `any(issue.labels, added_by_us(#))`, cost.MaxSteps},
	{"removed_by_human in a loop", `any(1..1000, removed_by_human("zzz"))`, 0},
	{"any_file in a loop", `any(1..1000, any_file("zzz/**"))`, 0},
	{"pr.files in a loop", `any(1..1000, "z" in pr.files)`, 0},
	{"matches_glob in loops", `any(1..1000, any(pr.files, matches_glob(#, "**/z", "*/*/*/z")))`, 0},
	{"matches_glob of a long text", `any(1..1000, matches_glob(issue.body, "**/z", "*/*/*/z", "z?*?*?*?*"))`, 0},
	{"all_files in a loop", `any(1..1000, not all_files("**"))`, 0},
	{"any_file with many globs in a loop", `any(1..1000, any_file("**/z", "**/z/**", "*/*/*/z", "z?*?*?*?*"))`, 0},
	{"any_file with a glob of many folders", `any(1..100, any_file("` + strings.Repeat("**/", 31) + `z"))`, 0},
	{"similar in loops", `any(1..1000, any(1..1000, similar(issue.title, "a few words") > 0.9))`, 0},
	{"similar of the largest texts in loops", `any(1..1000, any(1..1000, similar(issue.text, issue.body) < 0.0))`, 0},
	{"similar of the largest texts in a loop", `any(1..1000, similar(issue.body, issue.text) < 0.0)`, 0},
	{"similar of many words", `similar(issue.body, issue.text) > 0.0 and similar(issue.body, issue.title) >= 0.0`, cost.MaxSteps},
}

// TestHostileLookups evaluates expressions for an issue with the longest timeline and a pull
// request with the most files. It is not parallel because it measures the memory in use.
func TestHostileLookups(t *testing.T) {
	const maxBytes = 64 << 20
	facts := lookupFacts()
	for _, tt := range hostileLookups {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			v := NewEvaluation(t.Context(), facts)
			program, err := NewCompiler(symbols.New()).compile(tt.src, Bool)
			checkError(t, "load", err, "")
			if err != nil {
				return
			}
			_, err = eval(&v.machine, program, v.env)
			runtime.ReadMemStats(&after)
			want := ""
			if tt.steps == 0 {
				want = "more than 100000 steps"
			}
			checkError(t, "run", err, want)
			if got := after.TotalAlloc - before.TotalAlloc; got > maxBytes {
				t.Errorf("allocated %d bytes, want at most %d", got, maxBytes)
			}
			if r := v.env.Run; tt.steps > 0 && r.meter.Steps.Spent() > tt.steps || r.meter.Steps.Spent() > cost.MaxSteps+len(hostileBody) {
				t.Errorf("%d steps, want at most %d", r.meter.Steps.Spent(), tt.steps)
			}
		})
	}
}

// lookupFacts returns hostileFacts with the longest timeline, the most files, and a body with the
// most different words.
func lookupFacts() facts.Facts {
	f := hostileFacts()
	f.Now = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	f.Issue.Labels = append(f.Issue.Labels, "stale")
	var words strings.Builder
	for i := 0; words.Len() < 65_000; i++ {
		fmt.Fprintf(&words, "w%d ", i)
	}
	f.Issue.Body = words.String()
	known := facts.Known{}
	for i := range hostilePast {
		kind, label := "unlabeled", fmt.Sprintf("l%d", i)
		switch i { // "stale" has an event, and the other labels of the issue may have had the name l1
		case 0:
			kind, label = "labeled", "stale"
		case 1:
			kind = "labeled"
		}
		known.History.Changes = append(known.History.Changes, facts.Change{Kind: kind, At: f.Now.Add(time.Duration(i-1000) * time.Hour), Login: "x[bot]", Label: label})
	}
	for i := range hostileFiles {
		known.Changed = append(known.Changed, fmt.Sprintf("%s%d", strings.Repeat("folder/", 10), i))
	}
	f.Lookup = known
	return f
}
