package action

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/evidence"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/ruleset"
)

const (
	crashRules = "rules:\n  - {id: crash, on: issues.opened, then: [{add_label: docs}]}\n"
	// earnsRules needs four right outcomes: two are those of the test, and two may be the start by a replay.
	earnsRules   = "version: 1\npolicy: {automation: earned, earn: {bound: 0.5, of: 4, evidence: " + evidencePath + "}}\n" + crashRules
	evidencePath = ".github/foreman-evidence.json"
)

// TestEvidenceInActions lets a rule label two issues, and judges them fifteen days later in a scheduled run. Then the
// rule labels a third issue only if the results of a replay count: those of the default branch do, and those that a
// checkout or a pull request brought do not.
func TestEvidenceInActions(t *testing.T) {
	t.Parallel()
	const commit, forks = "0123456789abcdef0123456789abcdef01234567", "fedcba9876543210fedcba9876543210fedcba98"
	const missing = "has no file " + evidencePath + " on its default branch"
	tests := []struct {
		name  string
		at    map[string]string // the repository of the evidence, by place: head, workspace or a ref
		sha   string            // commit of the scheduled run
		warns string
		adds  bool
	}{
		{name: "on the default branch", at: map[string]string{"head": "org/repo"}, adds: true},
		{name: "at the commit of the run", at: map[string]string{commit: "org/repo"}, sha: commit, adds: true},
		{name: "not at the commit of the run", at: map[string]string{"head": "org/repo"}, sha: commit, warns: "policy.earn.evidence: "},
		{name: "nowhere", warns: missing},
		{name: "in the checkout", at: map[string]string{"workspace": "org/repo"}, warns: missing},
		{
			name: "in a pull request of a fork", warns: missing,
			at: map[string]string{"refs/pull/5/merge": "org/repo", forks: "org/repo", "workspace": "org/repo"},
		},
		{name: "changed in the checkout", at: map[string]string{"head": "org/other", "workspace": "org/repo"}, warns: "it is of the repository org/other"},
		{name: "changed in the checkout for the worse", at: map[string]string{"head": "org/repo", "workspace": "org/other"}, adds: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			service := resultstest.New(t, resultstest.Config{Now: time.Now})
			s := newStep(t)
			s.memoryIn(t, service, "artifact", 0)
			opened := s.Getenv("GITHUB_EVENT_PATH")
			event, err := os.ReadFile(opened)
			if err != nil {
				t.Fatal(err)
			}
			repo, run, start := s.gh.Repo(service.Repo()), 0, time.Now()
			step := func(after time.Duration) (log string) {
				t.Helper()
				before := len(s.Log())
				run++
				s.Setenv("GITHUB_RUN_ID", strconv.Itoa(100+run))
				s.Setenv("ACTIONS_RUNTIME_TOKEN", service.RuntimeToken(resultstest.Job{Run: int64(100 + run)}))
				env := process.Env{Getenv: s.Getenv, Stdout: s, Stderr: s, Sleep: s.sleep, Now: func() time.Time { return start.Add(after) }}
				if code := command.ExitCode(Run(t.Context(), env.Complete())); code != command.ExitOK {
					t.Fatalf("run %d: exit code %d:\n%s", run, code, s.Log()[before:])
				}
				return s.Log()[before:]
			}
			issue := func(number int, after time.Duration) string {
				t.Helper()
				repo.AddIssue(githubtest.Issue{Number: number})
				s.SetEvent("issues", []byte(strings.Replace(string(event), `"number": 7`, fmt.Sprint(`"number": `, number), 1)))
				return step(after)
			}
			repo.AddFile(config.DefaultPath, "version: 1\n"+crashRules)
			for n := 7; n <= 8; n++ {
				issue(n, 0)
				repo.LabelAs("max", n, "bug")
			}

			repo.AddFile(config.DefaultPath, earnsRules)
			for place, of := range tt.at {
				data := evidenceOf(t, strings.Replace(of, "org/repo", service.Repo(), 1))
				switch place {
				case "head":
					repo.AddFile(evidencePath, data)
				case "workspace":
					s.checkedOut(t, earnsRules)
					if err := os.WriteFile(filepath.Join(s.Getenv("GITHUB_WORKSPACE"), evidencePath), []byte(data), 0o600); err != nil {
						t.Fatal(err)
					}
				default:
					repo.AddFileAt(place, evidencePath, data)
				}
			}
			if tt.sha != "" {
				repo.AddFileAt(tt.sha, "README.md", "x")
			}
			s.SetEvent("schedule", []byte(`{"schedule": "17 4 * * *"}`))
			s.Setenv("GITHUB_SHA", tt.sha)
			s.Setenv("GITHUB_REF", "refs/heads/"+service.Branch())
			log := step(15 * 24 * time.Hour)
			if !strings.Contains(log, tt.warns) || strings.Contains(log, "::warning") != (tt.warns != "") {
				t.Errorf("want the warning %q:\n%s", tt.warns, log)
			}
			log = issue(9, 15*24*time.Hour)
			if added := len(s.gh.Issue(service.Repo(), 9).Labels) > 0; added != tt.adds {
				t.Errorf("the label was added: %v, want %v:\n%s", added, tt.adds, log)
			}
		})
	}
}

// evidenceOf returns the evidence of a repository, in which the rule was always right.
func evidenceOf(t *testing.T, repo string) string {
	t.Helper()
	c, err := config.Parse(config.DefaultPath, []byte(earnsRules), nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := evidence.Encode(evidence.File{Repo: repo, At: time.Now(), Pairs: []evidence.Pair{
		{Digest: (*ruleset.Set)(c.Rules).Rules().Digests()[0], Action: "add_label", Value: "docs", Judged: 30, Kept: 30},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
