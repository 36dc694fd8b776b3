package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/internal/github/githubtest"
)

// remembering is the scenario with a memory.
const remembering = "foreman, one label, kept in an artifact"

const (
	repository = "Codertocat/Hello-World" // the repository in the payload
	number     = 1
)

//go:embed testdata/foreman.yml
var config []byte

// A stage is the environment of the measured programs: the fake GitHub, a workspace with the
// configuration, and the files of the Actions runner.
type stage struct {
	options
	fake    *githubtest.Server
	results *resultstest.Server // the memory
	api     *httptest.Server    // fake GitHub and results service at one address
	run     int64               // number of the last workflow run
	dir     string
}

func newStage(o options, dir string) (*stage, error) {
	fake, err := githubtest.Start(githubtest.Config{SkipValidation: true})
	if err != nil {
		return nil, err
	}
	results, err := resultstest.Start(resultstest.Config{Repo: repository})
	if err != nil {
		fake.Close()
		return nil, err
	}
	s := &stage{options: o, fake: fake, results: results, api: results.Front(fake), dir: dir}
	fake.Repo(repository).AddLabel("bug", "kind/compose")
	path := filepath.Join(dir, "workspace", ".github", "foreman.yml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, config, 0o644)); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *stage) close() {
	s.api.Close()
	s.results.Close()
	s.fake.Close()
}

// scenarios lists the measured programs. If node is not installed, node and the original actions
// are omitted.
func (s *stage) scenarios() ([]scenario, error) {
	list := []scenario{
		{"foreman, one label: 1 look-up, 1 write", s.on("podman-compose does not start", 2)},
		{"foreman, one comment: 1 read, 1 write", s.on("Question: how does it start?", 2)},
		{"foreman, no rule matches: no call", s.on("Spelling error", 0)},
		{remembering, s.remembering("podman-compose does not start")},
		{labeling, s.labeling},
		{scanning, s.scanning},
	}
	node, err := exec.LookPath("node")
	if errors.Is(err, exec.ErrNotFound) {
		return list, nil
	}
	if err != nil {
		return nil, err
	}
	list = slices.Insert(list, 0, scenario{yardstick, func() (command, func() error, error) {
		return command{launch: s.launch, path: node, args: []string{"-e", "0"}, dir: s.dir}, nil, nil
	}})
	if s.originals == "" {
		return list, nil
	}
	pairs, err := s.beside(node)
	return append(list, pairs...), err
}

// on returns a function that prepares runs for an issue with this title. Each run must make
// exactly this number of calls.
func (s *stage) on(title string, calls int) func() (command, func() error, error) {
	return func() (command, func() error, error) {
		s.fake.Repo(repository).AddIssue(githubtest.Issue{Number: number, Title: title, Labels: []string{"bug"}})
		s.fake.ResetCalls()
		payload, err := s.payload(title)
		if err != nil {
			return command{}, nil, err
		}
		env, err := s.environment(payload)
		if err != nil {
			return command{}, nil, err
		}
		check := func() error {
			if log := s.fake.Log(); len(log) != calls {
				return fmt.Errorf("got the calls %q, want %d", log, calls)
			}
			return nil
		}
		c := command{launch: s.launch, path: s.foreman, args: []string{"action"}, env: env, dir: filepath.Join(s.dir, "workspace")}
		return c, check, nil
	}
}

// remembering returns a function that prepares runs that look up a label, add it, and record this
// in an artifact.
func (s *stage) remembering(title string) func() (command, func() error, error) {
	plain := s.on(title, 2)
	return func() (command, func() error, error) {
		c, check, err := plain()
		c = s.remembered(c)
		before := len(s.results.Artifacts())
		return c, func() error {
			if n := len(s.results.Artifacts()); n != before+1 {
				return fmt.Errorf("%d artifacts after %d", n, before)
			}
			return check()
		}, err
	}
}

// environment writes the files of one step and returns its variables.
func (s *stage) environment(payload []byte) ([]string, error) {
	env := []string{
		"CI=true", "GITHUB_ACTIONS=true", "GITHUB_API_URL=" + s.fake.URL, "GITHUB_EVENT_NAME=issues",
		"GITHUB_JOB=triage", "GITHUB_ACTION=foreman", "GITHUB_REPOSITORY=" + repository,
		"GITHUB_RUN_ATTEMPT=1", "GITHUB_RUN_ID=1", "GITHUB_SERVER_URL=https://github.com",
		"GITHUB_WORKSPACE=" + filepath.Join(s.dir, "workspace"), "INPUT_TOKEN=bench",
	}
	files := map[string][]byte{
		"GITHUB_EVENT_PATH": payload, "GITHUB_OUTPUT": nil, "GITHUB_ENV": nil,
		"GITHUB_STATE": nil, "GITHUB_STEP_SUMMARY": nil,
	}
	for name, content := range files {
		path := filepath.Join(s.dir, name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return nil, err
		}
		env = append(env, name+"="+path)
	}
	return env, nil
}

// payload returns the event with another title for its issue.
func (s *stage) payload(title string) ([]byte, error) {
	original, err := os.ReadFile(s.event)
	if err != nil {
		return nil, err
	}
	var event, issue map[string]json.RawMessage
	if err := json.Unmarshal(original, &event); err != nil {
		return nil, fmt.Errorf("%s: %w", s.event, err)
	}
	if err := json.Unmarshal(event["issue"], &issue); err != nil {
		return nil, fmt.Errorf("%s: issue: %w", s.event, err)
	}
	if issue["title"], err = json.Marshal(title); err != nil {
		return nil, err
	}
	// The issue was just opened, so foreman need not look for earlier actions on it, or read it again.
	for _, key := range []string{"created_at", "updated_at"} {
		if issue[key], err = json.Marshal(time.Now().UTC().Truncate(time.Second)); err != nil {
			return nil, err
		}
	}
	if event["issue"], err = json.Marshal(issue); err != nil {
		return nil, err
	}
	return json.MarshalIndent(event, "", "  ")
}
