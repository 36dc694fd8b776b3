package action

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/actions/actionstest"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github/githubtest"
)

// A stepRun is one step of a workflow, run in this process. It records waits instead of sleeping.
type stepRun struct {
	*actionstest.Runner
	gh *githubtest.Server

	mu    sync.Mutex
	slept []time.Duration
}

const issueOpened = `{"action": "opened",
	"issue": {"number": 7, "title": "T", "body": "b", "state": "open", "user": {"login": "mona"}, "labels": []},
	"repository": {"full_name": "octo-org/widgets"}, "sender": {"login": "mona", "type": "User"}}`

const labelRule = "version: 1\nrules:\n  - {id: a, on: issues.opened, then: [{add_label: docs}]}\n"

func newStep(t *testing.T) *stepRun {
	t.Helper()
	s := &stepRun{Runner: actionstest.NewRunner(t), gh: githubtest.New(t, githubtest.Config{Token: "s3cret-token"})}
	s.gh.Repo("octo-org/widgets").AddLabel("docs").AddIssue(githubtest.Issue{Number: 7})
	s.Setenv("GITHUB_API_URL", s.gh.URL)
	s.SetInput("token", "s3cret-token")
	s.SetEvent("issues", []byte(issueOpened))
	return s
}

func (s *stepRun) sleep(ctx context.Context, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slept = append(s.slept, d)
	return ctx.Err()
}

func (s *stepRun) run(ctx context.Context) int {
	return command.ExitCode(Run(ctx, process.Env{Getenv: s.Getenv, Stdout: s, Stderr: s, Sleep: s.sleep}.Complete()))
}

// wantLog checks that the log holds every part, and no secret.
func (s *stepRun) wantLog(t *testing.T, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(s.Log(), part) {
			t.Errorf("the log lacks %q:\n%s", part, s.Log())
		}
	}
	if all := s.Log() + s.Summary(); strings.Contains(all, "s3cret-token") {
		t.Errorf("the token is shown:\n%s", all)
	}
}

// TestConfigUnreadable fails with the reason when the configuration cannot be read.
func TestConfigUnreadable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, fault string
		want        []string
		waits       int
		summary     string
	}{
		{"server error", "GET /repos/*/*/contents/*/* status=500", []string{"::error", ".github/foreman.yml", "500"}, 2, "500"},
		{"forbidden", `GET /repos/*/*/contents/*/* status=403 body={"message":"Resource_not_accessible_by_integration"}`,
			[]string{"::error", "contents: read"}, 0, "contents: read"},
		{"bad credentials", "GET /repos/*/*/contents/*/* status=401", []string{"::error", "401"}, 0, "401"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStep(t)
			f, err := githubtest.ParseFault(strings.Fields(tt.fault))
			if err != nil {
				t.Fatal(err)
			}
			s.gh.Fault(f)
			if code := s.run(t.Context()); code != command.ExitFailed {
				t.Errorf("got exit code %d, want %d", code, command.ExitFailed)
			}
			s.wantLog(t, tt.want...)
			if len(s.slept) != tt.waits || !strings.Contains(s.Summary(), tt.summary) || s.Outputs()["status"] != "failed" {
				t.Errorf("got waits %v, outputs %v, summary:\n%s", s.slept, s.Outputs(), s.Summary())
			}
			s.Untouched()
		})
	}
}

// TestRateLimit waits as long as GitHub asks, and writes once.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	s := newStep(t)
	s.gh.Repo("octo-org/widgets").AddFile(".github/foreman.yml", labelRule)
	s.gh.Fault(githubtest.Fault{Method: "POST", Nth: 1, Status: 429, Header: map[string]string{"Retry-After": "30"}})
	if code := s.run(t.Context()); code != command.ExitOK {
		t.Fatalf("got exit code %d:\n%s", code, s.Log())
	}
	if len(s.slept) != 1 || s.slept[0] != 30*time.Second {
		t.Errorf("got waits %v, want 30s", s.slept)
	}
	if got := s.gh.Issue("octo-org/widgets", 7).Labels; len(got) != 1 {
		t.Errorf("got labels %v", got)
	}
	s.wantLog(t, `"foreman":"audit"`)
}

// TestStopped checks that a step that is stopped in the middle of a write ends with a report.
func TestStopped(t *testing.T) {
	t.Parallel()
	s := newStep(t)
	s.gh.Repo("octo-org/widgets").AddFile(".github/foreman.yml", labelRule)
	reached, hold := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(hold) })
	s.gh.Fault(githubtest.Fault{Method: "POST", Nth: 1, Reached: reached, Hold: hold})
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		<-reached
		stop()
	}()
	if code := s.run(ctx); code != command.ExitFailed {
		t.Errorf("got exit code %d, want %d", code, command.ExitFailed)
	}
	if s.Outputs()["status"] != "failed" || s.Outputs()["decision"] != "label_and_respond" || s.Summary() == "" {
		t.Errorf("got outputs %v", s.Outputs())
	}
	s.wantLog(t, "::error", "canceled")
}

// TestOIDC sends the agent a token for its own address, and prints it nowhere.
func TestOIDC(t *testing.T) {
	t.Parallel()
	s := newStep(t)
	s.SetInput("agent-url", "https://127.0.0.1:1/base/task")
	s.SetInput("agent-auth", "oidc")
	if code := s.run(t.Context()); code != command.ExitFailed {
		t.Errorf("got exit code %d, want %d", code, command.ExitFailed)
	}
	s.wantLog(t, "id-token: write")
}

// TestOutputsUnwritable fails the step: a workflow that reads the outputs must know.
func TestOutputsUnwritable(t *testing.T) {
	t.Parallel()
	s := newStep(t)
	s.Setenv("GITHUB_OUTPUT", filepath.Join(t.TempDir(), "absent", "output"))
	if code := s.run(t.Context()); code != command.ExitFailed {
		t.Errorf("got exit code %d, want %d", code, command.ExitFailed)
	}
	s.wantLog(t, "::error", "output")
}

// TestHugeEvent refuses a payload that no webhook can have.
func TestHugeEvent(t *testing.T) {
	t.Parallel()
	s := newStep(t)
	path := filepath.Join(t.TempDir(), "event.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(files.MaxEvent + 1); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s.Setenv("GITHUB_EVENT_PATH", path)
	if code := s.run(t.Context()); code != command.ExitUsage {
		t.Errorf("got exit code %d, want %d", code, command.ExitUsage)
	}
	s.wantLog(t, "larger than")
}
