package scoring

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/testkit/golden"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// now is the time of all cases.
var now = time.Date(2026, 6, 4, 0, 0, 0, 0, time.UTC)

// TestScores scores the facts of each case with its rules or the built-in ones. It also checks
// properties that every score has.
func TestScores(t *testing.T) {
	t.Parallel()
	golden.Each(t, "testdata/scores", *update, func(t *testing.T, c *golden.Case) {
		var f Facts
		d := json.NewDecoder(strings.NewReader(string(c.Get("facts.json"))))
		d.DisallowUnknownFields()
		if err := d.Decode(&f); err != nil {
			t.Fatal(err)
		}
		f.Now = now
		rules, err := Builtin()
		if own := c.Get("rules.yml"); own != nil {
			rules, err = Parse("rules.yml", own)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := rules.Score(f)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, e := range got.Explanation {
			sum += e.Impact
		}
		total := 0
		for _, g := range groups(&got.Breakdown) {
			total += *g.sum
		}
		if sum != total || got.Score != min(max(total, 0), 100) {
			t.Errorf("score %d, explanation %d, breakdown %d: want equal sums", got.Score, sum, total)
		}
		again, err := rules.Score(f)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(got) {
			t.Errorf("the same facts give %v, then %v, %v", got, again, err)
		}
		out, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		c.Want(t, "result.json", string(out)+"\n")
	})
}

// TestMistakes reports all mistakes of a file at once.
func TestMistakes(t *testing.T) {
	t.Parallel()
	golden.Each(t, "testdata/mistakes", *update, func(t *testing.T, c *golden.Case) {
		_, err := Parse("score.yml", c.Get("rules.yml"))
		if err == nil {
			t.Fatal("no mistake was found")
		}
		c.Want(t, "error.txt", err.Error()+"\n")
	})
}

// TestEvaluationFails checks that the error of a condition names its position.
func TestEvaluationFails(t *testing.T) {
	t.Parallel()
	rules, err := Parse("score.yml", []byte("rules:\n  - {group: base, impact: 60, when: 7 % issue.comments == 0, message: x}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rules.Score(Facts{Now: now}); err == nil || !strings.Contains(err.Error(), "score by score.yml:2: ") {
		t.Errorf("got %v, want an error with the place of the rule", err)
	}
}

func TestBands(t *testing.T) {
	t.Parallel()
	for score, want := range map[int]string{100: Excellent, 85: Excellent, 84: Good, 72: Good, 70: Good, 69: Possible, 50: Possible, 49: Risky, 30: Risky, 29: Avoid, 0: Avoid} {
		if got := Band(score); got != want {
			t.Errorf("Band(%d) = %q, want %q", score, got, want)
		}
	}
	if (Result{Score: 90, Flags: RiskFlags{SecuritySensitive: true}}).Recommended() {
		t.Error("an issue for private disclosure is worth a plan")
	}
}

// FuzzParse checks that any file is either an error or rules that give a score.
func FuzzParse(f *testing.F) {
	f.Add(builtin)
	f.Add([]byte("rules:\n  - {group: base, impact: 60, when: 'label(\"x\") and 1 in [1..9]', message: x}\n"))
	f.Add([]byte("limits: {base: {min: 9, max: 1}}\nrules: []\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		rules, err := Parse("fuzz.yml", src)
		if err != nil {
			return
		}
		got, err := rules.Score(Facts{Now: now})
		if err == nil && (got.Score < 0 || got.Score > 100) {
			t.Errorf("a score of %d", got.Score)
		}
	})
}
