package runner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/runner"
)

// newLongWorld returns an undoWorld on a GitHub whose responses are not validated, because there
// are many.
func newLongWorld(t *testing.T, src string) *undoWorld {
	t.Helper()
	w := newUndoWorld(t, src)
	w.gh = githubtest.New(t, githubtest.Config{SkipValidation: true})
	w.gh.Repo(repoName).AddLabel("bug", "docs", "triage").AddIssue(githubtest.Issue{Number: 1, Labels: []string{"bug"}})
	w.gh.Repo(repoName).SetPermission("mona", "admin")
	host, err := github.New(github.Options{BaseURL: w.gh.URL, Token: "t", Sleep: noSleep})
	if err != nil {
		t.Fatal(err)
	}
	w.o.Host = runner.HostOf(host)
	return w
}

// chatter adds comments by a program, and then moves the clock a day on.
func (w *undoWorld) chatter(n int) {
	for range n {
		w.gh.Repo(repoName).AddComment(1, "ci[bot]", "build passed")
	}
	w.clock = w.clock.Add(25 * time.Hour)
	w.gh.Advance(25 * time.Hour)
}

// timelineCalls counts the requests for the timeline.
func (w *undoWorld) timelineCalls() int {
	n := 0
	for _, line := range w.gh.Log() {
		if strings.Contains(line, "/timeline") {
			n++
		}
	}
	return n
}

// TestLongTimeline uses rules, undo and human overrides on an issue with 2,000 events. It checks
// how many pages are read.
func TestLongTimeline(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, rules string
		act         func(t *testing.T, w *undoWorld)
		labels      string
		said        string
		calls       int
	}{
		{
			name: "undo", rules: "{id: a, on: issues.edited, then: [{add_label: triage}]}",
			act: func(t *testing.T, w *undoWorld) {
				w.run(t, "a", w.now("edited"))
				w.chatter(1000)
				w.run(t, "undo", w.comment("/foreman undo"))
			},
			labels: "bug", said: "the label `triage` is removed", calls: 1 + 12,
		},
		{
			name: "undo of a new label", rules: "{id: a, on: issues.edited, then: [{add_label: triage}]}",
			act: func(t *testing.T, w *undoWorld) {
				w.chatter(1000)
				w.run(t, "a", w.now("edited"))
				w.run(t, "undo", w.comment("/foreman undo"))
			},
			labels: "bug", said: "the label `triage` is removed", calls: 17,
		},
		{
			name: "undone by a person", rules: "{id: a, on: issues.edited, then: [{add_label: triage}]}, {id: b, on: issues.edited, when: label(\"triage\"), then: [{add_label: docs}]}",
			act: func(t *testing.T, w *undoWorld) {
				w.gh.Repo(repoName).LabelAs("mona", 1, "triage")
				w.gh.Repo(repoName).UnlabelAs("mona", 1, "triage")
				w.chatter(1990)
				w.run(t, "a", w.now("edited"))
			},
			labels: "bug", calls: 21,
		},
		{
			name: "the last event of a label", rules: "{id: a, on: issues.edited, when: removed_by_human(\"triage\"), then: [{add_label: docs}]}",
			act: func(t *testing.T, w *undoWorld) {
				w.chatter(800)
				w.gh.Repo(repoName).LabelAs("mona", 1, "triage")
				w.gh.Repo(repoName).UnlabelAs("mona", 1, "triage")
				w.gh.Repo(repoName).LabelAs("mona", 1, "docs")
				w.gh.Repo(repoName).UnlabelAs("mona", 1, "docs")
				w.chatter(700)
				w.run(t, "a", w.now("edited"))
			},
			labels: "bug", calls: 9,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newLongWorld(t, fmt.Sprintf("rules: [%s]\n", tt.rules))
			tt.act(t, w)
			if got := w.labels(); got != tt.labels || w.timelineCalls() != tt.calls {
				t.Errorf("got the labels %q in %d requests for the timeline, want %q in %d", got, w.timelineCalls(), tt.labels, tt.calls)
			}
			if tt.said != "" && !strings.Contains(w.said(), tt.said) {
				t.Errorf("got %q, want it to say %q", w.said(), tt.said)
			}
		})
	}
}

// TestFailedPageOfTimeline checks that rules with labels do not each ask again for an earlier page of
// the timeline that GitHub refuses.
func TestFailedPageOfTimeline(t *testing.T) {
	t.Parallel()
	var rules []string
	for i := range 8 {
		rules = append(rules, fmt.Sprintf("{id: r%d, on: issues.edited, when: not label(\"x\"), then: [{add_label: l%d}]}", i, i))
	}
	w := newLongWorld(t, fmt.Sprintf("rules: [%s]\n", strings.Join(rules, ", ")))
	w.chatter(900)
	const newest = 5 // requests of the first reading
	w.gh.Fault(githubtest.Fault{Method: "GET", Path: "/repos/*/*/issues/1/timeline", Nth: newest + 1, Times: -1, Status: 403, Body: `{"message":"no"}`})
	if rep, err := run(t, w.o, w.now("edited")); err == nil || len(rep.Fired()) != len(rules) {
		t.Errorf("got %v, fired %v", err, rep.Fired())
	}
	if got := w.timelineCalls() - newest; got < 1 || got > 2 {
		t.Errorf("got %d requests for earlier pages, want one for the decision and one for the review: %v", got, w.gh.Log())
	}
}
