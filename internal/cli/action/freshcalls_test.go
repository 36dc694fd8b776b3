package action

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/internal/agenttest"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/protocol"
)

const freshRules = `version: 1
policy: {%s}
rules:
  - {id: label, on: issues.opened, then: [{add_label: docs}]}
  - {id: comment, on: issues.opened, then: [{comment: "Thanks."}, {assign: [hubot]}]}
`

const freshAgentRules = `version: 1
policy: {%s}
`

// TestFreshIssueCalls checks that proposals cost nothing on a fresh issue of which every action is carried
// out: the calls are those of the version before there were proposals, whatever the level.
func TestFreshIssueCalls(t *testing.T) {
	t.Parallel()
	label, labels, assign, post := "GET labels/docs", "POST issues/7/labels", "POST issues/7/assignees", "POST issues/7/comments"
	timeline := "GET issues/7/timeline"
	tests := []struct {
		name, memory string
		agent        bool
		want         []string
	}{
		{"rules, no memory", "off", false, []string{timeline, label, labels, post, assign}},
		{"rules, memory", "artifact", false, []string{"artifacts", timeline, label, labels, post, assign}},
		{"agent, no memory", "off", true, []string{timeline, label, labels, post}},
		{"agent, memory", "artifact", true, []string{"artifacts", timeline, label, labels, post}},
	}
	for _, tt := range tests {
		for _, policy := range []string{"", "automation: full", "automation: balanced", "automation: cautious", "suggestions: auto", "suggestions: comment", "suggestions: off"} {
			t.Run(tt.name+", "+policy, func(t *testing.T) {
				t.Parallel()
				service := resultstest.New(t, resultstest.Config{})
				s := newStep(t)
				s.memoryIn(t, service, tt.memory, 0)
				now := time.Now().UTC().Format(time.RFC3339)
				s.SetEvent("issues", fmt.Appendf(nil, `{"action": "opened", "sender": {"login": "mona", "type": "User"},
					"repository": {"full_name": %q, "default_branch": %q},
					"issue": {"number": 7, "title": "T", "body": "b", "state": "open", "user": {"login": "mona"}, "labels": [], "created_at": %q, "updated_at": %q}}`,
					service.Repo(), service.Branch(), now, now))
				s.gh.Repo(service.Repo()).AddUser("hubot")
				rules := freshRules
				if tt.agent {
					rules = freshAgentRules
					s.SetInput("agent-url", agenttest.New(t, func(task protocol.TaskMessage) agenttest.Answer {
						return agenttest.Raw(`{"task_id": "` + task.TaskID + `", "decision": "label_and_respond", "rationale": "r", "actions": [
							{"type": "add_label", "label": "docs", "confidence": "high", "rationale": "it names a page"},
							{"type": "comment", "body": "Thanks.", "confidence": 0.95}]}`)
					}).URL)
				}
				s.checkedOut(t, fmt.Sprintf(rules, policy))
				if code := s.run(t.Context()); code != command.ExitOK || s.Outputs()["status"] != "applied" {
					t.Fatalf("exit code %d:\n%s", code, s.Log())
				}
				got := s.apiCalls(service)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// checkedOut writes the configuration to the workspace.
func (s *stepRun) checkedOut(t *testing.T, src string) {
	t.Helper()
	file := filepath.Join(s.Getenv("GITHUB_WORKSPACE"), ".github", "foreman.yml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestStrangersEditCalls checks that an edit of a comment that answers no proposal costs nothing: no call, and
// no question to the agent. Every edit of a comment starts a run.
func TestStrangersEditCalls(t *testing.T) {
	t.Parallel()
	const shown = "<!-- foreman:v1 task=7f6fd0ee-9a3e-4b7f-8d8c-8b7b8c1f0a11 comment=0 key=foreman-suggestions -->\n\n**Foreman proposes** (nothing of this has been done):\n\n" +
		"- [%s] **1** add the label `docs` · high <!-- foreman:p 1 0123456789abcdef -->"
	tests := []struct{ name, author, sender, kind, from, body string }{
		{"of her own comment", "rita", "rita", "User", "Hi.", "Hello."},
		{"of a copy of ours", "rita", "rita", "User", fmt.Sprintf(shown, " "), fmt.Sprintf(shown, "x")},
		{"of ours, by a bot", "github-actions[bot]", "renovate[bot]", "Bot", fmt.Sprintf(shown, " "), fmt.Sprintf(shown, "x")},
		{"of ours, no box", "github-actions[bot]", "mona", "User", fmt.Sprintf(shown, " "), fmt.Sprintf(shown, " ") + "\n"},
		{"of ours, a box is emptied", "github-actions[bot]", "mona", "User", fmt.Sprintf(shown, "x"), fmt.Sprintf(shown, " ")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			service := resultstest.New(t, resultstest.Config{})
			s := newStep(t)
			s.memoryIn(t, service, "artifact", 0)
			s.checkedOut(t, fmt.Sprintf(freshRules, "automation: cautious"))
			asked := agenttest.New(t, func(protocol.TaskMessage) agenttest.Answer { return agenttest.Skip("no") })
			s.SetInput("agent-url", asked.URL)
			s.SetEvent("issue_comment", fmt.Appendf(nil, `{"action": "edited", "sender": {"login": %q, "type": %q},
				"repository": {"full_name": %q, "default_branch": %q}, "changes": {"body": {"from": %q}},
				"comment": {"id": 5, "body": %q, "user": {"login": %q, "type": "User"}},
				"issue": {"number": 7, "title": "T", "body": "b", "state": "open", "user": {"login": "mona"}, "labels": []}}`,
				tt.sender, tt.kind, service.Repo(), service.Branch(), tt.from, tt.body, tt.author))
			if code := s.run(t.Context()); code != command.ExitOK || s.Outputs()["status"] != "skipped" {
				t.Fatalf("exit code %d:\n%s", code, s.Log())
			}
			if got := s.apiCalls(service); len(got) > 0 || len(asked.Tasks()) > 0 {
				t.Errorf("got calls %q, and %d questions to the agent", got, len(asked.Tasks()))
			}
		})
	}
}

// TestProposalCalls counts the calls of a proposal and of its answers, with the memory in artifacts.
func TestProposalCalls(t *testing.T) {
	t.Parallel()
	service, gh := resultstest.New(t, resultstest.Config{}), githubtest.New(t, githubtest.Config{Token: "s3cret-token"})
	repo := gh.Repo(service.Repo()).AddLabel("docs", "bug").AddUser("mona").SetPermission("mona", "admin")
	front := service.Front(gh)
	t.Cleanup(front.Close)
	runs, before := 0, 0
	run := func(number int, name, payload string) []string {
		t.Helper()
		runs++
		s := newStep(t)
		for k, v := range map[string]string{
			"GITHUB_API_URL": front.URL, "GITHUB_REPOSITORY": service.Repo(), "GITHUB_REPOSITORY_ID": strconv.FormatInt(service.RepositoryID(), 10),
			"GITHUB_RUN_ID": strconv.Itoa(runs), "ACTIONS_RESULTS_URL": service.URL + "/", "ACTIONS_RUNTIME_TOKEN": service.RuntimeToken(resultstest.Job{Run: int64(runs)}),
		} {
			s.Setenv(k, v)
		}
		s.gh = gh
		s.SetInput("memory", "artifact")
		s.checkedOut(t, "version: 1\nrules:\n  - {id: a, on: issues.opened, when: 'issue.number != 9', then: [{add_label: {label: docs, suggest: true}}, {add_label: {label: bug, suggest: true}}]}\n")
		now := time.Now().UTC().Format(time.RFC3339)
		s.SetEvent(name, fmt.Appendf(nil, `{"sender": {"login": "mona", "type": "User"}, "repository": {"full_name": %q, "default_branch": %q},
			"issue": {"number": %d, "title": "T", "body": "b", "state": %q, "user": {"login": "rita"}, "labels": [], "created_at": %q, "updated_at": %q}, %s}`,
			service.Repo(), service.Branch(), number, gh.Issue(service.Repo(), number).State, now, now, payload))
		if code := s.run(t.Context()); code != command.ExitOK {
			t.Fatalf("exit code %d:\n%s", code, s.Log())
		}
		all := s.apiCalls(service)
		artifacts := len(all) - len(gh.Calls())
		got := slices.Concat(all[before:artifacts], all[artifacts:])
		before = artifacts
		gh.ResetCalls()
		for i := range got {
			got[i] = regexp.MustCompile(`/\d+`).ReplaceAllString(got[i], "/N")
		}
		return got
	}
	comment := func(number int) githubtest.Comment { return gh.Issue(service.Repo(), number).Comments[0] }
	timeline, permission, answer := "GET issues/N/timeline", "GET collaborators/mona/permission", []string{"GET issues/comments/N", "PATCH issues/comments/N"}
	want := map[string][]string{
		// two saves, the second of which replaces the artifact of the first, and a due time
		"opened, proposed":       append(slices.Repeat([]string{"artifacts"}, 7), "GET labels", "GET issues/N/comments", "POST issues/N/comments"),
		"tick":                   append([]string{"artifacts", "artifacts", "artifacts", permission, timeline, "GET labels/docs", "POST issues/N/labels"}, answer...),
		"accept":                 append(append(slices.Repeat([]string{"artifacts"}, 5), permission, answer[0], timeline, "GET labels/bug", "POST issues/N/labels", "POST issues/comments/N/reactions"), answer[1]),
		"closed, with proposals": append(slices.Repeat([]string{"artifacts"}, 5), answer...),
		"closed, without":        {"artifacts"},
	}
	got := map[string][]string{}
	for _, n := range []int{7, 8, 9} {
		repo.AddIssue(githubtest.Issue{Number: n, Author: "rita"})
	}
	got["opened, proposed"] = run(7, "issues", `"action": "opened"`)
	c := comment(7)
	got["tick"] = run(7, "issue_comment", fmt.Sprintf(`"action": "edited", "changes": {"body": {"from": %q}},
		"comment": {"id": %d, "body": %q, "user": {"login": %q, "type": "Bot"}, "created_at": %q}`,
		c.Body, c.ID, strings.Replace(c.Body, "- [ ] **1**", "- [x] **1**", 1), c.Author, time.Now().UTC().Format(time.RFC3339)))
	id := repo.AddComment(7, "mona", "/foreman accept 2")
	got["accept"] = run(7, "issue_comment", fmt.Sprintf(`"action": "created", "comment": {"id": %d, "body": "/foreman accept 2", "user": {"login": "mona", "type": "User"}, "created_at": %q}`,
		id, time.Now().Add(time.Second).UTC().Format(time.RFC3339)))
	if labels := gh.Issue(service.Repo(), 7).Labels; len(labels) != 2 {
		t.Errorf("got labels %q", labels)
	}
	run(8, "issues", `"action": "opened"`)
	repo.CloseAs("mona", 8, "completed")
	got["closed, with proposals"] = run(8, "issues", `"action": "closed"`)
	repo.CloseAs("mona", 9, "completed")
	got["closed, without"] = run(9, "issues", `"action": "closed"`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
