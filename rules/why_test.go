package rules_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	facts := facts.Facts{
		Issue: triage.Issue{Title: "panic at boot", Body: "it panics", Labels: []string{"kind/question"}, Association: "NONE"},
		Event: triage.Event{Name: "issues", Action: "opened"},
	}
	tests := []struct{ when, Type string }{
		{"issue.locked", "false  issue.locked\n"},
		{"issue.text matches `(?i)panic` and not label(\"kind/question\") and issue.locked",
			"false  issue.text matches `(?i)panic` and not label(\"kind/question\") and issue.locked\n" +
				"  true  issue.text matches \"(?i)panic\"\n" +
				"    \"panic at boot\\n\\nit panics\"  issue.text\n" +
				"  false  not label(\"kind/question\")\n" +
				"    true  label(\"kind/question\")\n" +
				"  (false)  issue.locked\n"},
		{"issue.association in [\"OWNER\", \"MEMBER\"] or len(issue.body) < 10",
			"true  issue.association in [\"OWNER\", \"MEMBER\"] or len(issue.body) < 10\n" +
				"  false  issue.association in [\"OWNER\", \"MEMBER\"]\n" +
				"    \"NONE\"  issue.association\n" +
				"  true  len(issue.body) < 10\n" +
				"    9  len(issue.body)\n"},
		{"any(issue.labels, # startsWith \"kind/\")", "true  any(issue.labels, # startsWith \"kind/\")\n  [\"kind/question\"]  issue.labels\n"},
		{"let x = issue.title; x == \"a\"", "false  let x = issue.title; x == \"a\"\n"},
		{"(let x = issue.number == 5; x or issue.locked) and issue.locked", "false  (let x = issue.number == 5; x or issue.locked) and issue.locked\n"},
		{"len(issue.labels) > 3 ? label(issue.labels[3]) : not issue.locked",
			"true  len(issue.labels) > 3 ? label(issue.labels[3]) : not issue.locked\n" +
				"  false  len(issue.labels) > 3\n" +
				"    1  len(issue.labels)\n" +
				"  (! index out of range: 3 (array length is 1))  label(issue.labels[3])\n" +
				"    (! index out of range: 3 (array length is 1))  issue.labels[3]\n" +
				"  true  not issue.locked\n" +
				"    false  issue.locked\n"},
	}
	for _, tt := range tests {
		src, err := rules.Parse("r.yml", []byte("version: 1\nrules:\n  - id: a\n    on: issues.opened\n    when: |\n      "+tt.when+"\n    then: [escalate]\n"))
		if err != nil {
			t.Fatal(err)
		}
		set, err := rules.Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		why := set.Explain(t.Context(), facts)
		var b strings.Builder
		b.WriteString(why[0].Why.String())
		if got := b.String(); got != tt.Type {
			t.Errorf("%s:\n%s\nwant\n%s", tt.when, got, tt.Type)
		}
		// The explanation agrees with the decision.
		res, err := set.Decide(t.Context(), facts)
		if err != nil {
			t.Fatal(err)
		}
		if res.Trace[0].Outcome != why[0].Outcome || (why[0].Outcome == rules.Matched) != (why[0].Why.Value == "true") {
			t.Errorf("%s: explained as %s %s, decided as %s", tt.when, why[0].Outcome, why[0].Why.Value, res.Trace[0].Outcome)
		}
	}
}

// TestExplainGolden runs every archive in testdata/why: rule files, the facts in facts.json,
// and in want the explanation of each rule, with its outcome and the value of its condition.
func TestExplainGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "why", "*.txtar"))
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
			got := explained(t, ar)
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

func explained(t *testing.T, ar *txtar.Archive) string {
	t.Helper()
	set, _, err := compile(ar)
	if err != nil {
		t.Fatal(err)
	}
	var facts struct {
		facts.Facts
		Known facts.Known
	}
	if err := json.Unmarshal([]byte(getFile(ar, "facts.json")), &facts); err != nil {
		t.Fatal(err)
	}
	facts.Lookup = facts.Known
	res, err := set.Decide(t.Context(), facts.Facts)
	var b strings.Builder
	for i, w := range set.Explain(t.Context(), facts.Facts) {
		fmt.Fprintf(&b, "%s: %s\n", w.ID, w.Outcome)
		if w.Error != "" {
			fmt.Fprintf(&b, "  error: %s\n", strings.SplitN(w.Error, "\n", 2)[0])
		}
		if w.Why != nil {
			for line := range strings.Lines(w.Why.String()) {
				b.WriteString("  " + line)
			}
		}
		if err != nil {
			continue
		}
		if w.Outcome != res.Trace[i].Outcome {
			t.Errorf("%s is explained as %s and decided as %s", w.ID, w.Outcome, res.Trace[i].Outcome)
		}
		if w.Why != nil && (w.Outcome == rules.Matched) != (w.Why.Value == "true") {
			t.Errorf("%s: its outcome is %s, its condition %s", w.ID, w.Outcome, w.Why.Value)
		}
	}
	return b.String()
}
