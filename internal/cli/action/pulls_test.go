package action

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github/githubtest"
)

const sizeRules = `version: 1
rules:
  - id: size-s
    on: [pull_request.opened, pull_request.synchronize]
    when: pr.additions + pr.deletions < 100
    else_undo: true
    then: [{add_label: size/S}]
  - id: size-m
    on: [pull_request.opened, pull_request.synchronize]
    when: pr.additions + pr.deletions >= 100
    else_undo: true
    then: [{add_label: size/M}]
`

// A pull is pull request 7, and the workflow runs on it.
type pull struct {
	gh      *githubtest.Server
	service *resultstest.Server
	job     resultstest.Job // on the author's branch
	rules   string
	memory  string // the input; empty: the default
	runs    int
}

// push runs the workflow on a push after which the pull request has that many changed lines. It
// returns the log.
func (p *pull) push(t *testing.T, lines int) string {
	t.Helper()
	p.runs++
	action := "synchronize"
	if p.runs == 1 {
		action = "opened"
	}
	var labels []string
	for _, name := range p.gh.Issue(p.service.Repo(), 7).Labels {
		labels = append(labels, fmt.Sprintf(`{"name": %q}`, name))
	}
	s := newStep(t)
	s.SetEvent("pull_request_target", fmt.Appendf(nil, `{"action": %q, "number": 7, "sender": {"login": "mallory", "type": "User"},
		"repository": {"full_name": %q, "default_branch": %q},
		"pull_request": {"number": 7, "title": "T", "body": null, "state": "open", "user": {"login": "mallory", "type": "User"},
		"author_association": "NONE", "labels": [%s], "head": {"ref": %q}, "base": {"ref": "main"}, "changed_files": 1, "additions": %d,
		"created_at": "2026-01-01T00:00:00Z", "updated_at": %q}}`,
		action, p.service.Repo(), p.service.Branch(), strings.Join(labels, ", "), p.job.HeadBranch, lines, time.Now().UTC().Format(time.RFC3339)))
	p.gh.Repo(p.service.Repo()).AddFile(".github/foreman.yml", p.rules)
	if p.memory != "" {
		s.SetInput("memory", p.memory)
	}
	front := p.service.Front(p.gh)
	t.Cleanup(front.Close)
	job := p.job
	job.Run = int64(100 + p.runs)
	s.Setenv("GITHUB_API_URL", front.URL)
	s.Setenv("GITHUB_REPOSITORY", p.service.Repo())
	s.Setenv("GITHUB_REPOSITORY_ID", strconv.FormatInt(p.service.RepositoryID(), 10))
	s.Setenv("GITHUB_RUN_ID", strconv.FormatInt(job.Run, 10))
	s.Setenv("ACTIONS_RESULTS_URL", p.service.URL+"/")
	s.Setenv("ACTIONS_RUNTIME_TOKEN", p.service.RuntimeToken(job))
	p.gh.ResetCalls()
	if code := s.run(t.Context()); code != command.ExitOK {
		t.Fatalf("run %d: exit code %d:\n%s", p.runs, code, s.Log())
	}
	return s.Log()
}

// labels returns the labels of the pull request.
func (p *pull) labels() string {
	list := slices.Sorted(slices.Values(p.gh.Issue(p.service.Repo(), 7).Labels))
	return strings.Join(list, " ")
}

// timelines counts the reads of the timeline in the last run.
func (p *pull) timelines() (n int) {
	for _, c := range p.gh.Log() {
		if strings.Contains(c, "/timeline") {
			n++
		}
	}
	return n
}

// TestPullLabels checks that a pull request has exactly one size label after each push. Artifacts
// of its runs do not count, so the timeline shows which label is ours.
func TestPullLabels(t *testing.T) {
	t.Parallel()
	fork := resultstest.Job{HeadRepositoryID: 66, HeadBranch: "patch-1"}
	tests := []struct {
		name   string
		job    resultstest.Job
		memory string
		denied bool // reading artifacts is not permitted
		warns  bool
	}{
		{"of a fork", fork, "", false, false},
		{"of a fork, with the permissions of docs/pull-requests.md", fork, "", true, false},
		{"of a branch", resultstest.Job{HeadBranch: "patch-1"}, "", true, false},
		{"memory asked for", fork, "artifact", false, false},
		{"memory asked for and denied", fork, "artifact", true, true},
		{"memory off", fork, "off", true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &pull{gh: githubtest.New(t, githubtest.Config{Token: "s3cret-token"}), service: resultstest.New(t, resultstest.Config{}), job: tt.job, rules: sizeRules, memory: tt.memory}
			p.service.Deny(resultstest.ActionsRead, tt.denied)
			repo := p.gh.Repo(p.service.Repo()).AddLabel("size/S", "size/M").AddIssue(githubtest.Issue{Number: 7, PullRequest: true, Author: "mallory"})
			for i, step := range []struct {
				lines int
				want  string
			}{{4, "size/S"}, {101, "size/M"}, {101, "size/M"}, {4, "size/S"}, {101, "size/M"}} {
				log := p.push(t, step.lines)
				if got := p.labels(); got != step.want {
					t.Errorf("step %d, %d lines: got %q, want %q", i, step.lines, got, step.want)
				}
				if n := p.timelines(); n > 1 {
					t.Errorf("step %d: %d reads of the timeline", i, n)
				}
				if warned := strings.Contains(log, "::warning"); warned && !tt.warns {
					t.Errorf("step %d:\n%s", i, log)
				}
			}
			// A label that a person added stays, even if Foreman had removed it before.
			repo.LabelAs("mona", 7, "size/S")
			p.push(t, 101)
			if got := p.labels(); got != "size/M size/S" {
				t.Errorf("with a person's label: got %q", got)
			}
			if calls := strings.Join(p.gh.Log(), "\n"); strings.Contains(calls, "DELETE") || p.timelines() > 1 {
				t.Errorf("got calls\n%s", calls)
			}
		})
	}
}
