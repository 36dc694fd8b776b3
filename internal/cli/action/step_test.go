package action

import (
	"errors"
	"testing"

	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/triage"
)

// TestUnjoin shows each mistake in the inputs by itself.
func TestUnjoin(t *testing.T) {
	t.Parallel()
	joined := errors.Join(&actions.InputError{Name: "a", Problem: "p"}, &actions.InputError{Name: "b", Problem: "q"})
	if got := unjoin(command.Usage(command.Usage(joined))); len(got) != 2 {
		t.Errorf("got %d errors, want each input's own", len(got))
	}
}

func TestScope(t *testing.T) {
	t.Parallel()
	one, two := actions.Env{Job: "triage", Step: "one"}, actions.Env{Job: "triage", Step: "two"}
	tests := []struct {
		env   actions.Env
		index int
		want  string
	}{
		// The scopes without a matrix must not change, because comments and journals contain them.
		{one, 0, "daf0aac3"}, {one, 2, "daf0aac3.2"}, {two, 0, "368a233d"}, {actions.Env{}, 0, ""}, {actions.Env{}, 2, ""},
	}
	for _, tt := range tests {
		if got := scopeOf(tt.env, tt.index); got != tt.want {
			t.Errorf("%+v, %d: got %q, want %q", tt.env, tt.index, got, tt.want)
		}
	}
}

// TestTrusted checks at which commit evidence is read: never at one that is not on the default branch.
func TestTrusted(t *testing.T) {
	t.Parallel()
	repo := triage.Repo{Owner: "Octo", Name: "Hello"}
	on := func(event, ref, repo string) actions.Env {
		return actions.Env{EventName: event, Ref: ref, Repository: repo, Commit: "c0ffee"}
	}
	tests := []struct {
		name   string
		env    actions.Env
		branch string
		want   string
	}{
		{"an issue", on("issues", "refs/heads/main", "octo/hello"), "main", "c0ffee"},
		{"a schedule, whose payload names no branch", on("schedule", "refs/heads/trunk", "octo/hello"), "", "c0ffee"},
		{"no branch", on("issues", "refs/heads/main", "octo/hello"), "", ""},
		{"a pull request", on("pull_request", "refs/pull/7/merge", "octo/hello"), "main", ""},
		{"the target of a pull request", on("pull_request_target", "refs/heads/main", "octo/hello"), "main", "c0ffee"},
		{"another branch", on("workflow_dispatch", "refs/heads/topic", "octo/hello"), "main", ""},
		{"a tag of that name", on("workflow_dispatch", "refs/tags/main", "octo/hello"), "main", ""},
		{"another repository", on("workflow_dispatch", "refs/heads/main", "octo/other"), "main", ""},
	}
	for _, tt := range tests {
		if got := trusted(tt.env, triage.Delivery{Repo: repo, Branch: tt.branch}); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
