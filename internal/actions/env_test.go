package actions_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/actions"
)

func TestEnv(t *testing.T) {
	t.Parallel()
	r, step := newRuntime(t)
	step.SetEvent("issues", nil)
	step.Setenv("GITHUB_RUN_ATTEMPT", "3")
	step.Setenv("GITHUB_API_URL", "https://ghe.example/api/v3/")
	want := actions.Env{
		EventName:    "issues",
		EventPath:    step.Getenv("GITHUB_EVENT_PATH"),
		Repository:   "octo-org/widgets",
		RepositoryID: "77001",
		RunID:        "9000000001",
		RunAttempt:   3,
		Job:          "triage",
		Step:         "__self",
		Workspace:    step.Getenv("GITHUB_WORKSPACE"),
		APIURL:       "https://ghe.example/api/v3",
		ServerURL:    "https://github.com",
		Actor:        "octocat",
		Workflow:     "Triage",
		Ref:          "refs/heads/main",
		Actions:      true,
	}
	got := r.Env()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
	if got.Owner() != "octo-org" || got.Name() != "widgets" {
		t.Errorf("got %q and %q, want octo-org and widgets", got.Owner(), got.Name())
	}
	if got, want := got.RunURL(), "https://github.com/octo-org/widgets/actions/runs/9000000001/attempts/3"; got != want {
		t.Errorf("run URL: got %s, want %s", got, want)
	}
}

func TestEnvOfNothing(t *testing.T) {
	t.Parallel()
	got := actions.New(actions.Options{}).Env()
	want := actions.Env{RunAttempt: 1, APIURL: "https://api.github.com", ServerURL: "https://github.com"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
	if got.RunURL() != "" || got.Owner() != "" || got.Name() != "" {
		t.Errorf("got %q, %q, %q, want nothing", got.RunURL(), got.Owner(), got.Name())
	}
}

func TestEnvAttempt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want int
	}{{"1", 1}, {"12", 12}, {"0", 1}, {"-4", 1}, {"two", 1}, {"99999999999999999999", 1}}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			r, step := newRuntime(t)
			step.Setenv("GITHUB_RUN_ATTEMPT", tt.text)
			if got := r.Env().RunAttempt; got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestEnvDebug(t *testing.T) {
	t.Parallel()
	r, _ := newLocal(t, true)
	if env := r.Env(); !env.Debug || env.Actions {
		t.Errorf("got debug %v and Actions %v, want only debug", env.Debug, env.Actions)
	}
}
