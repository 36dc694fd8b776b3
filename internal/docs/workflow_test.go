package docs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/cli"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/github/githubtest"
)

// A workflow contains the parts of a workflow file that affect a run for a new issue.
type workflow struct {
	On struct {
		Issues struct{ Types []string }
	}
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

// A result is the result of a workflow run.
type result struct {
	summary string // the whole job summary
	issue   githubtest.Issue
}

// runWorkflow opens an issue on a fake GitHub whose default branch has the files of dir/.github,
// and runs the action as their workflow does. The repository has the labels of a new GitHub
// repository, and those in extra.
func runWorkflow(dir, number, title, body string, extra ...string) (r result, err error) {
	n, err := strconv.Atoi(number)
	if err != nil {
		return r, err
	}
	gh, err := githubtest.Start(githubtest.Config{Token: "t0ken-of-the-step"})
	if err != nil {
		return r, err
	}
	defer gh.Close()
	const name = "octo-org/hello"
	repo := gh.Repo(name).AddLabel("bug", "documentation", "duplicate", "enhancement", "good first issue", "help wanted", "invalid", "question", "wontfix").AddLabel(extra...)
	repo.AddIssue(githubtest.Issue{Number: n, Title: title, Body: body, Author: "octocat", CreatedAt: time.Now()})
	flow, err := readFiles(dir, repo)
	if err != nil {
		return r, err
	}
	inputs, err := flow.inputs()
	if err != nil {
		return r, err
	}
	runner, err := os.MkdirTemp("", "run")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(runner)
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_API_URL": gh.URL, "GITHUB_REPOSITORY": name, "GITHUB_EVENT_NAME": "issues",
		"GITHUB_RUN_ID": "4711", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "triage", "GITHUB_ACTION": "foreman",
		"GITHUB_WORKSPACE": runner, "INPUT_TOKEN": "t0ken-of-the-step",
	}
	for input, value := range inputs {
		env["INPUT_"+strings.ToUpper(input)] = value
	}
	payload, err := json.Marshal(map[string]any{
		"action": "opened", "sender": map[string]any{"login": "octocat", "type": "User"}, "repository": map[string]any{"full_name": name},
		"issue": map[string]any{
			"number": n, "title": title, "body": body, "state": "open", "author_association": "NONE", "labels": []any{},
			"user": map[string]any{"login": "octocat", "type": "User"}, "created_at": time.Now().UTC().Format(time.RFC3339),
		},
	})
	if err != nil {
		return r, err
	}
	for variable, data := range map[string]string{"GITHUB_EVENT_PATH": string(payload), "GITHUB_STEP_SUMMARY": "", "GITHUB_OUTPUT": ""} {
		env[variable] = filepath.Join(runner, variable)
		if err := os.WriteFile(env[variable], []byte(data), 0o600); err != nil {
			return r, err
		}
	}
	var log strings.Builder
	code := cli.Main(context.Background(), process.Env{
		Getenv: func(name string) string { return env[name] }, Stdout: &log, Stderr: &log,
	}, []string{"action"})
	if code != 0 || len(gh.Problems()) > 0 {
		return r, fmt.Errorf("the action ended with exit code %d, problems %v:\n%s", code, gh.Problems(), log.String())
	}
	if err := flow.permitted(gh.Log()); err != nil {
		return r, err
	}
	summary, err := os.ReadFile(env["GITHUB_STEP_SUMMARY"])
	return result{string(summary), gh.Issue(name, n)}, err
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

// inputs returns the inputs of the action's step. It returns an error if a new issue does not
// start the workflow.
func (w workflow) inputs() (map[string]string, error) {
	if !slices.Contains(w.On.Issues.Types, "opened") {
		return nil, errors.New("the workflow does not listen to issues.opened")
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
