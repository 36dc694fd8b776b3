package background_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// The calls of the tables below, about issue 7.
const (
	readIssue    = "GET issues/7"
	readTimeline = "GET issues/7/timeline"
	lookUpDocs   = "GET labels/docs"
	listLabels   = "GET labels"
	postLabels   = "POST issues/7/labels"
	postComment  = "POST issues/7/comments"
)

// An eventCase is an event about issue 7, and what happens on the issue after it.
type eventCase struct {
	name   string
	event  string // name and action
	then   func(r *githubtest.Repo)
	opened time.Duration // age of the issue
	wait   time.Duration // until the decision arrives
	config string
	do     []string // the actions of the decision
	want   []string
}

// eventCalls returns the calls of an event.
func (r *rig) eventCalls(tt eventCase) []string {
	r.t.Helper()
	gh := r.gh.Repo(repo)
	created := time.Now().Add(-tt.opened)
	gh.AddIssue(githubtest.Issue{Number: 7, Author: "mona", CreatedAt: created})
	name, action, _ := strings.Cut(tt.event, ".")
	extra := ""
	if name == triage.EventIssueComment {
		id := gh.AddComment(7, "mona", "It still breaks.")
		extra = fmt.Sprintf(`,"comment":{"id":%d,"body":"It still breaks.","user":{"login":"mona","type":"User"},"created_at":%[2]q,"updated_at":%[2]q}`, id, time.Now().UTC().Format(time.RFC3339))
	}
	if action == "edited" {
		gh.EditAs("mona", 7, "so")
	}
	issue := r.gh.Issue(repo, 7)
	updated := created
	if action != "opened" {
		updated = time.Now()
	}
	payload := fmt.Appendf(nil, `{"action":%q,"repository":{"full_name":%q},"sender":{"login":"mona","type":"User"},
		"issue":{"number":7,"title":%q,"body":%q,"state":"open","user":{"login":"mona"},"labels":[],"comments":%d,"created_at":%q,"updated_at":%q}%s}`,
		action, repo, issue.Title, issue.Body, len(issue.Comments), created.UTC().Format(time.RFC3339), updated.UTC().Format(time.RFC3339), extra)
	e, err := triage.ParseEvent(triage.EventSource{Name: name, Payload: payload})
	if err != nil {
		r.t.Fatal(err)
	}
	m, err := runner.Task(e, runner.TaskSpec{ID: id(7)})
	if err != nil {
		r.t.Fatal(err)
	}
	message, err := protocol.Encode(m)
	if err != nil {
		r.t.Fatal(err)
	}
	r.enqueue(7, func(t *queue.Task) { t.Message, t.Origin = message, fmt.Appendf(nil, `{"event":%q}`, name) })
	time.Sleep(tt.wait)
	if tt.then != nil {
		tt.then(gh)
	}
	r.gh.ResetCalls()
	kind := protocol.LabelAndRespond
	if len(tt.do) == 0 {
		kind = protocol.Skip
	}
	r.decide(7, decision(7, kind, tt.do...))
	_, stop := r.start()
	time.Sleep(time.Minute)
	synctest.Wait()
	stop()
	r.is(7, queue.Done)
	var calls []string
	for _, line := range r.gh.Log() {
		method, path, _ := strings.Cut(line, " ")
		path, _, _ = strings.Cut(strings.TrimPrefix(path, "/repos/"+repo+"/"), " ")
		calls = append(calls, method+" "+path)
	}
	return calls
}

const ruled = "rules: [{id: a, on: issues.opened, then: [{add_label: docs}, {comment: hello}]}]\n"

// TestEventCalls lists the calls to GitHub of each kind of event, with a server that remembers no label.
func TestEventCalls(t *testing.T) {
	t.Parallel()
	both := []string{addLabel, comment}
	two := []string{addLabel, `{"type":"add_label","label":"bug"}`}
	writes := func(reads ...string) []string { return append(reads, postLabels, postComment) }
	bot := func(name string) func(r *githubtest.Repo) {
		return func(r *githubtest.Repo) { r.LabelAs("renovate[bot]", 7, name) }
	}
	tests := []eventCase{
		{name: "opened", event: "issues.opened", do: both, want: writes(readTimeline, lookUpDocs)},
		{name: "opened, decided late", event: "issues.opened", wait: time.Hour, do: both, want: writes(readTimeline, lookUpDocs)},
		{name: "opened, two labels", event: "issues.opened", do: two, want: []string{readTimeline, listLabels, postLabels}},
		{name: "opened, a comment", event: "issues.opened", do: []string{comment}, want: []string{readTimeline, postComment}},
		{name: "opened, nothing to do", event: "issues.opened"},
		{name: "opened, labelled meanwhile", event: "issues.opened", wait: time.Minute, then: bot("bug"), do: both, want: writes(readTimeline, readIssue, lookUpDocs)},
		{name: "opened, with rules", event: "issues.opened", config: ruled, do: []string{`{"type":"add_label","label":"bug"}`}, want: append(writes(readTimeline, listLabels), postLabels)},
		{name: "opened, with rules, decided late", event: "issues.opened", wait: time.Hour, config: ruled, do: []string{closeIt}, want: writes(readIssue, lookUpDocs)},
		{name: "opened, by rules", event: "issues.opened", config: ruled, want: writes(readIssue, lookUpDocs)},
		{name: "opened, by rules, late", event: "issues.opened", wait: time.Hour, config: ruled, want: writes(readIssue, lookUpDocs)},
		{name: "opened, by rules, labelled meanwhile", event: "issues.opened", wait: time.Minute, then: bot("bug"), config: ruled, want: writes(readIssue, readTimeline, lookUpDocs)},
		{name: "opened, by rules, edited meanwhile", event: "issues.opened", wait: time.Minute, then: func(r *githubtest.Repo) { r.EditAs("mona", 7, "new") },
			config: ruled, want: writes(readIssue, readTimeline, lookUpDocs)},
		{name: "opened, by rules, commented meanwhile", event: "issues.opened", wait: time.Minute, then: func(r *githubtest.Repo) { r.AddComment(7, "ann", "me too") },
			config: ruled, want: writes(readIssue, readTimeline, lookUpDocs)},
		{name: "edited", event: "issues.edited", opened: time.Hour, do: []string{addLabel}, want: []string{readTimeline, lookUpDocs, postLabels}},
		{name: "edited, with rules", event: "issues.edited", opened: time.Hour, config: ruled, do: []string{addLabel}, want: []string{readTimeline, lookUpDocs, postLabels}},
		{name: "edited, with rules, decided late", event: "issues.edited", opened: time.Hour, wait: 6 * time.Minute, config: ruled, do: []string{addLabel}, want: []string{readIssue, readTimeline, lookUpDocs, postLabels}},
		{name: "commented", event: "issue_comment.created", opened: time.Hour, do: both, want: writes(readTimeline, lookUpDocs)},
		{name: "commented, and by another", event: "issue_comment.created", opened: time.Hour, wait: time.Minute,
			then: func(r *githubtest.Repo) { r.AddComment(7, "ann", "me too") }, do: both, want: writes(readTimeline, readIssue, lookUpDocs)},
		{name: "commented, closed meanwhile", event: "issue_comment.created", opened: time.Hour, wait: time.Minute,
			then: func(r *githubtest.Repo) { r.CloseAs("mona", 7, "completed") }, do: both, want: writes(readTimeline, readIssue, lookUpDocs)},
		{name: "commented, unlabelled meanwhile", event: "issue_comment.created", opened: time.Hour, wait: time.Minute,
			then: func(r *githubtest.Repo) { r.LabelAs("ann", 7, "docs").UnlabelAs("ann", 7, "docs") }, do: both, want: []string{readTimeline, readIssue, postComment}},
		{name: "commented, nothing to do", event: "issue_comment.created", opened: time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(r *rig) {
				r.config = tt.config
				if diff := cmp.Diff(tt.want, slices.Clip(r.eventCalls(tt))); diff != "" {
					t.Errorf("calls (-want +got):\n%s\n%s", diff, r.log())
				}
			})
		})
	}
}

// TestLabelCalls lists the calls of an event whose decision adds a label and comments, for each state of the
// server's memory of labels, with the results.
func TestLabelCalls(t *testing.T) {
	t.Parallel()
	const (
		created = `{"type":"add_label","label":"new"}`
		search  = "GET issues"
		drop    = "DELETE labels/docs"
	)
	changed := func(id, name, former string, deleted bool) func(r *rig) {
		return func(r *rig) {
			r.labels.Changed(github.LabelChange{Repo: "OCTO/hello", Label: triage.LabelID{ID: id, Name: name}, Former: former, Deleted: deleted})
		}
	}
	tests := []struct {
		name   string
		cold   bool         // no event came before
		then   func(r *rig) // between the event that filled the memory and this one
		cut    bool         // the answer of the write of labels is lost
		do     string       // the first action; empty: add the label docs
		reads  []string     // the calls before the write of labels
		writes []string     // the other calls before the comment; nil: the write of labels
		has    []string     // labels of the issue in the end; nil: docs
		repo   []string     // labels of the repository in the end; nil: bug and docs
		reason string       // part of the result of the first action
	}{
		{name: "cold", cold: true, reads: []string{lookUpDocs}},
		{name: "warm"},
		{name: "warm, other case", do: `{"type":"add_label","label":"DOCS"}`},
		{name: "too old", then: func(*rig) { time.Sleep(time.Hour) }, reads: []string{lookUpDocs}},
		{name: "nearly too old", then: func(*rig) { time.Sleep(time.Hour - 2*time.Second) }},
		{name: "deleted, with its event", then: func(r *rig) {
			r.gh.DeleteLabel(repo, "docs")
			changed("L_1", "docs", "", true)(r)
		}, reads: []string{lookUpDocs}, writes: []string{}, has: []string{}, repo: []string{"bug"}, reason: `the repository has no label "docs"`},
		{name: "deleted, without an event", then: func(r *rig) { r.gh.DeleteLabel(repo, "docs") },
			writes: []string{postLabels, search, drop}, has: []string{}, repo: []string{"bug"}, reason: `the repository has no label "docs"`},
		{name: "deleted, answer lost", then: func(r *rig) { r.gh.DeleteLabel(repo, "docs") }, cut: true,
			writes: []string{postLabels, readIssue, readIssue, readIssue, readIssue, readIssue, postLabels, search, drop}, has: []string{}, repo: []string{"bug"}, reason: `the repository has no label "docs"`},
		{name: "answer lost", cut: true, writes: []string{postLabels, readIssue}},
		{name: "deleted, created and used by another", then: func(r *rig) {
			r.gh.DeleteLabel(repo, "docs")
			r.gh.Repo(repo).LabelAs("renovate[bot]", 9, "docs")
		}, writes: []string{postLabels, search}},
		{name: "renamed, with its event", then: func(r *rig) {
			r.gh.RenameLabel(repo, "docs", "documentation")
			changed("L_1", "documentation", "docs", false)(r)
		}, reads: []string{lookUpDocs}, writes: []string{}, has: []string{}, repo: []string{"bug", "documentation"}, reason: `the repository has no label "docs"`},
		{name: "renamed, without an event", then: func(r *rig) { r.gh.RenameLabel(repo, "docs", "documentation") },
			writes: []string{postLabels, search, drop}, has: []string{}, repo: []string{"bug", "documentation"}, reason: `the repository has no label "docs"`},
		{name: "created, with its event", do: created, then: func(r *rig) {
			r.gh.Repo(repo).AddLabel("new")
			changed(r.gh.LabelID(repo, "new"), "new", "", false)(r)
		}, has: []string{"new"}, repo: []string{"bug", "docs", "new"}},
		{name: "created, without an event", do: created, then: func(r *rig) { r.gh.Repo(repo).AddLabel("new") },
			reads: []string{"GET labels/new"}, has: []string{"new"}, repo: []string{"bug", "docs", "new"}},
		{name: "missing", do: created, reads: []string{"GET labels/new"}, writes: []string{}, has: []string{}, reason: `the repository has no label "new"`},
		{name: "an event about a label that is gone", do: created, then: changed("L_gone", "new", "", false),
			writes: []string{postLabels, search, "DELETE labels/new"}, has: []string{}, reason: `the repository has no label "new"`},
		{name: "two labels, one deleted", do: `{"type":"add_labels","labels":["bug","docs"]}`, then: func(r *rig) { r.gh.DeleteLabel(repo, "docs") },
			reads: []string{"GET labels/bug"}, writes: []string{postLabels, search, drop}, has: []string{"bug"}, repo: []string{"bug"}, reason: `the repository has no label "docs"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(r *rig) {
				r.labels = github.NewLabels(time.Now)
				if !tt.cold {
					r.enqueue(5)
					r.complete(5, addLabel)
					_, stop := r.start()
					synctest.Wait()
					stop()
					r.is(5, queue.Done)
				}
				if tt.then != nil {
					tt.then(r)
				}
				if tt.cut {
					r.gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/*/*/issues/7/labels", CutAfter: true, Times: 1})
				}
				do := tt.do
				if do == "" {
					do = addLabel
				}
				if tt.writes == nil {
					tt.writes = []string{postLabels}
				}
				want := slices.Concat([]string{readTimeline}, tt.reads, tt.writes, []string{postComment})
				got := r.eventCalls(eventCase{event: "issues.opened", do: []string{do, comment}, wait: time.Second})
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("calls (-want +got):\n%s\n%s", diff, r.log())
				}
				if tt.has == nil {
					tt.has = []string{"docs"}
				}
				if tt.repo == nil {
					tt.repo = []string{"bug", "docs"}
				}
				if got := r.gh.Issue(repo, 7).Labels; !slices.Equal(got, tt.has) {
					t.Errorf("got labels %q, want %q", got, tt.has)
				}
				if got := r.gh.Labels(repo); !slices.Equal(got, tt.repo) {
					t.Errorf("the repository has the labels %q, want %q", got, tt.repo)
				}
				rep := r.report(7)
				if len(rep.Actions) == 0 {
					t.Fatalf("got no actions in %+v\n%s", rep, r.log())
				}
				first := rep.Actions[0]
				if !strings.Contains(first.Reason, tt.reason) || (len(tt.has) > 0) != (first.State == triage.Done) {
					t.Errorf("got %s, %q; want the reason %q", first.State, first.Reason, tt.reason)
				}
			})
		})
	}
}

// TestTakeBackRepeated deletes a remembered label, and interrupts the server after the write that creates it
// again. The next attempt deletes the created label, also if the server was restarted in the meantime.
func TestTakeBackRepeated(t *testing.T) {
	t.Parallel()
	everything := queue.Scope{Kind: queue.ScopeEverything}
	pause := func(r *rig) {
		writes := 0
		r.onWrite = func(req *http.Request) error {
			if writes++; writes > 1 {
				return nil
			}
			_, _, err := r.o.Executor.Pauses.Pause(req.Context(), everything, "ann", "too many labels")
			return err
		}
	}
	resume := func(r *rig) {
		if _, _, err := r.o.Executor.Pauses.Resume(r.t.Context(), everything); err != nil {
			r.t.Error(err)
		}
	}
	refuse := func(status, times int, message string) func(r *rig) {
		return func(r *rig) {
			r.gh.Fault(githubtest.Fault{Method: "DELETE", Path: "/repos/*/*/labels/docs", Status: status, Times: times, Body: `{"message":"` + message + `"}`})
		}
	}
	cut := func(n int) func(r *rig) { return func(r *rig) { r.gh.CutAt(n) } }
	tests := []struct {
		name   string
		before func(r *rig)
		after  func(r *rig) // after a minute
		killed bool         // the first server ends at the interruption, without a further step
		forget bool         // the next server remembers no label
	}{
		{name: "paused", before: pause, after: resume},
		{name: "paused, then restarted", before: pause, after: resume, forget: true},
		{name: "over the rate, then restarted", before: func(r *rig) { r.o.Executor.PerMinute = 1 }, after: func(r *rig) { r.o.Executor.PerMinute = 10 }, forget: true},
		{name: "not permitted", before: refuse(403, 1, "Resource not accessible by integration")},
		{name: "refused", before: refuse(422, 1, "Validation Failed")},
		{name: "archived", before: refuse(403, 1, "Repository was archived so is read-only.")},
		{name: "often refused, then restarted", before: refuse(422, 4, "Validation Failed"), forget: true},
		{name: "killed at the write", before: cut(1), killed: true, forget: true},
		{name: "killed at the search", before: cut(2), killed: true, forget: true},
		{name: "killed at the deletion", before: cut(3), killed: true, forget: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(r *rig) {
				r.labels = github.NewLabels(time.Now)
				r.enqueue(5)
				r.complete(5, addLabel)
				_, stop := r.start()
				synctest.Wait()
				stop()
				r.is(5, queue.Done)
				time.Sleep(time.Minute)
				r.gh.DeleteLabel(repo, "docs")
				r.gh.ResetCalls()
				tt.before(r)
				r.enqueue(7)
				r.complete(7, addLabel, comment)
				whole, steps := r.q, r.o.Executor.Progress
				var dying *frozen
				if tt.killed {
					dying = freezable(r)
					r.slow = time.Millisecond
					_, stop = r.start()
					synctest.Wait()
					dying.freeze()
					dying.renews.Store(true)
					defer dying.thaw()
				} else {
					_, stop = r.start()
				}
				time.Sleep(time.Minute)
				if tt.forget {
					if !tt.killed {
						stop()
					}
					r.labels = github.NewLabels(time.Now)
				}
				if tt.killed {
					dying.renews.Store(false)
					r.q, r.o.Executor.Progress = whole, steps
					r.gh.ClearFaults()
				}
				if tt.after != nil {
					tt.after(r)
				}
				if tt.forget {
					_, _ = r.start()
				}
				time.Sleep(20 * time.Minute)
				r.is(7, queue.Done)
				if got := r.gh.Labels(repo); !slices.Equal(got, []string{"bug"}) {
					t.Errorf("the repository has the labels %q\n%s\n%s", got, strings.Join(r.gh.Log(), "\n"), r.log())
				}
				if got := r.gh.Issue(repo, 7); len(got.Labels) > 0 || len(got.Comments) != 1 {
					t.Errorf("got labels %q, %d comments", got.Labels, len(got.Comments))
				}
				rep := r.report(7)
				if len(rep.Actions) == 0 {
					t.Fatalf("got no actions in %+v\n%s\n%s", rep, strings.Join(r.gh.Log(), "\n"), r.log())
				}
				first := rep.Actions[0]
				if want := `the repository has no label "docs"`; first.State != triage.Skipped || !strings.Contains(first.Reason, want) {
					t.Errorf("got %s, %q; want the reason %q", first.State, first.Reason, want)
				}
			})
		})
	}
}
