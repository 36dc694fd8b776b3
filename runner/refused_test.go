package runner_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// TestRefused checks the status and the warning of a run in which GitHub refuses an action for good.
func TestRefused(t *testing.T) {
	t.Parallel()
	const locked = "refused by GitHub: 403 Forbidden: Unable to create comment because issue is locked."
	tests := []struct {
		name, then string
		status     runner.Status
		executed   int
	}{
		{"alone", `[{comment: hello}]`, runner.StatusDone, 0},
		{"with others", `[{comment: hello}, {add_label: docs}]`, runner.StatusPartial, 1},
	}
	for _, tt := range tests {
		gh, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: "+tt.then+"}\n")
		gh.Repo(journalRepo).LockAs("mona", 1, "")
		rep, err := run(t, o, e)
		if err != nil || rep.Status != tt.status || rep.Executed != tt.executed {
			t.Errorf("%s: got %s, %d carried out, %v", tt.name, rep.Status, rep.Executed, err)
		}
		if want := "comment was " + locked; rep.Reason != want || !slices.Equal(rep.Warnings, []string{want}) {
			t.Errorf("%s: got the reason %q and the warnings %q", tt.name, rep.Reason, rep.Warnings)
		}
		if a := rep.Actions[0]; a.State != triage.Refused || a.State.Result() != "none" || a.Reason != locked {
			t.Errorf("%s: got %+v", tt.name, a)
		}
	}
}

// TestRefusedOnce checks that a refused action is not tried again by the next attempt at the task.
func TestRefusedOnce(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{comment: hello}, {add_label: docs}]}\n")
	gh.Repo(journalRepo).LockAs("mona", 1, "")
	o.Memory.Journal = memory.NewJournal()
	gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/*/*/issues/*/labels", Status: 400, Nth: 1})
	if rep, err := run(t, o, e); err == nil || rep.Status != runner.StatusFailed {
		t.Fatalf("got %s, %v", rep.Status, err)
	}
	gh.Repo(journalRepo).UnlockAs("mona", 1) // the answer of the first attempt stays
	gh.ResetCalls()
	o.Task.First = false
	rep, err := run(t, o, e)
	if err != nil || rep.Status != runner.StatusPartial || rep.Actions[0].State != triage.Refused {
		t.Errorf("got %s, %+v, %v", rep.Status, rep.Actions[0], err)
	}
	if calls := strings.Join(gh.Log(), "\n"); strings.Contains(calls, "/comments") {
		t.Errorf("the comment was tried again:\n%s", calls)
	}
}

// TestRefusedUncounted checks that a refusal is none of the errors that mean something else.
func TestRefusedUncounted(t *testing.T) {
	t.Parallel()
	err := error(&triage.RefusedError{Reason: "x", Err: triage.ErrNotFound})
	if errors.Is(err, triage.ErrGone) || err.Error() != "refused by GitHub: x" || !errors.Is(err, triage.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}
