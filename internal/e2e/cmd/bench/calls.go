package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/internal/github/githubtest"
)

// The scenarios whose calls are counted. The numbers of calls that other actions make for the same
// event come from their sources. These scenarios have no time limit.
const (
	labeling = "foreman, six labels on a new pull request: 4 calls (actions/labeler: 5)"
	scanning = "foreman, a scan of 95 issues of which 5 change: 24 calls (actions/stale: 26)"
)

//go:embed testdata/labels.yml
var labelRules string

//go:embed testdata/scan.yml
var scanRules []byte

// labeling prepares a run that adds six labels to a pull request. The configuration is read from
// the default branch.
func (s *stage) labeling() (command, func() error, error) {
	repo := s.fake.Repo(repository).AddFile(".github/foreman.yml", labelRules).
		AddLabel("docs", "area/a", "area/b", "area/c", "area/d", "size/s")
	repo.AddIssue(githubtest.Issue{Number: number, PullRequest: true, Files: []string{"docs/a.md"}})
	now := time.Now().UTC().Format(time.RFC3339)
	payload := fmt.Appendf(nil, `{"action": "opened", "number": %d, "sender": {"login": "mona", "type": "User"},
		"repository": {"full_name": %q, "default_branch": %q},
		"pull_request": {"number": %[1]d, "title": "T", "body": "", "state": "open", "user": {"login": "mona"}, "labels": [],
		"head": {"ref": "x"}, "base": {"ref": "main"}, "changed_files": 1, "created_at": %[4]q, "updated_at": %[4]q}}`,
		number, repository, s.results.Branch(), now)
	return s.counted("pull_request_target", payload, 4)
}

// scanning prepares a scheduled run that finds 95 issues, 5 of them stale.
func (s *stage) scanning() (command, func() error, error) {
	if err := s.forget(); err != nil {
		return command{}, nil, err
	}
	repo := s.fake.Repo(repository).AddLabel("stale").DeleteIssue(number)
	first := 1000 * int(s.run+1)
	for n := range 95 {
		age := time.Duration(n) * 12 * time.Hour
		if n >= 90 {
			age += 60 * 24 * time.Hour
		}
		repo.AddIssue(githubtest.Issue{Number: first + n, CreatedAt: time.Now().Add(-age)})
	}
	if err := os.WriteFile(filepath.Join(s.dir, "workspace", "scan.yml"), scanRules, 0o644); err != nil {
		return command{}, nil, err
	}
	c, check, err := s.counted("schedule", []byte(`{"schedule": "17 4 * * *"}`), 24)
	c.env = append(c.env, "INPUT_CONFIG=scan.yml", "GITHUB_REF=refs/heads/"+s.results.Branch())
	return c, func() error {
		err := check()
		for n := range 95 {
			repo.DeleteIssue(first + n)
		}
		return err
	}, err
}

// forget starts a new results service with an empty memory.
func (s *stage) forget() error {
	results, err := resultstest.Start(resultstest.Config{Repo: repository})
	if err != nil {
		return err
	}
	s.api.Close()
	s.results.Close()
	s.results, s.api = results, results.Front(s.fake)
	return nil
}

// counted returns a run on an event, with a memory in artifacts, and a check of its number of
// calls to GitHub's API. Uploads of artifacts are not counted, because they go to another service.
func (s *stage) counted(event string, payload []byte, calls int) (command, func() error, error) {
	env, err := s.environment(payload)
	if err != nil {
		return command{}, nil, err
	}
	s.fake.ResetCalls()
	before := len(s.results.Calls())
	c := s.remembered(command{launch: s.launch, path: s.foreman, args: []string{"action"}, env: env, dir: filepath.Join(s.dir, "workspace")})
	c.env = append(c.env, "GITHUB_EVENT_NAME="+event)
	return c, func() error {
		log := s.fake.Log()
		for _, call := range s.results.Calls()[before:] {
			if strings.Contains(call.URI, "/actions/artifacts") {
				log = append(log, call.Method+" "+call.URI)
			}
		}
		if len(log) != calls {
			return fmt.Errorf("got %d calls, want %d:\n%s", len(log), calls, strings.Join(log, "\n"))
		}
		return nil
	}, nil
}

// remembered adds the service for the memory to a command's environment.
func (s *stage) remembered(c command) command {
	s.run++
	c.env = append(c.env, "GITHUB_API_URL="+s.api.URL, fmt.Sprintf("GITHUB_REPOSITORY_ID=%d", s.results.RepositoryID()),
		"ACTIONS_RESULTS_URL="+s.results.URL, "ACTIONS_RUNTIME_TOKEN="+s.results.RuntimeToken(resultstest.Job{Run: s.run}))
	return c
}
