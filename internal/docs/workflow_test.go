package docs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/internal/cli"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/github/githubtest"
)

// A trigger is one of the events that start a workflow. A schedule has none of its fields.
type trigger struct{ Types []string }

// UnmarshalYAML reads the types of an event.
func (t *trigger) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	var fields struct{ Types []string }
	err := n.Decode(&fields)
	t.Types = fields.Types
	return err
}

// A workflow contains the parts of a workflow file that affect a run for a new issue.
type workflow struct {
	On          map[string]trigger
	Permissions map[string]string
	Jobs        map[string]struct {
		Steps []struct {
			Uses string
			With map[string]string
		}
	}
}

// workflowRun is a program. It opens an issue in a repository with the files of .github in the
// working directory. It prints the beginning of the job summary, and the issue. The arguments are
// the number, title and body.
func workflowRun() {
	r, err := runWorkflow(".", os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		fmt.Fprintln(os.Stderr, "workflow-run:", err)
		os.Exit(1)
	}
	head, _, _ := strings.Cut(r.summary, "\n<details>")
	fmt.Printf("%s\n\nIssue #%d: labels: %s; comments: %d\n", strings.TrimSpace(head), r.issue.Number, or(strings.Join(r.issue.Labels, ", "), "none"), len(r.issue.Comments))
}

// workflowComment is a program. It opens an issue like workflowRun, and then does what each further
// argument describes, such as "mona: /foreman accept 1" or "mona ticks 2". It prints the comment with
// the proposals, without its marker.
func workflowComment() {
	r, err := runWorkflow(".", os.Args[1], os.Args[2], os.Args[3], os.Args[4:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "workflow-comment:", err)
		os.Exit(1)
	}
	fmt.Println(r.proposals)
}

// A result is the result of a workflow run.
type result struct {
	summary   string // the whole job summary of the newest run
	issue     githubtest.Issue
	proposals string // the text of the comment with the proposals; empty: there is none
}

// A stage is a fake GitHub with one issue, and the workflow that runs on its events.
type stage struct {
	gh      *githubtest.Server
	repo    *githubtest.Repo
	results *resultstest.Server
	api     string // address of GitHub's API
	flow    workflow
	number  int
	runs    int64
}

// repoName is the name of the repository.
const repoName = "octo-org/hello"

// runWorkflow opens an issue on a fake GitHub whose default branch has the files of dir/.github,
// and runs the action as their workflow does. The repository has the labels of a new GitHub
// repository, and needs-info. Each answer is a comment or a tick of a person with write access.
func runWorkflow(dir, number, title, body string, answers ...string) (r result, err error) {
	s := &stage{}
	if s.number, err = strconv.Atoi(number); err != nil {
		return r, err
	}
	if s.gh, err = githubtest.Start(githubtest.Config{Token: "t0ken-of-the-step"}); err != nil {
		return r, err
	}
	defer s.gh.Close()
	if s.results, err = resultstest.Start(resultstest.Config{Repo: repoName}); err != nil {
		return r, err
	}
	defer s.results.Close()
	front := s.results.Front(s.gh)
	defer front.Close()
	s.api = front.URL
	s.repo = s.gh.Repo(repoName).AddLabel("bug", "documentation", "duplicate", "enhancement", "good first issue", "help wanted", "invalid", "question", "wontfix", "needs-info")
	s.repo.AddIssue(githubtest.Issue{Number: s.number, Title: title, Body: body, Author: "octocat", CreatedAt: time.Now()})
	if s.flow, err = readFiles(dir, s.repo); err != nil {
		return r, err
	}
	s.results.Deny(resultstest.ActionsRead, s.flow.Permissions["actions"] != "read")
	if r.summary, err = s.run("issues", "opened", "octocat", nil); err != nil {
		return r, err
	}
	for _, answer := range answers {
		if r.summary, err = s.answer(answer); err != nil {
			return r, fmt.Errorf("%s: %w", answer, err)
		}
	}
	if err := s.flow.permitted(s.gh.Log()); err != nil {
		return r, err
	}
	_, r.proposals, _ = strings.Cut(s.proposals().Body, " -->\n\n")
	r.issue = s.gh.Issue(repoName, s.number)
	return r, nil
}

// proposals returns the comment with the proposals.
func (s *stage) proposals() githubtest.Comment {
	for _, c := range s.gh.Issue(repoName, s.number).Comments {
		if strings.Contains(c.Body, "key=foreman-suggestions") {
			return c
		}
	}
	return githubtest.Comment{}
}

// answer runs the workflow on a comment, such as "mona: /foreman accept 1", or on a ticked box, such as
// "mona ticks 2".
func (s *stage) answer(text string) (summary string, err error) {
	if who, body, ok := strings.Cut(text, ": "); ok {
		s.repo.SetPermission(who, "write")
		id := s.repo.AddComment(s.number, who, body)
		return s.run("issue_comment", "created", who, map[string]any{"comment": comment(id, body, who, "User")})
	}
	who, number, ok := strings.Cut(text, " ticks ")
	c := s.proposals()
	ticked := strings.Replace(c.Body, "- [ ] **"+number+"**", "- [x] **"+number+"**", 1)
	if !ok || ticked == c.Body {
		return "", errors.New("no such box")
	}
	s.repo.SetPermission(who, "write").EditComment(c.ID, ticked)
	return s.run("issue_comment", "edited", who, map[string]any{
		"comment": comment(c.ID, ticked, c.Author, "Bot"), "changes": map[string]any{"body": map[string]any{"from": c.Body}},
	})
}

// comment returns the comment of a payload.
func comment(id int64, body, author, kind string) map[string]any {
	now := time.Now().UTC().Format(time.RFC3339)
	return map[string]any{
		"id": id, "body": body, "user": map[string]any{"login": author, "type": kind}, "author_association": "NONE", "created_at": now, "updated_at": now,
	}
}

// run runs the action on an event of the issue, and returns the job summary. more are further keys of
// the payload.
func (s *stage) run(event, action, sender string, more map[string]any) (summary string, err error) {
	inputs, err := s.flow.inputs(event, action)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	s.runs++
	run := 4710 + s.runs
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_API_URL": s.api, "GITHUB_REPOSITORY": repoName, "GITHUB_REPOSITORY_ID": strconv.FormatInt(s.results.RepositoryID(), 10),
		"GITHUB_EVENT_NAME": event, "GITHUB_RUN_ID": strconv.FormatInt(run, 10), "GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "triage", "GITHUB_ACTION": "foreman",
		"GITHUB_WORKSPACE": dir, "INPUT_TOKEN": "t0ken-of-the-step",
		"ACTIONS_RESULTS_URL": s.results.URL + "/", "ACTIONS_RUNTIME_TOKEN": s.results.RuntimeToken(resultstest.Job{Run: run}),
	}
	for input, value := range inputs {
		env["INPUT_"+strings.ToUpper(input)] = value
	}
	i := s.gh.Issue(repoName, s.number)
	labels := []any{}
	for _, name := range i.Labels {
		labels = append(labels, map[string]any{"name": name})
	}
	fields := map[string]any{
		"action": action, "sender": map[string]any{"login": sender, "type": "User"}, "repository": map[string]any{"full_name": repoName, "default_branch": s.results.Branch()},
		"issue": map[string]any{
			"number": s.number, "title": i.Title, "body": i.Body, "state": or(i.State, "open"), "author_association": "NONE", "labels": labels,
			"user": map[string]any{"login": i.Author, "type": "User"}, "created_at": i.CreatedAt.UTC().Format(time.RFC3339),
		},
	}
	maps.Copy(fields, more)
	payload, err := json.Marshal(fields)
	if err != nil {
		return "", err
	}
	for variable, data := range map[string]string{"GITHUB_EVENT_PATH": string(payload), "GITHUB_STEP_SUMMARY": "", "GITHUB_OUTPUT": ""} {
		env[variable] = filepath.Join(dir, variable)
		if err := os.WriteFile(env[variable], []byte(data), 0o600); err != nil {
			return "", err
		}
	}
	var log strings.Builder
	code := cli.Main(context.Background(), process.Env{
		Getenv: func(name string) string { return env[name] }, Stdout: &log, Stderr: &log,
	}, []string{"action"})
	if problems := slices.Concat(s.gh.Problems(), s.results.Problems()); code != 0 || len(problems) > 0 {
		return "", fmt.Errorf("the action ended with exit code %d, problems %v:\n%s", code, problems, log.String())
	}
	text, err := os.ReadFile(env["GITHUB_STEP_SUMMARY"])
	return string(text), err
}

func or(text, empty string) string {
	if text == "" {
		return empty
	}
	return text
}

// readFiles puts the files of dir/.github on the default branch, and reads the workflow.
func readFiles(dir string, repo *githubtest.Repo) (flow workflow, err error) {
	found := 0
	err = filepath.WalkDir(filepath.Join(dir, ".github"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		repo.AddFile(filepath.ToSlash(name), string(data))
		if filepath.Dir(name) == filepath.Join(".github", "workflows") {
			found++
			return yaml.Unmarshal(data, &flow)
		}
		return nil
	})
	if err == nil && found != 1 {
		err = fmt.Errorf("%d workflows, want one", found)
	}
	return flow, err
}

// inputs returns the inputs of the action's step. It returns an error if the event does not start the
// workflow.
func (w workflow) inputs(event, action string) (map[string]string, error) {
	if !slices.Contains(w.On[event].Types, action) {
		return nil, fmt.Errorf("the workflow does not listen to %s.%s", event, action)
	}
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			if strings.HasPrefix(step.Uses, "org/foreman-action@") {
				return step.With, nil
			}
		}
	}
	return nil, errors.New("no step of the workflow uses the action")
}

// permitted checks that the workflow's permissions allow the writes of the run.
func (w workflow) permitted(calls []string) error {
	for _, call := range calls {
		if !strings.HasPrefix(call, "GET ") && w.Permissions["issues"] != "write" {
			return fmt.Errorf("the workflow has no issues: write, and the action calls %s", call)
		}
	}
	return nil
}
