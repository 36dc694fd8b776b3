package runner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// An undoWorld is a world with a clock, in which mona may give commands.
type undoWorld struct {
	gh    *githubtest.Server
	event triage.Delivery
	o     options
	clock time.Time
}

func newUndoWorld(t *testing.T, src string) *undoWorld {
	t.Helper()
	w := &undoWorld{clock: time.Now().Add(time.Minute)} // after everything on the fake
	w.gh, w.event, w.o = world(t, src)
	w.gh.Repo(repoName).SetPermission("mona", "admin")
	w.o.Clock.Now = func() time.Time { return w.clock }
	keepIn(&w.o, memory.New())
	return w
}

// now returns an event with the current issue.
func (w *undoWorld) now(action string) triage.Delivery {
	e, i := w.event, *w.event.Issue
	g := w.gh.Issue(repoName, 1)
	i.Labels, i.State, i.UpdatedAt = g.Labels, g.State, w.clock
	e.Issue, e.Action = &i, action
	return e
}

// comment returns the event of a comment that mona writes now.
func (w *undoWorld) comment(text string) triage.Delivery {
	return commented(w.gh, w.now(""), "mona", "User", text)
}

// run carries out a task with a given name.
func (w *undoWorld) run(t *testing.T, task string, e triage.Delivery) runner.Report {
	t.Helper()
	o := w.o
	o.Task.ID = protocol.DeriveTaskID("undo", task)
	rep, err := run(t, o, e)
	if err != nil {
		t.Fatalf("%s: %v", task, err)
	}
	return rep
}

// labels returns the labels of the issue.
func (w *undoWorld) labels() string { return strings.Join(w.gh.Issue(repoName, 1).Labels, " ") }

// said returns the text of the last comment on the issue.
func (w *undoWorld) said() string {
	c := w.gh.Issue(repoName, 1).Comments
	return c[len(c)-1].Body
}

// TestUndoWaits checks that undo reverts the last task before the comment. A later task, which ran
// while the job of the command waited, is not reverted.
func TestUndoWaits(t *testing.T) {
	t.Parallel()
	for later, want := range map[string]struct{ labels, said string }{
		"closed":   {"bug docs", "the label `triage` is removed"},
		"reopened": {"bug", "everything that it did was changed since by other tasks"},
	} {
		t.Run(later, func(t *testing.T) {
			t.Parallel()
			w := newUndoWorld(t, "rules:\n  - {id: a, on: issues.edited, then: [{add_label: triage}]}\n"+
				"  - {id: b, on: issues.closed, then: [{add_label: docs}]}\n  - {id: c, on: issues.reopened, then: [{remove_label: triage}]}\n")
			w.run(t, "a", w.now("edited"))
			e := w.comment("/foreman undo")
			w.clock = w.clock.Add(10 * time.Second)
			w.run(t, "later", w.now(later))
			w.run(t, "undo", e)
			if got := w.labels(); got != want.labels || !strings.Contains(w.said(), want.said) {
				t.Errorf("got %q: %s", got, w.said())
			}
		})
	}
}

// A fullStore cannot save while it is full.
type fullStore struct {
	memory.Store
	full *bool
}

func (s fullStore) Save(ctx context.Context, r memory.Record) error {
	if *s.full {
		return errors.New("no space left")
	}
	return s.Store.Save(ctx, r)
}

// TestUndoUnsaved checks that an undone action is not repeated, even if the task of the undo is not
// in the memory.
func TestUndoUnsaved(t *testing.T) {
	t.Parallel()
	w := newUndoWorld(t, "rules:\n  - {id: a, on: issues.edited, then: [{add_label: triage}]}\n")
	full := false
	keepIn(&w.o, fullStore{w.o.Memory.Store, &full})
	w.run(t, "a", w.now("edited"))
	full = true
	w.run(t, "undo", w.comment("/foreman undo"))
	full = false
	rep := w.run(t, "again", w.now("edited"))
	if w.labels() != "bug" || !strings.Contains(rep.Actions[0].Reason, "undone by /foreman undo") {
		t.Errorf("got %q: %+v", w.labels(), rep.Actions)
	}
}

// TestUndoNeverAgain undoes a task that removed a label and forbade it with never_again. The label
// must be added again.
func TestUndoNeverAgain(t *testing.T) {
	t.Parallel()
	w := newUndoWorld(t, "rules:\n  - {id: a, on: issues.edited, then: [{remove_label: docs}, {never_again: docs}]}\n")
	w.gh.Repo(repoName).LabelAs("github-actions[bot]", 1, "docs")
	w.run(t, "a", w.now("edited"))
	w.run(t, "undo", w.comment("/foreman undo"))
	if got := w.labels(); got != "bug docs" || !strings.Contains(w.said(), "may be added again") {
		t.Errorf("got %q: %s", got, w.said())
	}
}

// TestNeverAgainOutlives checks that a label stays forbidden after the rule that forbade it was
// removed, and although nothing else reads the memory.
func TestNeverAgainOutlives(t *testing.T) {
	t.Parallel()
	w := newUndoWorld(t, "rules:\n  - {id: a, on: issues.edited, then: [{never_again: docs}]}\n")
	w.run(t, "a", w.now("edited"))
	c, err := config.Parse("foreman.yml", []byte("version: 1\nrules:\n  - {id: b, on: issues.edited, then: [{add_label: docs}]}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.o.Config = c
	rep := w.run(t, "b", w.now("edited"))
	if w.labels() != "bug" || !strings.Contains(rep.Actions[0].Reason, "an earlier decision forbids the label") {
		t.Errorf("got %q: %+v", w.labels(), rep.Actions)
	}
}

// TestUndoOther reverts an action that only the timeline contains, so that its event is unknown.
func TestUndoOther(t *testing.T) {
	t.Parallel()
	w := newUndoWorld(t, "")
	w.gh.Repo(repoName).LabelAs("github-actions[bot]", 1, "docs")
	w.run(t, "undo", w.comment("/foreman undo"))
	if w.labels() != "bug" || strings.Contains(w.said(), "(,") || strings.Contains(w.said(), "``") {
		t.Errorf("got %q: %s", w.labels(), w.said())
	}
}

// TestUndoSeveral gives the command undo several times. One is carried out, and the others are
// reported.
func TestUndoSeveral(t *testing.T) {
	t.Parallel()
	w := newUndoWorld(t, "")
	rep := w.run(t, "undo", w.comment("/foreman undo aaaa\n/foreman undo aaaa\n/foreman undo bbbb\n/foreman why\n/foreman why x"))
	if !strings.Contains(rep.Rationale, "mona asked for undo, why; only the first /foreman undo of a comment is carried out") ||
		len(rep.Actions) != 3 || rep.Actions[2].Action.Type != protocol.ActionReact {
		t.Errorf("got %q, %+v", rep.Rationale, rep.Actions)
	}
	if got := fmt.Sprint(rep.Actions[0].Action); !strings.Contains(got, "Nothing was undone: no task of ours") {
		t.Errorf("got the answer %s", got)
	}
}

// TestUndoOnPull checks that a label is removed from a pull request only if the timeline shows that
// we added it. The timeline is read only if the pull request has such a label.
func TestUndoOnPull(t *testing.T) {
	t.Parallel()
	const (
		small = "  - {id: small, on: ['pull_request.*'], when: pr.additions < 10, else_undo: true, then: [{add_label: docs}]}\n"
		also  = "  - {id: also, on: ['pull_request.*'], when: pr.draft, else_undo: true, then: [{add_labels: [docs, triage]}]}\n"
		moved = "  - {id: moved, on: issue_comment.created, then: [{add_label: docs}]}\n"
		made  = "  - {id: made, on: ['pull_request.*'], when: pr.draft, else_undo: true, then: [{add_label: '{{ pr.base }}'}]}\n"
	)
	tests := []struct {
		name, rules, by string // by added the label docs; empty: it was not added
		lines           int
		labels          string
		reads           int // number of timeline requests
	}{
		{"ours", small, runner.DefaultBot, 20, "bug", 1},
		{"a person's", small, "mona", 20, "bug docs", 1},
		{"another program's", small, "dependabot[bot]", 20, "bug docs", 1},
		{"not there", small, "", 20, "bug", 0},
		{"its condition is true", small, runner.DefaultBot, 4, "bug docs", 0},
		{"all that add it take it back", small + also, runner.DefaultBot, 20, "bug", 1},
		{"another rule that adds it was not asked", small + moved, runner.DefaultBot, 20, "bug docs", 0},
		{"another rule adds it", small + also, runner.DefaultBot, 4, "bug docs", 0},
		{"no text names it", made, runner.DefaultBot, 20, "bug docs", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newUndoWorld(t, "rules:\n"+tt.rules)
			w.o.Memory = runner.Memory{}
			if tt.by != "" {
				w.gh.Repo(repoName).LabelAs(tt.by, 1, "docs")
			}
			e := w.now("synchronize")
			e.Name, e.Pull, e.Issue.PullRequest = triage.EventPullRequestTarget, &triage.PullRequest{Additions: tt.lines}, true
			w.gh.ResetCalls()
			w.run(t, "undo", e)
			if got := w.labels(); got != tt.labels {
				t.Errorf("got labels %q, want %q", got, tt.labels)
			}
			if n := strings.Count(strings.Join(w.gh.Log(), "\n"), "/timeline"); n != tt.reads {
				t.Errorf("%d reads of the timeline, want %d", n, tt.reads)
			}
		})
	}
}

// TestLabelsOffWhoever checks a rule with else_undo that overrides people. When its condition is
// false, it removes its labels, even those that others added, on a new issue and without a memory.
func TestLabelsOffWhoever(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, keys, put, want string }{
		{"a person's label", "override_humans: true, else_undo: true", "docs", "bug"},
		{"what people did stays otherwise", "else_undo: true", "docs", "bug docs"},
		{"another label", "override_humans: true, else_undo: true", "bug", "bug"},
		{"a label that another rule adds", "override_humans: true, else_undo: true", "wanted", "bug wanted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newUndoWorld(t, "rules:\n"+
				"  - {id: a, on: issues.labeled, when: 'issue.title == \"other\"', "+tt.keys+", then: [{add_labels: [docs, wanted]}]}\n"+
				"  - {id: b, on: issues.labeled, when: label(\"wanted\"), then: [{add_label: wanted}]}\n")
			w.o.Memory = runner.Memory{}
			w.gh.Repo(repoName).AddLabel("wanted").LabelAs("mona", 1, tt.put)
			e := w.now("labeled")
			e.Label = tt.put
			w.run(t, "one", e)
			if got := w.labels(); got != tt.want {
				t.Errorf("got labels %q, want %q", got, tt.want)
			}
		})
	}
}
