package action

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
)

const closesLater = `version: 1
policy: {allow_close: true}
rules:
  - id: old
    on: [issues.opened, issues.reopened]
    then: [{close_issue: {after: 72h, veto: [comment]}}]
`

// TestClosingInActions closes an issue three days later, on fresh machines: the scheduled run finds
// the deferred closing by an artifact's name.
func TestClosingInActions(t *testing.T) {
	t.Parallel()
	service := resultstest.New(t, resultstest.Config{Now: time.Now})
	s := newStep(t)
	start := time.Now()
	step := func(run int, after time.Duration, want ...string) {
		t.Helper()
		before := len(s.Log())
		s.Setenv("GITHUB_RUN_ID", strconv.Itoa(100+run))
		s.Setenv("ACTIONS_RUNTIME_TOKEN", service.RuntimeToken(resultstest.Job{Run: int64(100 + run)}))
		env := process.Env{Getenv: s.Getenv, Stdout: s, Stderr: s, Sleep: s.sleep, Now: func() time.Time { return start.Add(after) }}
		if code := command.ExitCode(Run(t.Context(), env.Complete())); code != command.ExitOK {
			t.Fatalf("run %d: exit code %d:\n%s", run, code, s.Log())
		}
		log := s.Log()[before:]
		for _, part := range append(want, "") {
			if !strings.Contains(log, part) || strings.Contains(log, "::warning") {
				t.Errorf("run %d: the log lacks %q, or warns:\n%s", run, part, log)
			}
		}
	}
	s.memoryIn(t, service, "artifact", 0)
	s.gh.Repo(service.Repo()).AddFile(".github/foreman.yml", closesLater)
	step(0, 0, "to be closed after 72h")
	// The payload of a scheduled run has no other member.
	s.SetEvent("schedule", []byte(`{"schedule": "17 4 * * *"}`))
	s.Setenv("GITHUB_REF", "refs/heads/"+service.Branch())
	for run, after := range []time.Duration{71 * time.Hour, 73 * time.Hour, 74 * time.Hour} {
		downloads := len(service.Calls())
		step(1+run, after, []string{"1 scheduled close or proposal not due yet", "1 scheduled close carried out", "0 issues found, 0 actions carried out\n"}[run])
		if run != 1 {
			for _, c := range service.Calls()[downloads:] {
				if !strings.Contains(c.URI, "/actions/artifacts?") {
					t.Errorf("run %d: got the call %s", run, c.URI)
				}
			}
		}
	}
	if i := s.gh.Issue(service.Repo(), 7); i.State != "closed" {
		t.Errorf("the issue is %s", i.State)
	}
	var names []string
	for _, a := range service.Artifacts() {
		names = append(names, strings.TrimRight(a.Name, "0123456789TZ"))
	}
	if got := strings.Join(names, " "); got != "foreman-closing-i7- foreman-memory-i foreman-memory-i foreman-closing-i7-none" {
		t.Errorf("got the artifacts %s", got)
	}
}

// TestClosingInCache checks that no closing is announced with a cache as memory, because a cache
// cannot be searched.
func TestClosingInCache(t *testing.T) {
	t.Parallel()
	service := resultstest.New(t, resultstest.Config{})
	s := newStep(t)
	s.memoryIn(t, service, "cache", 0)
	s.gh.Repo(service.Repo()).AddFile(".github/foreman.yml", closesLater)
	if code := s.run(t.Context()); code != command.ExitOK {
		t.Fatalf("exit code %d:\n%s", code, s.Log())
	}
	s.wantLog(t, `"verdict":"refuse","reason":"later runs cannot read this memory`)
}

// TestClosingUnannounced checks that the step fails when later runs could not find the deferred
// closing.
func TestClosingUnannounced(t *testing.T) {
	t.Parallel()
	service := resultstest.New(t, resultstest.Config{})
	s := newStep(t)
	s.memoryIn(t, service, "artifact", 0)
	s.gh.Repo(service.Repo()).AddFile(".github/foreman.yml", closesLater)
	service.Deny(resultstest.ArtifactWrite, true)
	if code := s.run(t.Context()); code != command.ExitFailed {
		t.Fatalf("exit code %d:\n%s", code, s.Log())
	}
	s.wantLog(t, "::error", "record the scheduled actions", "artifacts may not be written")
}
