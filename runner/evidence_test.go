package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/evidence"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/triage"
)

// TestEvidence checks what counts of the file that the policy names, how often it is read, and that each reason
// why it does not count has one warning.
func TestEvidence(t *testing.T) {
	t.Parallel()
	const valid = `{"version":1,"repo":"octo/hello","at":"2026-11-27T00:00:00Z","pairs":[` +
		`{"digest":"0123456789abcdef","action":"add_label","value":"bug","judged":30,"kept":27}]}`
	const path, lost = ".github/evidence.json", "; replays do not count as a start for track records"
	earned := policy.Policy{Earned: true, Earn: policy.Earn{Evidence: path}}
	tests := []struct {
		name   string
		policy policy.Policy
		data   string
		err    error
		reads  int
		warns  string
	}{
		{"valid", earned, valid, nil, 1, ""},
		{"nothing is earned", policy.Policy{Earn: earned.Earn}, valid, nil, 0, ""},
		{"no file is named", policy.Policy{Earned: true}, valid, nil, 0, ""},
		{"missing", earned, "", fmt.Errorf("read: %w", triage.ErrNotFound), 1, "octo/hello has no file .github/evidence.json on its default branch"},
		{"unreadable", earned, "", errors.New(strings.Repeat("x", 400)), 1, strings.Repeat("x", 299) + "…"},
		{"of another repository", earned, strings.Replace(valid, "octo/hello", "octo/other", 1), nil, 1, path + ": it is of the repository octo/other, not of octo/hello"},
		{"newer", earned, `{"version":2}`, nil, 1, path + ": a newer version of the program wrote it: it has version 2, and this program reads up to 1"},
		{"damaged", earned, valid[:60], nil, 1, path + ": it is not the JSON of foreman rules backtest: unexpected end of JSON input"},
		{"too large", earned, valid + strings.Repeat(" ", evidence.MaxSize), nil, 1, path + ": it has more than 1048576 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var read, warnings []string
			host := Host{File: func(_ context.Context, repo triage.Repo, path string) ([]byte, error) {
				read = append(read, repo.Owner+"/"+repo.Name+" "+path)
				return []byte(tt.data), tt.err
			}}
			set := newSetup(Options{Config: &config.Config{Policy: tt.policy}, Host: host})
			threshold := set.thresholds(t.Context(), triage.Repo{Owner: "octo", Name: "hello"}, func(format string, args ...any) {
				warnings = append(warnings, fmt.Sprintf(format, args...))
			})
			for _, k := range []memory.PairKey{
				{Source: "rule:0123456789abcdef", Action: "add_label", Value: "bug"}, {Source: "rule:0123456789abcdef", Action: "add_label", Value: "bug"},
				{Source: "rule:0123456789abcdef", Action: "add_label", Value: "docs"}, {Source: "rule:0123456789abcdee", Action: "add_label", Value: "bug"},
				{Source: "agent:triage", Action: "add_label", Value: "bug"}, {Source: "rule:0123456789abcdef", Action: "close_issue"},
			} {
				got, want := threshold(k), memory.Threshold{Bound: 0.85, Of: 20}
				if k.Action == "close_issue" {
					want = memory.Threshold{Bound: 0.95, Of: 60}
				}
				if k.Source == "rule:0123456789abcdef" && k.Value == "bug" && tt.reads == 1 && tt.warns == "" {
					want.Start = memory.Start{Judged: 10, Right: 9}
				}
				if got != want {
					t.Errorf("%v: got %+v, want %+v", k, got, want)
				}
			}
			if want := slices.Repeat([]string{"octo/hello " + path}, tt.reads); !slices.Equal(read, want) {
				t.Errorf("read %q, want %q", read, want)
			}
			var want []string
			if tt.warns != "" {
				want = []string{"policy.earn.evidence: " + tt.warns + lost}
			}
			if !slices.Equal(warnings, want) {
				t.Errorf("warnings %q, want %q", warnings, want)
			}
		})
	}
}

// TestEvidenceWithoutHost checks that try-outs and other runs without GitHub have no evidence, and no warning.
func TestEvidenceWithoutHost(t *testing.T) {
	t.Parallel()
	c := config.Config{Policy: policy.Policy{Earned: true, Earn: policy.Earn{Evidence: "evidence.json"}}}
	threshold := newSetup(Options{Config: &c}).thresholds(t.Context(), triage.Repo{}, func(format string, args ...any) { t.Errorf(format, args...) })
	if got := threshold(memory.PairKey{Source: "rule:0123456789abcdef", Action: "add_label"}); got.Start != (memory.Start{}) {
		t.Errorf("got %+v", got)
	}
}
