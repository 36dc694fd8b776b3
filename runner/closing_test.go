package runner_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// TestVetoOnNotice checks that a thumbs down to the notice is a veto, even if a later task wrote or
// updated the notice.
func TestVetoOnNotice(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]string{
		"anew in place": "{update_comment: {key: n, body: soon}}", "once more": "{comment: soon}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, "policy: {allow_close: true, comment_interval: 1h}\nrules:\n  - {id: old, on: schedule, scan: 'is:open label:bug', then: ["+then+", {close_issue: {after: 72h, veto: [thumbs_down]}}]}\n")
			s.sweep("2 actions carried out")
			s.pass(24 * time.Hour)
			s.sweep("1 action carried out")
			s.repo.ReactAs("mona", 1, s.newest(), "-1")
			s.pass(72 * time.Hour)
			s.sweep("1 scheduled close dropped")
		})
	}
}

// TestNoticeHeldBack checks that a close is not scheduled while the comment that announces it is
// held back. A later run schedules it.
func TestNoticeHeldBack(t *testing.T) {
	t.Parallel()
	s := newStory(t, `policy: {allow_close: true, limits: {close_issue: 2}}
rules:
  - {id: hi, on: issues.labeled, then: [{comment: hello}]}
  - {id: other, on: schedule, scan: 'is:open label:docs', then: [{close_issue: {after: 72h}}]}
  - {id: old, on: schedule, scan: 'is:open label:bug', then: [{close_issue: {after: 72h, veto: [thumbs_down]}}, {comment: {once: soon, body: soon}}]}
`)
	s.repo.LabelAs("mona", 1, "docs")
	if got := s.run(s.issue); got != "comment done" {
		t.Fatal(got)
	}
	s.pass(20 * time.Hour)
	v := s.sweep("1 action carried out")
	const want = "close_issue done, close_issue none: its notice is deferred by the comment limits, so the close is deferred too, comment none: we commented at "
	if got := told(v.Reports[0]); !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got)
	}
	s.pass(5 * time.Hour)
	v = s.sweep("2 actions carried out")
	if got := told(v.Reports[0]); !strings.HasSuffix(got, "close_issue done, comment done") {
		t.Errorf("got %s", got)
	}
	s.repo.ReactAs("mona", 1, s.newest(), "-1")
	s.pass(100 * time.Hour)
	s.sweep("scheduled close carried out")
}

// TestCalledOffStays runs a task again after a person canceled its deferred actions. They must stay
// canceled.
func TestCalledOffStays(t *testing.T) {
	t.Parallel()
	for _, journal := range []bool{false, true} {
		t.Run("journal "+strconv.FormatBool(journal), func(t *testing.T) {
			t.Parallel()
			s := newStory(t, "policy: {allow_close: true}\nrules:\n  - {id: a, on: issues.labeled, then: [{close_issue: {after: 72h}}, {never_again: docs}]}\n")
			store, err := file.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			keepIn(&s.o, store)
			if journal {
				s.o.Memory.Journal = store
			}
			o, e := s.next(s.issue)
			if got := s.attempt(o, e); got != "close_issue done, never_again done" {
				t.Fatal(got)
			}
			s.pass(time.Minute)
			if got := s.run(commented(s.gh, s.issue, "mona", "User", "/foreman undo")); got != "keep_open done, allow_again done, comment done" {
				t.Fatal(got)
			}
			o.Task.First = false
			s.attempt(o, e)
			if r := s.record(); len(r.Closings) != 0 || len(r.Never) != 0 {
				t.Errorf("got %+v, %v", r.Closings, r.Never)
			}
		})
	}
}

// TestVetoInTheSecond checks that people's actions in the same second as the decision count as
// vetoes.
func TestVetoInTheSecond(t *testing.T) {
	t.Parallel()
	does := map[string]func(*githubtest.Repo){
		protocol.VetoComment:    func(r *githubtest.Repo) { r.AddComment(1, "mona", "no") },
		protocol.VetoReopen:     func(r *githubtest.Repo) { r.CloseAs("mona", 1, "").ReopenAs("mona", 1) },
		protocol.VetoThumbsDown: func(r *githubtest.Repo) { r.ReactAs("mona", 1, 0, "-1") },
	}
	for veto, did := range does {
		for after, want := range map[time.Duration]string{0: "1 scheduled close dropped", time.Second: "scheduled close carried out"} {
			t.Run(veto+after.String(), func(t *testing.T) {
				t.Parallel()
				s := newStory(t, closesLater)
				did(s.repo)
				host, ref := s.o.Host, s.issue.Ref()
				var at time.Time
				if list, err := host.Search.Reactions(t.Context(), ref, 0, "-1"); err == nil && len(list) > 0 {
					at = list[0].At
				} else if h, err := host.Issues.Timeline(t.Context(), ref); err == nil && len(h.Events) > 0 {
					at = h.Events[len(h.Events)-1].At
				}
				due(t, s.o.Memory.Store, at.Add(after), veto)
				s.sweep(want)
			})
		}
	}
}

// busyHost is a host on which something happens while an issue is read.
type busyHost struct {
	runner.Issues

	meanwhile func()
}

func (h busyHost) Issue(ctx context.Context, ref triage.Ref) (triage.Snapshot, error) {
	issue, err := h.Issues.Issue(ctx, ref)
	h.meanwhile()
	return issue, err
}

// TestVetoBeforeDecision checks that people's changes count as vetoes only if the decision did not
// know them.
func TestVetoBeforeDecision(t *testing.T) {
	t.Parallel()
	for on, want := range map[string]string{
		"issues.labeled": "1 scheduled close dropped", "schedule, scan: 'is:open label:bug'": "1 scheduled close dropped",
		"workflow_dispatch": "1 scheduled close dropped", "issue_comment.created": "scheduled close carried out", "issues.reopened": "scheduled close carried out",
	} {
		t.Run(on, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, "policy: {allow_close: true}\nrules:\n  - {id: old, on: "+on+", then: [{close_issue: {after: 72h, veto: [comment, reopen]}}]}\n")
			meanwhile := func() {
				s.pass(5 * time.Second)
				s.repo.AddComment(1, "mona", "please keep it open")
				s.pass(5 * time.Minute)
			}
			host, e := s.o.Host, s.issue
			switch {
			case strings.HasPrefix(on, "schedule"):
				s.o.Host.Issues = busyHost{host.Issues, meanwhile}
				s.sweep("1 action carried out")
			default:
				switch on {
				case "workflow_dispatch":
					e = triage.Delivery{Event: triage.Event{Name: on}, Repo: e.Repo, Number: 1}
					s.o.Host.Issues = busyHost{host.Issues, meanwhile}
				case "issue_comment.created":
					e = commented(s.gh, e, "mona", "User", "close it")
				case "issues.reopened":
					s.repo.CloseAs("mona", 1, "").ReopenAs("mona", 1)
					e.Action = "reopened"
				}
				o, e := s.next(e)
				if on == "issues.labeled" {
					meanwhile()
				}
				if got := s.attempt(o, e); got != "close_issue done" {
					t.Fatal(got)
				}
			}
			s.o.Host = host
			s.pass(80 * time.Hour)
			s.sweep(want)
		})
	}
}

// TestVetoOutlivesClosing checks that a veto against one rule stays recorded after another rule
// closed the issue.
func TestVetoOutlivesClosing(t *testing.T) {
	t.Parallel()
	s := newStory(t, "policy: {allow_close: true}\nrules:\n  - {id: old, on: issues.closed, then: [{close_issue: {after: 72h}}]}\n  - {id: b, on: issues.labeled, then: [{close_issue: {after: 72h}}]}\n")
	due(t, s.o.Memory.Store, longAgo)
	_, err := memory.Update(t.Context(), s.o.Memory.Store, sweepRepo, 1, func(r *memory.Record) error {
		r.Plan(memory.ScheduledClose{At: longAgo, Due: longAgo, Rule: "b", Task: runTask, Vetoed: true})
		r.Plan(memory.ScheduledClose{At: longAgo, Due: inFuture, Rule: "c", Task: runTask})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.sweep("1 scheduled close carried out")
	s.pass(time.Hour)
	s.repo.ReopenAs("mona", 1)
	const want = "close_issue none: people vetoed it before; Foreman does not override people (override_humans)"
	if got := s.run(s.issue); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if r := s.record(); len(r.Closings) != 1 {
		t.Errorf("got %+v", r.Closings)
	}
}

// TestJournalRuleGone resumes a task whose rules were removed. Their actions count as an agent's,
// but none of them is scheduled or reverted.
func TestJournalRuleGone(t *testing.T) {
	t.Parallel()
	const src = `policy: {allow_close: true}
rules:
  - {id: a, on: issue_comment.created, when: 'event.comment.body contains "stop"', else_undo: true, then: [{close_issue: {after: 72h}}, {add_label: docs}]}
  - {id: z, on: issue_comment.created, when: 'event.comment.body contains "go"', then: [{add_label: triage}, {never_again: bug}, {close_issue: {after: 72h}}]}
`
	const gone = " none: there is no rule "
	s := newStory(t, src)
	store, err := file.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	keepIn(&s.o, store)
	s.o.Memory.Journal = store
	if got := s.run(commented(s.gh, s.issue, "mona", "User", "stop")); got != "close_issue done, add_label done" {
		t.Fatal(got)
	}
	s.gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/" + sweepRepo + "/issues/1/labels", Status: 422, Times: 1})
	o, e := s.next(commented(s.gh, s.issue, "mona", "User", "go"))
	if rep, err := run(t, o, e); err == nil {
		t.Fatalf("the first attempt went through: %s", told(rep))
	}
	if o.Config, err = config.Parse("foreman.yml", []byte("version: 1\npolicy: {allow_close: true}\nagent: {may: [add_label, remove_label, never_again, close_issue]}\n"), nil); err != nil {
		t.Fatal(err)
	}
	o.Task.First = false
	got := s.attempt(o, e)
	want := "add_label done, never_again" + gone + "z any more, close_issue" + gone + "z any more, keep_open" + gone + "a any more, remove_label" + gone + "a any more"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r := s.record(); len(r.Closings) != 1 || r.Closings[0].Rule != "a" || len(r.Never) != 0 {
		t.Errorf("got %+v, %v", r.Closings, r.Never)
	}
}

// forgetful is a store that has lost its list of scheduled closes.
type forgetful struct{ memory.Agenda }

func (forgetful) Pending(context.Context, string) ([]memory.Due, bool, error) { return nil, true, nil }

// TestLostClosing checks that a close which scheduled runs no longer find is scheduled again, with
// a new grace period.
func TestLostClosing(t *testing.T) {
	t.Parallel()
	s := newStory(t, "policy: {allow_close: true}\nrules:\n  - {id: old, on: issues.labeled, then: [{close_issue: {after: 72h}}]}\n")
	store := s.o.Memory.Agenda
	keepIn(&s.o, forgetful{store})
	if got := s.run(s.issue); got != "close_issue done" {
		t.Fatal(got)
	}
	s.pass((72 + 47) * time.Hour)
	s.sweep("0 actions carried out")
	if got := s.run(s.issue); !strings.HasPrefix(got, "close_issue none: it is to be closed on ") {
		t.Fatal(got)
	}
	s.pass(2 * time.Hour)
	if got := s.run(s.issue); got != "close_issue done" {
		t.Fatal(got)
	}
	keepIn(&s.o, store)
	s.pass(71 * time.Hour)
	s.sweep("1 scheduled close or proposal not due yet")
	s.pass(2 * time.Hour)
	s.sweep("1 scheduled close carried out")
}

// TestClosingOfAgent checks that an agent's scheduled close is carried out only while an agent is
// configured.
func TestClosingOfAgent(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"there": "1 scheduled close carried out", "gone": "1 scheduled close dropped"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, "policy: {allow_close: true}\n")
			asked := 0
			s.o.Agent.Agent = answers(&asked, protocol.LabelAndRespond, `{"type":"close_issue","after":"72h"}`)
			if got := s.run(s.issue); got != "close_issue done" {
				t.Fatal(got)
			}
			if name == "gone" {
				s.o.Agent.Agent = nil
			}
			s.pass(73 * time.Hour)
			s.sweep(want)
		})
	}
}

// TestUnsavedClosing closes an issue when the memory cannot be written. The next run records the
// close, so that it can be reverted. It does not record a close by a person.
func TestUnsavedClosing(t *testing.T) {
	t.Parallel()
	for who, want := range map[string]string{"we": "reopen_issue done, comment done", "mona": "comment done"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, "policy: {allow_close: true}\nrules:\n  - {id: old, on: issues.labeled, then: [{close_issue: {after: 72h, reason: not_planned}}]}\n")
			store := s.o.Memory.Agenda
			if got := s.run(s.issue); got != "close_issue done" {
				t.Fatal(got)
			}
			s.pass(73 * time.Hour)
			if who == "we" {
				keepIn(&s.o, readOnly{store})
				s.sweep("1 scheduled close carried out")
				keepIn(&s.o, store)
			} else {
				s.repo.CloseAs(who, 1, "")
			}
			s.pass(time.Hour)
			s.sweep("1 scheduled close dropped")
			if r := s.record(); len(r.Closings) != 0 {
				t.Errorf("got %+v", r.Closings)
			}
			s.pass(time.Hour)
			if got := s.run(commented(s.gh, s.issue, "mona", "User", "/foreman undo")); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestJournalTextOfRuleGone resumes the comment of a rule that was removed. Its text counts as an
// agent's, so the mention in it is neutralized.
func TestJournalTextOfRuleGone(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{comment: 'Hello @mona'}]}\n")
	o.Memory.Journal = memory.NewJournal()
	gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/*/*/issues/1/comments", Times: 1, Status: 422})
	if _, err := run(t, o, e); err == nil {
		t.Fatal("the first attempt went through")
	}
	o.Config.Rules, o.Task.First = nil, false
	rep, err := run(t, o, e)
	if got := said(gh); err != nil || len(got) != 1 || strings.Contains(got[0], "@mona") {
		t.Errorf("got %v, comments %q, %+v", err, got, rep.Actions)
	}
}
