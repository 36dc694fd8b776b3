package runner_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

const closeUnlessKept = `
policy: {allow_close: true, limits: {add_label: 5}}
rules:
  - {id: kept, on: issues.opened, when: 'any_label("keep")', then: [{add_label: docs}]}
  - {id: old, on: issues.opened, when: 'not any_label("keep")', then: [close_issue]}
`

// TestReadAgain checks when a run reads the issue of its event again, and that it then decides on
// the current issue.
func TestReadAgain(t *testing.T) {
	t.Parallel()
	const minute, read = time.Minute, "GET issues/1"
	since := func(gh *githubtest.Server) { gh.Repo(repoName).AddLabel("keep").LabelAs("mona", 1, "keep") }
	tests := []struct {
		name, rules string
		age         time.Duration // of the event
		attempt     int
		since       func(gh *githubtest.Server) // what happened after the event
		want        string                      // the state of the issue
		calls       []string                    // without timelines
		why         string                      // part of the reason
	}{
		{"fresh", closeUnlessKept, minute, 1, nil, "closed bug", []string{"PATCH issues/1"}, ""},
		{"late", closeUnlessKept, 2 * time.Hour, 1, since, "open bug keep", []string{read}, "the event is 2h0m"},
		{"late, and unchanged", closeUnlessKept, 6 * minute, 1, nil, "closed bug", []string{read, "PATCH issues/1"}, "the event is 6m"},
		{"a later attempt", closeUnlessKept, minute, 2, since, "open bug keep", []string{read}, "an earlier attempt"},
		{"the timeline of the review shows it", closeUnlessKept, 2 * minute, 1, since, "open bug keep", []string{read}, "changed after the event"},
		{"the timeline of a condition shows it", strings.ReplaceAll(closeUnlessKept, "'not", `'label_age("bug") >= duration("0s") and not`),
			2 * minute, 1, since, "open bug keep", []string{read}, "changed after the event"},
		{"no rule fires", "\nrules:\n  - {id: r, on: issues.closed, then: [{add_label: docs}]}\n", 2 * time.Hour, 2, since, "open bug keep", nil, ""},
		{"a new title", "\nrules:\n  - {id: r, on: issues.opened, then: [{add_label: '{{ issue.title }}'}]}\n", 2 * time.Hour, 1,
			func(gh *githubtest.Server) { gh.Repo(repoName).AddLabel("docs").RenameAs("mona", 1, "docs") },
			"open bug docs", []string{read, "GET labels/docs", "POST issues/1/labels"}, "the event is 2h0m"},
		{"false before, true now", closeUnlessKept + "  - {id: always, on: issues.opened, then: [{add_label: triage}]}\n", 2 * time.Hour, 1, since,
			"open bug keep triage", []string{"GET labels/triage", read, "POST issues/1/labels"}, "the event is 2h0m"},
		{"false now", "\nrules:\n  - {id: r, on: issues.opened, when: 'not any_label(\"keep\")', else_undo: true, override_humans: true, then: [{add_label: bug}]}\n",
			2 * time.Hour, 1, since, "open keep", []string{read, "DELETE issues/1/labels/bug"}, "the event is 2h0m"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, tt.rules)
			o.Clock.Now, o.Task.First = func() time.Time { return time.Now().Add(minute) }, tt.attempt == 1
			e.Issue.UpdatedAt = o.Clock.Now().Add(-tt.age)
			e.Issue.CreatedAt = e.Issue.UpdatedAt.Add(-time.Hour)
			if tt.since != nil {
				tt.since(gh)
			} else if tt.age == minute {
				e.Issue.UpdatedAt = time.Now()
			}
			gh.ResetCalls()
			rep, err := run(t, o, e)
			if err != nil || !strings.Contains(rep.ReadAgain, tt.why) || (tt.why == "") != (rep.ReadAgain == "") {
				t.Errorf("got %v, read again because %q, want %q", err, rep.ReadAgain, tt.why)
			}
			i := gh.Issue(repoName, 1)
			slices.Sort(i.Labels)
			if got := strings.Join(append([]string{i.State}, i.Labels...), " "); got != tt.want {
				t.Errorf("got %q, want %q: %+v", got, tt.want, rep.Actions)
			}
			if got := callsOf(gh); !slices.Equal(got, tt.calls) {
				t.Errorf("got the calls %q, want %q", got, tt.calls)
			}
		})
	}
}

// TestReadAgainFails checks that a run fails if a rule fails on the current issue alone, and that the
// other rules' actions are carried out.
func TestReadAgainFails(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, `
policy: {allow_close: true}
rules:
  - {id: r, on: issues.opened, when: 'not any_label("keep") or int(issue.title) > 3', then: [{comment: Hello.}]}
  - {id: always, on: issues.opened, then: [close_issue]}
`)
	o.Clock.Now = func() time.Time { return time.Now().Add(time.Minute) }
	e.Issue.UpdatedAt = o.Clock.Now().Add(-2 * time.Minute)
	e.Issue.CreatedAt = e.Issue.UpdatedAt.Add(-time.Hour)
	gh.Repo(repoName).AddLabel("keep").LabelAs("mona", 1, "keep")
	rep, err := run(t, o, e)
	_, failed := errors.AsType[*rules.EvalError](err)
	if i := gh.Issue(repoName, 1); !failed || rep.Status != runner.StatusPartial || i.State != "closed" || len(i.Comments) > 0 {
		t.Errorf("got %v, %s, %s with %d comments: %+v", err, rep.Status, i.State, len(i.Comments), rep.Actions)
	}
}

// callsOf returns the calls of a run, without those for timelines.
func callsOf(gh *githubtest.Server) []string {
	var list []string
	for _, c := range gh.Calls() {
		if call := c.Method + " " + strings.TrimPrefix(c.Path, "/repos/"+repoName+"/"); !strings.HasSuffix(call, "/timeline") {
			list = append(list, call)
		}
	}
	return list
}

// TestReadAgainGone checks that a late run on an issue that no longer exists is skipped.
func TestReadAgainGone(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNotFound, http.StatusGone, http.StatusMovedPermanently} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, closeUnlessKept)
			e.Issue.UpdatedAt = o.Clock.Now().Add(-time.Hour)
			switch repo := gh.Repo(repoName); status {
			case http.StatusGone:
				repo.DeleteIssue(1)
			case http.StatusMovedPermanently:
				repo.TransferIssue(1, "o/other", 9)
			default:
				e.Number, e.Issue.Number = 404, 404
			}
			rep, err := run(t, o, e)
			if err != nil || rep.Status != runner.StatusSkipped || rep.Reason != triage.ErrGone.Error() || len(callsOf(gh)) != 1 {
				t.Errorf("got %v, %s: %s, calls %q", err, rep.Status, rep.Reason, callsOf(gh))
			}
		})
	}
}

// TestReadAgainForAgent checks that an agent is asked once, about the current issue.
func TestReadAgainForAgent(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "")
	e.Issue.UpdatedAt = o.Clock.Now().Add(-time.Hour)
	gh.Repo(repoName).AddLabel("keep").LabelAs("mona", 1, "keep")
	asked := 0
	o.Agent.Agent = agentFunc(func(_ context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
		asked++
		if text := string(task.Payload); strings.Count(text, `"name":"keep"`) != 2 || !strings.Contains(text, `"action":"opened"`) {
			t.Errorf("got the task %s", text)
		}
		return protocol.DecisionMessage{TaskID: task.TaskID, Decision: protocol.Skip}, nil
	})
	rep, err := run(t, o, e)
	if got := callsOf(gh); err != nil || asked != 1 || rep.ReadAgain == "" || !slices.Equal(got, []string{"GET issues/1"}) {
		t.Errorf("got %v, asked %d times, %q, calls %q", err, asked, rep.ReadAgain, got)
	}
}

// pullOpened returns the event of pull request 7, opened at a time.
func pullOpened(t *testing.T, at time.Time) triage.Delivery {
	t.Helper()
	e, err := triage.ParseEvent(triage.EventSource{Payload: fmt.Appendf(nil, `{"action": "opened", "number": 7, "sender": {"login": "mona"},
		"repository": {"full_name": %q}, "pull_request": {"number": 7, "title": "T", "user": {"login": "mona"}, "labels": [], "state": "open",
		"head": {"ref": "x"}, "base": {"ref": "main"}, "created_at": %[2]q, "updated_at": %[2]q}}`, repoName, at.Format(time.RFC3339))})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestReadAgainPull checks that a late run on a pull request reads the pull request, with one call.
func TestReadAgainPull(t *testing.T) {
	t.Parallel()
	gh, _, o := world(t, "rules:\n  - {id: r, on: pull_request.opened, when: 'not pr.draft and not any_label(\"keep\")', then: [{add_label: docs}]}\n")
	gh.Repo(repoName).AddIssue(githubtest.Issue{Number: 7, PullRequest: true, Labels: []string{"keep"}})
	e := pullOpened(t, o.Clock.Now().Add(-time.Hour))
	rep, err := run(t, o, e)
	if got := callsOf(gh); err != nil || rep.ReadAgain == "" || rep.Executed != 0 || !slices.Equal(got, []string{"GET labels/docs", "GET pulls/7"}) {
		t.Errorf("got %v, %q, calls %q, %+v", err, rep.ReadAgain, got, rep.Actions)
	}
}

// TestReadAgainHalfDone checks that a later attempt completes a decision, although the changes of
// the first attempt make its condition false.
func TestReadAgainHalfDone(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, when, then string }{
		{"label", `not any_label("docs")`, "{add_label: docs}, {comment: {body: Thanks.}}"},
		{"comment", "issue.comments == 0", "{comment: {body: Thanks.}}, {add_label: docs}"},
		{"state", `issue.state == "open"`, "{add_label: docs}, {close_issue: {}}, {comment: {body: Thanks.}}"},
		{"removed label", `any_label("bug")`, "{remove_label: bug}, {add_label: docs}, {comment: {body: Thanks.}}"},
		{"age of a removed label", `label_age("bug") >= duration("0s")`, "{remove_label: bug}, {comment: {body: Thanks.}}, {add_label: docs}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, "policy: {allow_close: true}\nrules:\n  - {id: r, on: issues.opened, when: '"+tt.when+"', then: ["+tt.then+"]}\n")
			o.Clock.Now = time.Now
			e.Issue.CreatedAt, e.Issue.UpdatedAt = time.Now().Add(-2*time.Second), time.Now().Add(-2*time.Second)
			last := "/repos/" + repoName + "/issues/1/comments"
			if tt.name == "comment" {
				last = "/repos/" + repoName + "/issues/1/labels"
			}
			gh.Fault(githubtest.Fault{Method: "POST", Path: last, Status: http.StatusUnprocessableEntity, Times: 1})
			if _, err := run(t, o, e); err == nil {
				t.Fatal("the first attempt did not fail")
			}
			o.Task.First = false
			rep, err := run(t, o, e)
			if i := gh.Issue(repoName, 1); err != nil || len(i.Comments) != 1 || !slices.Contains(i.Labels, "docs") {
				t.Errorf("got %v, %q, %d comments: %s, %+v", err, i.Labels, len(i.Comments), rep.Rationale, rep.Actions)
			}
		})
	}
}

// TestReadAgainUntimed checks that an event without a time is not read again because its issue has a
// timeline.
func TestReadAgainUntimed(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: r, on: issues.edited, when: 'label_age(\"bug\") >= duration(\"0s\")', then: [{add_label: docs}]}\n")
	o.Clock.Now = func() time.Time { return time.Now().Add(time.Minute) }
	e.Action, e.At, e.Issue.UpdatedAt = "edited", time.Time{}, time.Time{}
	gh.Repo(repoName).AddLabel("keep").LabelAs("mona", 1, "keep")
	gh.ResetCalls()
	rep, err := run(t, o, e)
	if err != nil || rep.ReadAgain != "" || rep.Executed != 1 {
		t.Errorf("got %v, read again because %q: %+v", err, rep.ReadAgain, rep.Actions)
	}
}

// TestReadAgainOthers checks that a later attempt does not mistake the changes of people for those of
// the first attempt, which failed before it made any.
func TestReadAgainOthers(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, when, then string }{
		{"the effect of a rule reads the timeline", `not any_label("docs")`, "{add_label: docs}, {comment: {body: Thanks.}}"},
		{"the review reads the timeline", `issue.state == "open"`, "{close_issue: {}}, {comment: {body: Thanks.}}"},
		{"a condition reads the timeline", `label_age("bug") >= duration("0s") and not any_label("docs")`, "{add_label: docs}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, "policy: {allow_close: true}\nrules:\n  - {id: r, on: issues.opened, when: '"+tt.when+"', then: ["+tt.then+"]}\n")
			o.Clock.Now = time.Now
			e.Issue.CreatedAt, e.Issue.UpdatedAt = time.Now().Add(-2*time.Second), time.Now().Add(-2*time.Second)
			gh.Repo(repoName).LabelAs("mona", 1, "docs").CloseAs("mona", 1, "completed")
			o.Task.First = false
			rep, err := run(t, o, e)
			if i := gh.Issue(repoName, 1); err != nil || rep.ReadAgain == "" || len(rep.Fired()) != 0 || len(i.Comments) != 0 {
				t.Errorf("got %v, read again because %q, %d comments: %+v", err, rep.ReadAgain, len(i.Comments), rep.Actions)
			}
		})
	}
}

// TestReadAgainAgent checks whether a later attempt asks the agent again, although the changes of the
// first attempt make agent.when false: only a memory has the agent read the timeline, which shows who
// made the changes.
func TestReadAgainAgent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, when string
		memory     bool
		asked      int
	}{
		{"label", `not any_label("docs")`, true, 2},
		{"state", `issue.state == "open"`, true, 2},
		{"label, without a memory", `not any_label("docs")`, false, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, "policy: {allow_close: true}\nagent: {when: '"+tt.when+"'}\n")
			o.Clock.Now = time.Now
			e.Issue.CreatedAt, e.Issue.UpdatedAt = time.Now().Add(-2*time.Second), time.Now().Add(-2*time.Second)
			if tt.memory {
				keepIn(&o, memory.New())
			}
			asked := 0
			o.Agent.Agent = answers(&asked, protocol.Close, labelDocs, `{"type":"close_issue"}`, hello)
			gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/" + repoName + "/issues/1/comments", Status: http.StatusUnprocessableEntity, Times: 1})
			if _, err := run(t, o, e); err == nil {
				t.Fatal("the first attempt did not fail")
			}
			o.Task.First = false
			rep, err := run(t, o, e)
			if err != nil || asked != tt.asked {
				t.Errorf("got %v, asked %d times, want %d: %s, %+v", err, asked, tt.asked, rep.Rationale, rep.Actions)
			}
		})
	}
}
