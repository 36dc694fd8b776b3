package poll

import (
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

// actions returns the verbs that do not concern one issue.
func actions() map[string]func(s *story, args []string) {
	return map[string]func(s *story, args []string){
		"poll": func(s *story, _ []string) { s.poll() },
		"pass": func(s *story, a []string) { s.clock.Advance(s.duration(a[0])) },
		// takes 2: the queue is unavailable at the second event from now that is handed on.
		"takes":   func(s *story, a []string) { s.takes = s.number(a[0]) },
		"restart": func(s *story, _ []string) { s.restart() },
		// kill 2: the process is killed before its second save of the cursor from now.
		"kill": func(s *story, a []string) { s.kept.kill = s.number(a[0]) },
		// skew 1h: this machine's clock is ahead of GitHub's.
		"skew": func(s *story, a []string) { s.skew = s.duration(a[0]) },
		// before 2 label 7 mona bug: run the step before the second list request of a poll.
		"before": func(s *story, a []string) { s.before[s.number(a[0])] = strings.Join(a[1:], " ") },
		// many 250 10: open 250 issues now, from #10 on.
		"many": func(s *story, a []string) {
			for k := range s.number(a[0]) {
				s.gh.Repo(repo).AddIssue(githubtest.Issue{Number: s.number(a[1]) + k, Author: "mona"})
			}
		},
		// touch 250 10: a user labels 250 issues now, from #10 on.
		"touch": func(s *story, a []string) {
			for k := range s.number(a[0]) {
				s.gh.Repo(repo).LabelAs("carol", s.number(a[1])+k, "bug")
			}
		},
		// finish: all tasks are done.
		"finish": func(s *story, _ []string) {
			for n := range 600 {
				s.finish(n+1, s.end)
			}
		},
		"purge": func(s *story, _ []string) {
			if _, err := s.queue.Purge(s.Context(), s.clock.Now().Add(time.Second), 1000); err != nil {
				s.Fatal(err)
			}
		},
		"broken": func(s *story, _ []string) { s.queue.Break(queue.ErrUnavailable) },
		"mended": func(s *story, _ []string) { s.queue.Break(nil) },
		"budget": func(s *story, a []string) { s.gh.SetBudget(s.number(a[0])) },
		"limit":  func(s *story, a []string) { s.gh.LimitCalls(s.number(a[0]), s.duration(a[1])) },
		"well":   func(s *story, _ []string) { s.gh.ClearFaults() },
		"fault": func(s *story, a []string) {
			f, err := githubtest.ParseFault(a)
			if err != nil {
				s.Fatal(err)
			}
			s.gh.Fault(f)
		},
		"cursor": func(s *story, a []string) {
			if err := s.kept.SaveCursor(s.Context(), repo, []byte(strings.Join(a, " "))); err != nil {
				s.Fatal(err)
			}
		},
	}
}

// changes are the verbs that are followed by the number of an issue.
func changes() map[string]func(s *story, n int, a []string) {
	on := func(change func(r *githubtest.Repo, n int, a []string)) func(*story, int, []string) {
		return func(s *story, n int, a []string) { change(s.gh.Repo(repo), n, a) }
	}
	return map[string]func(s *story, n int, a []string){
		// issue 7 mona [closed] [pull]: mona opens issue 7.
		"issue": on(func(r *githubtest.Repo, n int, a []string) {
			i := githubtest.Issue{Number: n, Author: a[0], Body: "Always."}
			for _, word := range a[1:] {
				if word == "closed" {
					i.State = word
				}
				i.PullRequest = i.PullRequest || word == "pull"
			}
			r.AddIssue(i)
		}),
		"comment":  on(func(r *githubtest.Repo, n int, a []string) { r.AddComment(n, a[0], strings.Join(a[1:], " ")) }),
		"label":    on(func(r *githubtest.Repo, n int, a []string) { r.LabelAs(a[0], n, a[1]) }),
		"unlabel":  on(func(r *githubtest.Repo, n int, a []string) { r.UnlabelAs(a[0], n, a[1]) }),
		"edit":     on(func(r *githubtest.Repo, n int, a []string) { r.EditAs(a[0], n, strings.Join(a[1:], " ")) }),
		"rename":   on(func(r *githubtest.Repo, n int, a []string) { r.RenameAs(a[0], n, strings.Join(a[1:], " ")) }),
		"close":    on(func(r *githubtest.Repo, n int, a []string) { r.CloseAs(a[0], n, "completed") }),
		"reopen":   on(func(r *githubtest.Repo, n int, a []string) { r.ReopenAs(a[0], n) }),
		"delete":   on(func(r *githubtest.Repo, n int, _ []string) { r.DeleteIssue(n) }),
		"transfer": on(func(r *githubtest.Repo, n int, _ []string) { r.TransferIssue(n, "octo/other", 1) }),
		"done":     func(s *story, n int, _ []string) { s.finish(n, s.end) },
		"cancel": func(s *story, n int, _ []string) {
			s.finish(n, func(t queue.Info) {
				if err := s.queue.Cancel(s.Context(), queue.Seen{ID: t.ID}, "carol"); err != nil {
					s.Fatal(err)
				}
			})
		},
		// proposed 7 docs: the memory records a proposal of an agent, shown in a comment.
		"proposed": func(s *story, n int, a []string) {
			id := s.gh.Repo(repo).AddComment(n, bot, "<!-- foreman:v1 task=00000000-0000-4000-8000-000000000000 comment=0 key=foreman-suggestions -->\n\nForeman proposes")
			item, err := protocol.NewAction(protocol.ActionAddLabel, map[string]any{"label": a[0]})
			if err != nil {
				s.Fatal(err)
			}
			_, err = memory.Update(s.Context(), s.memory, repo, n, func(r *memory.Record) error {
				r.Put(memory.Task{ID: "1", At: s.clock.Now(), Event: "issues.opened", Decision: "act", By: "agent", Status: "suggested",
					Actions: []memory.Action{{Type: "add_label", Values: a, Result: triage.Suggested}}})
				r.Propose(memory.Proposal{
					ID: "p-" + a[0], At: s.clock.Now(), Expires: s.clock.Now().Add(720 * time.Hour), Action: item, Carrier: triage.CarrierComment,
				})
				r.ProposalComment = id
				return nil
			})
			if err != nil {
				s.Fatal(err)
			}
		},
		// acted 7: the memory records that Foreman labeled issue 7.
		"acted": func(s *story, n int, _ []string) {
			_, err := memory.Update(s.Context(), s.memory, repo, n, func(r *memory.Record) error {
				r.Put(memory.Task{ID: "1", At: s.clock.Now(), Event: "issues.opened", Decision: "act", By: "rules", Status: "applied",
					Actions: []memory.Action{{Type: "add_label", Values: []string{"bug"}, Result: triage.Done}}})
				return nil
			})
			if err != nil {
				s.Fatal(err)
			}
		},
	}
}

// end completes a task and marks its decision as done.
func (s *story) end(t queue.Info) {
	s.Helper()
	ctx := s.Context()
	if t.State == queue.Pending { // a task without an agent is completed at once
		if _, err := s.queue.Complete(ctx, queue.Ref{ID: t.ID}, []byte(`{}`)); err != nil {
			s.Fatal(err)
		}
	}
	list, err := s.queue.LeaseDecisions(ctx, queue.DrainOptions{Owner: "test", Lease: time.Minute, Limit: 1000})
	if err != nil {
		s.Fatal(err)
	}
	for _, d := range list {
		if err := s.queue.MarkDone(ctx, d.Lease, nil); err != nil {
			s.Fatal(err)
		}
	}
}
