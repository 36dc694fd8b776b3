package runner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// TestComment creates and updates a comment with Runner.Comment.
func TestComment(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "")
	bodies := func() (list []string) {
		for _, c := range gh.Issue("Codertocat/Hello-World", 1).Comments {
			_, body, _ := strings.Cut(c.Body, " -->\n\n")
			list = append(list, body)
		}
		return list
	}
	comment := func(o options, body string) (triage.ActionResult, error) {
		t.Helper()
		r, err := runner.New(o.Options)
		if err != nil {
			t.Fatal(err)
		}
		return r.Comment(t.Context(), o.Task, e, "review", body)
	}
	for _, body := range []string{"first", "second"} {
		got, err := comment(o, body)
		if err != nil || got.State != triage.Done || got.URL == "" {
			t.Fatalf("got %+v, %v, want it done", got, err)
		}
		if list := bodies(); len(list) != 1 || list[0] != body {
			t.Errorf("got comments %q, want only %q", list, body)
		}
	}
	dry := o
	dry.DryRun = true
	if got, err := comment(dry, "third"); err != nil || got.State != triage.Planned {
		t.Errorf("dry run: got %+v, %v", got, err)
	}
	gh.Fault(githubtest.Fault{Method: "PATCH", Status: 403, Times: -1, Nth: 1})
	if got, err := comment(o, "fourth"); err == nil || got.State != triage.Failed {
		t.Errorf("forbidden: got %+v, %v", got, err)
	}
	if list := bodies(); len(list) != 1 || list[0] != "second" {
		t.Errorf("got comments %q, want the second to stay", list)
	}
}

// TestCommentRefused checks that nothing is posted if the policy permits no further comment.
func TestCommentRefused(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "policy: {limits: {update_comment: 0}}\n")
	r, err := runner.New(o.Options)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Comment(t.Context(), o.Task, e, "review", "hello")
	if err != nil || got.State != triage.Refused || !strings.Contains(got.Reason, "policy.limits.update_comment") {
		t.Errorf("got %+v, %v", got, err)
	}
	if calls := gh.Log(); len(calls) != 0 {
		t.Errorf("got calls %v", calls)
	}
}

// TestCommentDry plans a comment without a host.
func TestCommentDry(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, "")
	o.Host = runner.Host{}
	o.DryRun = true
	r, err := runner.New(o.Options)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Comment(t.Context(), o.Task, e, "review", "hello"); err != nil || got.State != triage.Planned {
		t.Errorf("dry run: got %+v, %v", got, err)
	}
}

// TestMayComment has an agent comment on every kind of event. A comment, an edit, a changed label
// and a push are answered only if a rule names the event or the caller asks for it, so that the
// program does not answer every comment.
func TestMayComment(t *testing.T) {
	t.Parallel()
	const rule = "rules:\n  - {id: named, on: [%s], when: 'false', then: [{add_label: docs}]}\n"
	for key, answered := range map[string]bool{
		"issues.opened": true, "issues.reopened": true, "issues.assigned": true,
		"issues.edited": false, "issues.labeled": false, "issues.unlabeled": false,
		"issue_comment.created": false, "issue_comment.edited": false,
	} {
		for _, named := range []bool{false, true} {
			for _, all := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/named=%v/all=%v", key, named, all), func(t *testing.T) {
					t.Parallel()
					src := ""
					if named {
						src = fmt.Sprintf(rule, key)
					}
					gh, e, o := world(t, src)
					e.Name, e.Action, _ = strings.Cut(key, ".")
					if e.Name == triage.EventIssueComment {
						e.Comment = triage.Comment{ID: gh.Repo("Codertocat/Hello-World").AddComment(1, "mona", "me too"), Body: "me too", Author: "mona"}
					}
					before := len(gh.Issue("Codertocat/Hello-World", 1).Comments)
					asked := 0
					o.Agent.Agent, o.Agent.AnswersAll = answers(&asked, protocol.LabelAndRespond, `{"type":"comment","body":"hello"}`), all
					if _, err := run(t, o, e); err != nil {
						t.Fatal(err)
					}
					posted := len(gh.Issue("Codertocat/Hello-World", 1).Comments) - before
					if want := answered || named || all; (posted == 1) != want {
						t.Errorf("%d comments were posted; want one: %v", posted, want)
					}
				})
			}
		}
	}
}
