package action

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github/githubtest"
)

// apiCalls returns the calls of a step to GitHub's API, which count against the token's limit,
// those about artifacts first. Uploads of artifacts go to another service and do not count.
func (s *stepRun) apiCalls(service *resultstest.Server) []string {
	var list []string
	for _, c := range service.Calls() {
		if strings.Contains(c.URI, "/actions/artifacts") {
			list = append(list, "artifacts")
		}
	}
	for _, c := range s.gh.Calls() {
		list = append(list, c.Method+" "+strings.TrimPrefix(c.Path, "/repos/"+service.Repo()+"/"))
	}
	return list
}

const sixRules = `version: 1
policy: {limits: {add_label: 6}}
rules:
  - {id: a, on: ["pull_request.*"], when: any_file("a/**"), then: [{add_label: area/a}]}
  - {id: a-issue, on: ["issues.*"], then: [{add_label: area/a}]}
  - {id: b, on: ["pull_request.*", "issues.*"], then: [{add_label: area/b}, {add_label: area/c}]}
  - {id: d, on: ["pull_request.*", "issues.*"], then: [{add_labels: [area/d, area/e]}, {add_label: area/f}]}
`

// TestSixLabels adds six labels with at most as many calls as actions/labeler makes on the same
// event: it reads its configuration, the pull request twice and its files, and replaces the
// labels.
func TestSixLabels(t *testing.T) {
	t.Parallel()
	const labeler = 5
	config, files := "GET contents/.github/foreman.yml", "GET pulls/7/files"
	timeline, list, post := "GET issues/7/timeline", "GET labels", "POST issues/7/labels"
	tests := []struct {
		name, event, action string
		want                []string
	}{
		{"a new pull request", "pull_request_target", "opened", []string{config, files, list, post}},
		{"a push", "pull_request_target", "synchronize", []string{config, files, timeline, list, post}},
		{"a new issue", "issues", "opened", []string{"artifacts", config, list, post}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			service := resultstest.New(t, resultstest.Config{})
			s := newStep(t)
			s.memoryIn(t, service, "artifact", 0)
			s.SetInput("memory", "")
			repo := s.gh.Repo(service.Repo()).AddFile(".github/foreman.yml", sixRules)
			for n := range 90 {
				repo.AddLabel(fmt.Sprintf("other/%d", n))
			}
			repo.AddLabel("area/a", "area/b", "area/c", "area/d", "area/e", "area/f")
			subject, now := "issue", time.Now().UTC().Format(time.RFC3339)
			if tt.event != "issues" {
				subject = "pull_request"
				repo.AddIssue(githubtest.Issue{Number: 7, PullRequest: true, Files: []string{"a/x", "b"}})
			}
			s.SetEvent(tt.event, fmt.Appendf(nil, `{"action": %q, "number": 7, "sender": {"login": "mona", "type": "User"},
				"repository": {"full_name": %q, "default_branch": %q},
				%q: {"number": 7, "title": "T", "body": "b", "state": "open", "user": {"login": "mona"}, "labels": [],
				"head": {"ref": "x"}, "base": {"ref": "main"}, "changed_files": 2, "created_at": %q, "updated_at": %q}}`,
				tt.action, service.Repo(), service.Branch(), subject, now, now))
			if code := s.run(t.Context()); code != command.ExitOK || s.Outputs()["status"] != "applied" {
				t.Fatalf("exit code %d:\n%s", code, s.Log())
			}
			labels := s.gh.Issue(service.Repo(), 7).Labels
			slices.Sort(labels)
			if want := []string{"area/a", "area/b", "area/c", "area/d", "area/e", "area/f"}; !slices.Equal(labels, want) {
				t.Errorf("got labels %q, want %q", labels, want)
			}
			got := s.apiCalls(service)
			if diff := cmp.Diff(tt.want, got); diff != "" || len(got) > labeler {
				t.Errorf("%d calls, and actions/labeler makes %d (-want +got):\n%s", len(got), labeler, diff)
			}
		})
	}
}

const staleRules = `version: 1
rules:
  - id: stale
    on: [schedule]
    scan: "is:open -label:stale"
    when: idle() > duration("60d") and not any_label("pinned", "security")
    then:
      - comment: {body: Nothing happened here for 60 days., once: stale}
      - add_label: stale
`

// TestScan decides on 95 issues, of which 5 change, with at most as many calls as actions/stale
// makes on the same repository: it lists the issues, and reads the comments and the events of
// those that may be stale.
func TestScan(t *testing.T) {
	t.Parallel()
	const stale, reads = 26, 20
	service := resultstest.New(t, resultstest.Config{})
	s := newStep(t)
	s.memoryIn(t, service, "artifact", 0)
	s.SetInput("memory", "")
	s.SetEvent("schedule", []byte(`{"schedule": "17 4 * * *"}`))
	s.Setenv("GITHUB_REF", "refs/heads/"+service.Branch())
	repo := s.gh.Repo(service.Repo()).AddLabel("stale").AddFile(".github/foreman.yml", staleRules)
	for n := range 95 {
		age := time.Duration(n+1) * 12 * time.Hour // 5 of them more than 60 days
		if n >= 90 {
			age += 60 * 24 * time.Hour
		}
		repo.AddIssue(githubtest.Issue{Number: 7 + n, CreatedAt: time.Now().Add(-age)})
	}
	if code := s.run(t.Context()); code != command.ExitOK {
		t.Fatalf("exit code %d:\n%s", code, s.Log())
	}
	if got := s.Outputs()["issues"]; !strings.Contains(got, `"found":95,"decided":95,"executed":10,`) {
		t.Errorf("got %s:\n%s", got, s.Log())
	}
	calls := s.apiCalls(service)
	read := 0
	for _, c := range calls {
		if !strings.HasPrefix(c, "POST ") {
			read++
		}
	}
	if len(calls) > stale || read > reads {
		t.Errorf("%d calls, %d of them reads, want at most %d and %d:\n%s", len(calls), read, stale, reads, strings.Join(calls, "\n"))
	}
}
