package trackrecord_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/trackrecord"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
)

var update = flag.Bool("update", false, "rewrite the wanted reports")

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// outcomes returns the outcomes of a year: a rule that earned its permission, one that lost it, an agent with
// a hostile name, a rule that only proposed, and rules in shadow mode.
func outcomes() *memory.Outcomes {
	o := &memory.Outcomes{Judged: now.AddDate(0, 0, -14)}
	n := 0
	shadow := false
	count := func(source, name, action, value, list string) {
		for _, c := range list {
			n++
			at := now.AddDate(0, 0, -10).Add(time.Duration(n) * time.Minute)
			o.Count(memory.PairKey{Source: source, Action: action, Value: value}, name, memory.Result{
				Outcome: map[rune]memory.Outcome{'k': memory.OutcomeKept, 'u': memory.OutcomeUndone, 'a': memory.OutcomeAccepted, 'r': memory.OutcomeRejected, 'e': memory.OutcomeExpired, '-': memory.OutcomeUnjudged}[c],
				Shadow:  shadow, Issue: n, Author: fmt.Sprint(n), Acted: at, At: at,
			}, memory.Threshold{Bound: 0.85, Of: 20})
		}
	}
	count("rule:00000000000000aa", "crash", "add_label", "bug", "kkkkkkkkkkkkkaakakkkk-e")
	count("rule:00000000000000bb", "stale", "close_issue", "", "kkkkkkkkkkkkkkkkkkkkkkkkukuukuk")
	count("agent:triage|<b>@1.2", "", "add_label", "needs\x1b[31m info", "kkr")
	count("rule:00000000000000cc", "docs", "add_label", "docs", "eee")
	count("rule:00000000000000a0", "crash", "add_label", "bug", "kkkkk")
	count("agent:triage|<b>@1.2", "", "comment", "", "kk")
	count("rule:00000000000000a1", "reset", "add_label", "bug", "kkkkkkkkkkkkkkkkkkkkkkkkk")
	count("rule:00000000000000ee", "\u202egnp|</td><script>", "lock", "", "u")
	shadow = true
	count("rule:00000000000000dd", "area|<b>", "add_label", "area/net\x1b[31m", "kkkkkkkkkkkkkkkkkkkkkkkkkkukk--")
	count("rule:00000000000000aa", "crash", "add_label", "bug", "kkkkkkkkkkkkkkkkkkkuu")
	count("agent:triage@1.2", "", "close_issue", "", "kkkkkkkkkkkkkkkkkkkkkkkkkkkk")
	return o
}

// TestReport compares the four forms with files.
func TestReport(t *testing.T) {
	t.Parallel()
	earned := policy.Policy{Earned: true, Approve: []string{"lock"}, Earn: policy.Earn{Reset: map[string]time.Time{"reset": now}, Trust: []string{"docs"}, Distrust: []string{"agent:triage|<b>/comment"}, Actions: map[string]policy.Threshold{"close_issue": {Bound: 0.85, Of: 20}}}}
	scores := &memory.Scores{Rules: map[string]memory.Score{"old": {Agreed: 60, Since: now.AddDate(-1, 0, 0)}, "(agent)": {Agreed: 1, Disagreed: 2, Since: now.AddDate(-1, 0, 0)}}}
	all := trackrecord.New(outcomes(), trackrecord.Options{
		Repo: "org/repo", Memory: "artifact", Shared: true, Web: "https://github.com/", Now: now, Policy: earned, Scores: scores,
		Waiting: &trackrecord.Waiting{Due: 1, Later: 2, Proposals: 3, ProposedOn: []int{4, 9}}, Notes: []string{"a <note>"},
	})
	for name, r := range map[string]trackrecord.Report{
		"all":      all,
		"none":     trackrecord.New(nil, trackrecord.Options{Repo: "org/repo", Memory: "file", Now: now, Policy: earned}),
		"scores":   trackrecord.New(nil, trackrecord.Options{Repo: "org/repo", Memory: "file", Now: now, Scores: scores}),
		"unearned": trackrecord.New(outcomes(), trackrecord.Options{Repo: "org/repo", Memory: "server", Now: now}),
		"since":    trackrecord.New(outcomes(), trackrecord.Options{Repo: "org/repo", Memory: "server", Now: now, Since: now.AddDate(0, 0, -10).Add(65 * time.Minute), Scores: scores}),
		"later":    trackrecord.New(outcomes(), trackrecord.Options{Repo: "org/repo", Memory: "server", Now: now, Since: now.AddDate(0, 0, -1)}),
	} {
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", string(data)+"\n")
		golden(t, name+".txt", r.Text())
		golden(t, name+".md", r.Markdown())
		golden(t, name+".html", r.HTML())
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
