package runner_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

const repoName = "Codertocat/Hello-World"

// commented returns the event of a comment on the issue of another event.
func commented(gh *githubtest.Server, e triage.Delivery, who, kind, text string) triage.Delivery {
	id := gh.Repo(repoName).AddComment(1, who, text)
	e.Name, e.Action, e.Sender = triage.EventIssueComment, "created", triage.Actor{Login: who, Type: kind}
	e.Comment = triage.Comment{ID: id, Body: text, Author: who, Association: "OWNER"}
	return e
}

// TestWhoCommands checks which permissions allow a command. The author association in the event
// must not matter.
func TestWhoCommands(t *testing.T) {
	t.Parallel()
	tests := []struct {
		permission, kind, text string
		labelled               bool
		reaction               string
	}{
		{"admin", "User", "/foreman triage", true, ""},
		{"maintain", "User", "/Foreman TRIAGE now", true, ""},
		{"write", "User", "Please\n\n/foreman triage\n", true, ""},
		{"triage", "User", "/foreman triage", false, "confused"},
		{"read", "User", "/foreman triage", false, "confused"},
		{"none", "User", "/foreman triage", false, "confused"},
		{"admin", "Bot", "/foreman triage", false, ""},
		{"admin", "User", "/foreman", false, ""},
		{"admin", "User", "/foreman retriage", false, "confused"},
		{"read", "User", "/foreman retriage", false, ""},
		{"admin", "User", "/foreman retriage\n/foreman triage", true, "confused"},
	}
	for _, tt := range tests {
		t.Run(tt.permission+" "+tt.kind+" "+tt.text, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{add_label: triage}]}\n")
			gh.Repo(repoName).SetPermission("mona", tt.permission)
			rep, err := run(t, o, commented(gh, e, "mona", tt.kind, tt.text))
			if err != nil {
				t.Fatal(err)
			}
			i := gh.Issue(repoName, 1)
			reaction := ""
			for _, r := range i.Comments[0].Reactions {
				reaction += r.Content
			}
			labelled := strings.Contains(strings.Join(i.Labels, " "), "triage")
			if labelled != tt.labelled || reaction != tt.reaction || len(i.Comments) != 1 {
				t.Errorf("got labelled %v, reaction %q; want %v, %q: %+v", labelled, reaction, tt.labelled, tt.reaction, rep)
			}
		})
	}
}

// TestCommandOfAnother checks that a command is ignored if the sender of the event is not the
// author of the comment.
func TestCommandOfAnother(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{add_label: triage}]}\n")
	gh.Repo(repoName).AddUser("mona", "hubot")
	e = commented(gh, e, "mona", "User", "/foreman triage")
	e.Sender.Login = "hubot"
	rep, err := run(t, o, e)
	if err != nil || rep.Executed != 0 || len(gh.Calls()) != 0 {
		t.Errorf("got %+v, %v, calls %v", rep, err, gh.Log())
	}
}

// TestCommandIgnored checks that no command is read from an edited comment, or from a bot that the
// event calls a user.
func TestCommandIgnored(t *testing.T) {
	t.Parallel()
	for who, action := range map[string]string{"mona": "edited", "helper[bot]": "created"} {
		gh, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{add_label: triage}]}\n")
		gh.Repo(repoName).SetPermission(who, "admin")
		e = commented(gh, e, who, "User", "/foreman triage")
		e.Action = action
		if rep, err := run(t, o, e); err != nil || rep.Executed != 0 || len(gh.Calls()) != 0 {
			t.Errorf("%s %s: got %+v, %v, calls %v", who, action, rep, err, gh.Log())
		}
	}
}

// TestCommandBy checks who made the decision in the report on a command.
func TestCommandBy(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"": "command",
		"rules:\n  - {id: r, on: issue_comment.created, then: [{add_label: triage}]}\n": "rules, command",
	} {
		gh, e, o := world(t, src)
		gh.Repo(repoName).SetPermission("mona", "admin")
		if rep, err := run(t, o, commented(gh, e, "mona", "User", "/foreman why")); err != nil || rep.By != want {
			t.Errorf("%s: got %q, %v, want %q", src, rep.By, err, want)
		}
	}
}

// TestCommandWithoutToken checks that a command is undecided if the author's permission is not known.
func TestCommandWithoutToken(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "")
	o.Host, o.DryRun = runner.Host{}, true
	rep, err := run(t, o, commented(gh, e, "mona", "User", "/foreman triage"))
	want := []runner.Undecided{{ID: "/foreman triage", Why: "actor.permission is not known here", Missing: []string{facts.PermissionName}}}
	if diff := cmp.Diff(want, rep.Undecided); err != nil || len(rep.Actions) != 0 || diff != "" {
		t.Errorf("got %+v, %v (-want +got):\n%s", rep, err, diff)
	}
	o.Supplied = facts.Supplied{Known: facts.Known{Permissions: map[string]string{"mona": "write"}}}
	if rep, err := run(t, o, commented(gh, e, "mona", "User", "/foreman triage")); err != nil || len(rep.Undecided) > 0 || !strings.HasPrefix(rep.Rationale, "mona asked for triage") {
		t.Errorf("with the permission: got %+v, %v", rep, err)
	}
}

// TestRetriageGoesOn resumes a task whose comment failed. The second attempt must also treat the
// issue as newly opened.
func TestRetriageGoesOn(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{add_label: triage}, {comment: Hello}]}\n")
	store, err := file.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	keepIn(&o, store)
	o.Memory.Journal = store
	gh.Repo(repoName).AddUser("mona")
	e = commented(gh, e, "mona", "User", "/foreman triage")
	e.Issue.UpdatedAt = o.Clock.Now()
	gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/" + repoName + "/issues/1/comments", Status: 422, Times: 1})
	if _, err := run(t, o, e); err == nil {
		t.Fatal("the first attempt went through")
	}
	o.Task.First = false
	rep, err := run(t, o, e)
	if err != nil || rep.Executed != 2 {
		t.Fatalf("got %+v, %v", rep, err)
	}
	if comments := gh.Issue(repoName, 1).Comments; len(comments) != 2 || !strings.HasSuffix(comments[1].Body, " -->\n\nHello") {
		t.Errorf("got %+v", comments)
	}
}

// TestPermissionFails checks that the run carries out neither the command nor the rules if the
// permission cannot be read.
func TestPermissionFails(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: r, on: issue_comment.created, then: [{add_label: triage}]}\n")
	gh.Fault(githubtest.Fault{Method: "GET", Status: 403, Body: `{"message":"Resource not accessible by integration"}`})
	rep, err := run(t, o, commented(gh, e, "mona", "User", "/foreman triage"))
	if _, ok := errors.AsType[*triage.PermissionError](err); !ok || rep.Status != runner.StatusFailed || len(gh.Issue(repoName, 1).Labels) != 1 {
		t.Errorf("got %+v, %v", rep, err)
	}
}

// TestCommandGoesOn resumes a task whose answer to a command failed. The answer must still count as the
// command's, so that its text is trusted.
func TestCommandGoesOn(t *testing.T) {
	t.Parallel()
	w := newUndoWorld(t, "")
	w.o.Memory.Journal = memory.NewJournal()
	w.gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/" + repoName + "/issues/1/comments", Status: 422, Times: 1})
	e := w.comment("/foreman why")
	if _, err := run(t, w.o, e); err == nil {
		t.Fatal("the first attempt went through")
	}
	w.o.Task.First = false
	rep, err := run(t, w.o, e)
	if err != nil || rep.Executed != 1 || rep.Actions[0].Source.Command != "why" {
		t.Errorf("got %v, %+v", err, rep.Actions)
	}
}
