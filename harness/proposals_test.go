package harness_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/harness"
	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// A proposing is a rig with an agent whose actions are proposed.
type proposing struct {
	*rig
	h     *harness.Harness
	stop  func() // stops h
	asked int
	mu    sync.Mutex
	seen  map[string]int // outcomes of proposals
	given []string       // the agent's next actions
}

// propose runs a test with this policy. The agent labels and comments; mona may write, tess may triage.
func propose(t *testing.T, policy string, test func(p *proposing)) {
	t.Helper()
	inBubble(t, func(t *testing.T, r *rig) {
		p := &proposing{rig: r, seen: map[string]int{}, given: []string{`{"type":"add_label","label":"docs"}`, `{"type":"comment","body":"Thank you."}`}}
		r.gh.Repo(repo).SetPermission("mona", "admin").SetPermission("tess", "triage").SetPermission("rita", "read")
		p.configure(policy)
		store := memory.New()
		r.options.Memory, r.options.Agenda, r.options.Repos = store, store, []string{repo}
		r.options.Observe = func(o observe.Observation) {
			if o.Event == observe.ProposalChanged {
				p.mu.Lock()
				p.seen[o.Carrier+" "+o.Status] += o.N
				p.mu.Unlock()
			}
		}
		p.stop = func() {}
		p.restart()
		r.work("harness", func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
			p.asked++
			m := protocol.DecisionMessage{Decision: protocol.LabelAndRespond, Rationale: "it is about the docs"}
			for _, text := range p.given {
				m.Actions = append(m.Actions, action(text))
			}
			return m, nil
		})
		test(p)
	})
}

func (p *proposing) configure(src string) {
	p.t.Helper()
	c, err := config.Parse("foreman.yml", []byte("version: 1\n"+src), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.options.Config = c
}

// restart replaces the Harness by one with the current options.
func (p *proposing) restart() {
	p.t.Helper()
	p.stop()
	p.h, p.stop = p.start("harness")
}

// comment returns the comment with the proposals of an issue.
func (p *proposing) comment(issue int) githubtest.Comment {
	for _, c := range p.gh.Issue(repo, issue).Comments {
		if strings.Contains(c.Body, "key=foreman-suggestions") {
			return c
		}
	}
	return githubtest.Comment{}
}

// deliver hands on the event of an issue with more keys in its payload, and lets it be handled.
func (p *proposing) deliver(name, action, sender string, issue int, more map[string]any) harness.Enqueued {
	p.t.Helper()
	e := p.event(name, action, sender, issue, more)
	got, err := p.h.Enqueue(p.t.Context(), e, fmt.Sprintf("%s.%s %d %v %d", name, action, issue, time.Now(), p.calls))
	if err != nil {
		p.t.Fatal(err)
	}
	settle()
	return got
}

func (p *proposing) event(name, action, sender string, issue int, more map[string]any) triage.Delivery {
	p.t.Helper()
	now := time.Now().UTC()
	payload := map[string]any{
		"action": action, "repository": map[string]any{"full_name": repo}, "sender": map[string]any{"login": sender, "type": "User"},
		"issue": map[string]any{
			"number": issue, "title": "It breaks", "body": "so", "state": "open", "user": map[string]any{"login": "octocat"},
			"author_association": cmp.Or(fmt.Sprint(more["association"]), "NONE"), "created_at": now, "updated_at": now,
		},
	}
	for key, value := range more {
		payload[key] = value
	}
	data, err := json.Marshal(payload)
	if err != nil {
		p.t.Fatal(err)
	}
	e, err := triage.ParseEvent(triage.EventSource{Name: name, Payload: data})
	if err != nil {
		p.t.Fatal(err)
	}
	return e
}

// tick edits the comment with the proposals as a person who ticks boxes does.
func (p *proposing) tick(sender string, issue int, numbers ...int) harness.Enqueued {
	p.t.Helper()
	c := p.comment(issue)
	after := c.Body
	for _, n := range numbers {
		after = strings.Replace(after, fmt.Sprintf("- [ ] **%d**", n), fmt.Sprintf("- [x] **%d**", n), 1)
	}
	p.gh.Repo(repo).EditComment(c.ID, after)
	return p.edited(sender, issue, c, after, "NONE")
}

// edited delivers the edit of a comment.
func (p *proposing) edited(sender string, issue int, c githubtest.Comment, after, association string) harness.Enqueued {
	p.t.Helper()
	return p.deliver("issue_comment", "edited", sender, issue, map[string]any{
		"association": association,
		"comment":     map[string]any{"id": c.ID, "body": after, "user": map[string]any{"login": c.Author}, "created_at": c.CreatedAt, "updated_at": time.Now().UTC()},
		"changes":     map[string]any{"body": map[string]any{"from": c.Body}},
	})
}

// say delivers a new comment.
func (p *proposing) say(sender string, issue int, body string) harness.Enqueued {
	p.t.Helper()
	id := p.gh.Repo(repo).AddComment(issue, sender, body)
	return p.deliver("issue_comment", "created", sender, issue, map[string]any{
		"comment": map[string]any{"id": id, "body": body, "user": map[string]any{"login": sender}, "created_at": time.Now().UTC(), "updated_at": time.Now().UTC()},
	})
}

// texts returns the comments of an issue by the program, without that with the proposals and without
// markers.
func (p *proposing) texts(issue int) []string {
	var list []string
	for _, c := range p.gh.Issue(repo, issue).Comments {
		if c.Author == runner.DefaultBot && !strings.Contains(c.Body, "key=foreman-suggestions") {
			_, body, _ := strings.Cut(c.Body, " -->\n\n")
			list = append(list, strings.TrimSpace(body))
		}
	}
	return list
}

// has fails the test unless the issue has these labels and our comments, and the agent was asked so often.
func (p *proposing) has(issue, asked int, labels, comments []string) {
	p.t.Helper()
	if got := p.gh.Issue(repo, issue); !slices.Equal(got.Labels, labels) || !slices.Equal(p.texts(issue), comments) || p.asked != asked {
		p.t.Errorf("got labels %v, comments %q, asked %d times; want %v, %q, %d\n%s\n%s", got.Labels, p.texts(issue), p.asked, labels, comments, asked, p.comment(issue).Body, p.log)
	}
}

// TestProposals lets people answer the proposals of an agent by ticks and commands. The agent is asked only
// about the new issue. Edits that are no answers cost nothing.
func TestProposals(t *testing.T) {
	t.Parallel()
	propose(t, "policy: {automation: full_control}\n", func(p *proposing) {
		p.deliver("issues", "opened", "octocat", 7, nil)
		p.has(7, 1, nil, nil)
		if body := p.comment(7).Body; !strings.Contains(body, "- [ ] **1** add the label `docs`") || !strings.Contains(body, "- [ ] **2** post a comment") {
			t.Fatalf("got\n%s\n%s", body, p.log)
		}
		// A maintainer edits her own issue's comment; a person edits another comment, or only our text.
		calls, c := p.calls, p.comment(7)
		id := p.gh.Repo(repo).AddComment(7, "octocat", "hello")
		for _, got := range []harness.Enqueued{
			p.edited("octocat", 7, githubtest.Comment{ID: id, Author: "octocat", Body: "hello"}, "hello!", "NONE"),
			p.edited("mona", 7, c, c.Body+"\nI changed that.", "NONE"),
			p.edited("octocat", 7, githubtest.Comment{ID: id, Author: "octocat", Body: c.Body}, strings.ReplaceAll(c.Body, "[ ]", "[x]"), "NONE"),
		} {
			if got.Task != "" || p.calls != calls {
				t.Errorf("an edit made the task %+v, and %d calls", got, p.calls-calls)
			}
		}
		if got := p.tick("rita", 7, 1); got.Agent != "" || got.Task == "" {
			t.Errorf("the tick: got %+v", got)
		}
		p.has(7, 1, nil, nil)
		// A tick on a maintainer's own issue, which has no events otherwise.
		after := strings.Replace(p.comment(7).Body, "- [ ] **2**", "- [x] **2**", 1)
		if got := p.edited("mona", 7, p.comment(7), after, "OWNER"); got.Task == "" {
			t.Errorf("the tick on a maintainer's issue: got %+v", got)
		}
		p.has(7, 1, nil, []string{"Thank you."})
		if got := p.say("tess", 7, "/foreman accept 1"); got.Agent != "" || got.Task == "" {
			t.Errorf("the command: got %+v", got)
		}
		p.has(7, 1, []string{"docs"}, []string{"Thank you."})
		if want := map[string]int{"comment made": 2, "comment accepted": 2}; fmt.Sprint(p.seen) != fmt.Sprint(want) {
			t.Errorf("observed %v, want %v", p.seen, want)
		}
		if got := p.say("tess", 8, "/foreman accept all"); got.Task != "" || got.Reason != "no proposal waits on the issue" {
			t.Errorf("a command without proposals: got %+v", got)
		}
	})
}

// TestAgentWaits checks which events an agent gets while its proposals wait.
func TestAgentWaits(t *testing.T) {
	t.Parallel()
	propose(t, "policy: {automation: full_control}\n", func(p *proposing) {
		p.deliver("issues", "opened", "octocat", 7, nil)
		for _, tt := range []struct {
			name  string
			get   func() harness.Enqueued
			agent bool
			why   string
		}{
			{"comment", func() harness.Enqueued { return p.say("octocat", 7, "It is urgent") }, false, "proposals of the agent wait for an answer"},
			{"undo", func() harness.Enqueued { return p.say("mona", 7, "/foreman undo") }, false, ""},
			{"edited", func() harness.Enqueued { return p.deliver("issues", "edited", "octocat", 7, nil) }, true, ""},
			{"triage", func() harness.Enqueued { return p.say("mona", 7, "/foreman triage") }, true, ""},
			{"reopened", func() harness.Enqueued { return p.deliver("issues", "reopened", "octocat", 7, nil) }, true, ""},
			{"other issue", func() harness.Enqueued { return p.say("octocat", 8, "It is urgent") }, true, ""},
		} {
			if got := tt.get(); (got.Agent != "") != tt.agent || got.Reason != tt.why || (got.Task == "") != (tt.why != "") {
				t.Errorf("%s: got %+v", tt.name, got)
			}
		}
		if p.seen["comment made"] != 4 || len(p.gh.Issue(repo, 7).Labels) > 0 {
			t.Errorf("observed %v, labels %v", p.seen, p.gh.Issue(repo, 7).Labels)
		}
		p.say("mona", 7, "/foreman reject all")
		if got := p.say("octocat", 7, "Please"); got.Agent == "" {
			t.Errorf("after the answer: got %+v", got)
		}
		if got := p.comment(7).Body; !strings.Contains(got, "rejected by `mona`") || strings.Contains(got, "- [ ]") {
			t.Errorf("got\n%s", got)
		}
	})
}

// TestProposalsExpire checks that proposals expire without an event, once, and that an issue that is gone
// makes no work for ever.
func TestProposalsExpire(t *testing.T) {
	t.Parallel()
	propose(t, "policy: {automation: full_control, suggestion_ttl: 2d}\n", func(p *proposing) {
		p.deliver("issues", "opened", "octocat", 7, nil)
		p.deliver("issues", "opened", "octocat", 8, nil)
		p.gh.Repo(repo).DeleteIssue(8)
		time.Sleep(44 * time.Hour)
		calls := p.calls
		settle()
		if p.calls != calls {
			t.Errorf("%d calls before the proposals are overdue", p.calls-calls)
		}
		time.Sleep(24 * time.Hour)
		if body := p.comment(7).Body; !strings.Contains(body, "Foreman proposes nothing now") || strings.Contains(body, "- [ ]") {
			t.Errorf("got\n%s\n%s", body, p.log)
		}
		if want := map[string]int{"comment made": 4, "comment expired": 4}; fmt.Sprint(p.seen) != fmt.Sprint(want) {
			t.Errorf("observed %v, want %v", p.seen, want)
		}
		list, err := queue.List(t.Context(), p.queue, queue.Filter{Limit: 100})
		if err != nil || len(list) != 4 {
			t.Errorf("got %d tasks, %v, want one for each issue, and one for the proposals of each", len(list), err)
		}
		calls = p.calls
		time.Sleep(72 * time.Hour)
		if p.calls != calls {
			t.Errorf("%d calls later", p.calls-calls)
		}
		p.has(7, 2, nil, nil)
	})
}

// TestProposalsClose checks that a close is accepted only while an agent of the repository may close.
func TestProposalsClose(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{true, false} {
		t.Run(fmt.Sprint(allowed), func(t *testing.T) {
			t.Parallel()
			propose(t, "policy: {automation: full_control}\n", func(p *proposing) {
				p.given = []string{`{"type":"comment","body":"It is old."}`, `{"type":"close_issue","reason":"not_planned"}`}
				p.options.Agents[0].AllowClose = true
				p.restart()
				p.deliver("issues", "opened", "octocat", 7, nil)
				if !allowed {
					p.options.Agents = []harness.Agent{{URL: agentURL}}
					p.restart()
				}
				p.tick("mona", 7, 1)
				state, want := p.gh.Issue(repo, 7).State, map[bool]string{true: "closed", false: "open"}[allowed]
				if state != want {
					t.Errorf("the issue is %s, want %s:\n%s", state, want, p.comment(7).Body)
				}
			})
		})
	}
}

// TestProposalsByCommand checks that without webhooks the comment has no boxes.
func TestProposalsByCommand(t *testing.T) {
	t.Parallel()
	propose(t, "policy: {automation: full_control}\n", func(p *proposing) {
		p.options.NoBoxes = true
		p.restart()
		p.deliver("issues", "opened", "octocat", 7, nil)
		if body := p.comment(7).Body; !strings.Contains(body, "- **1** add the label `docs`") || strings.Contains(body, "[ ]") {
			t.Errorf("got\n%s", body)
		}
		p.say("mona", 7, "/foreman accept 1")
		p.has(7, 1, []string{"docs"}, nil)
	})
}

// TestPanel checks that what one decision saw of GitHub's panel counts for the next one.
func TestPanel(t *testing.T) {
	t.Parallel()
	propose(t, "policy: {automation: full_control}\n", func(p *proposing) {
		p.given = p.given[:1]
		p.gh.Repo(repo).SetAutomation(githubtest.Cautious).LabelAs("mona", 7, "bug")
		p.deliver("issues", "opened", "octocat", 7, nil)
		p.deliver("issues", "opened", "octocat", 8, nil)
		if want := map[string]int{"github made": 2}; fmt.Sprint(p.seen) != fmt.Sprint(want) {
			t.Errorf("observed %v, want %v", p.seen, want)
		}
	})
}

// A brokenStore fails at one save, before or after the record is stored.
type brokenStore struct {
	memory.Agenda
	n     int // number of the save
	after bool
	saves int
}

func (s *brokenStore) Save(ctx context.Context, r memory.Record) error {
	s.saves++
	switch {
	case s.saves != s.n:
	case s.after:
		return errors.Join(errors.New("the database went away"), s.Agenda.Save(ctx, r))
	default:
		return errors.New("the database went away")
	}
	return s.Agenda.Save(ctx, r)
}

// TestProposalsUnrecorded fails each save of the memory in turn: after the writes, and before they are
// recorded. Nothing is lost, doubled, or carried out without a yes.
func TestProposalsUnrecorded(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for n := 1; n <= 4; n++ {
			t.Run(fmt.Sprintf("%d %v", n, after), func(t *testing.T) {
				t.Parallel()
				propose(t, "policy: {automation: full_control}\n", func(p *proposing) {
					store := &brokenStore{Agenda: memory.New(), n: n, after: after}
					p.options.Memory, p.options.Agenda = store, store
					p.restart()
					p.answered(func() {})
					if store.saves < n {
						t.Errorf("there are only %d saves", store.saves)
					}
				})
			})
		}
	}
}

// TestCloseUnrecorded is TestProposalsUnrecorded with a comment and a close that are accepted together.
func TestCloseUnrecorded(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for n := 1; n <= 3; n++ {
			t.Run(fmt.Sprintf("%d %v", n, after), func(t *testing.T) {
				t.Parallel()
				propose(t, "policy: {automation: full_control}\n", func(p *proposing) {
					p.given = []string{`{"type":"comment","body":"It is old."}`, `{"type":"close_issue","reason":"not_planned"}`}
					store := &brokenStore{Agenda: memory.New(), n: n, after: after}
					p.options.Memory, p.options.Agenda, p.options.Agents[0].AllowClose = store, store, true
					p.restart()
					p.deliver("issues", "opened", "octocat", 7, nil)
					p.tick("mona", 7, 1)
					p.has(7, 1, nil, []string{"It is old."})
					if got := p.gh.Issue(repo, 7); got.State != "closed" || !strings.Contains(p.comment(7).Body, "accepted by `mona`") || store.saves < n {
						t.Errorf("%s after %d saves:\n%s\n%s", got.State, store.saves, p.comment(7).Body, p.log)
					}
				})
			})
		}
	}
}

// TestProposalsCancelled is TestCancelled with proposals: the Harness ends before and after each request to
// GitHub while an agent proposes, and while people accept. The next Harness goes on.
func TestProposalsCancelled(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "after", "without the answer of"} {
		for n, last := 1, false; !last; n++ {
			ok := t.Run(fmt.Sprintf("%s request %d", when, n), func(t *testing.T) {
				propose(t, "policy: {automation: full_control}\n", func(p *proposing) {
					stop, stopped := p.stop, make(chan struct{})
					end := func(i int) {
						if i == n {
							go func() {
								defer close(stopped)
								stop()
							}()
							time.Sleep(time.Millisecond) // of the bubble, in which the stop begins
						}
					}
					if when == "before" {
						p.before = end
					} else {
						p.after = func(i int) bool {
							end(i)
							return i == n && when != "after"
						}
					}
					p.answered(func() {
						select {
						case <-stopped:
							if stop != nil {
								p.restart()
								stop = nil
								settle()
							}
						default:
						}
					})
					last = stop != nil
				})
			})
			if !ok {
				return
			}
			if n == 1 && last {
				t.Fatal("no request was made")
			}
		}
	}
}

// answered lets the agent propose on issue 7 and people accept, calls next after each step, and checks that
// all was done exactly once.
func (p *proposing) answered(next func()) {
	p.t.Helper()
	steps := []func(){
		func() { p.deliver("issues", "opened", "octocat", 7, nil) },
		func() { p.tick("mona", 7, 2) },
		func() { p.say("mona", 7, "/foreman accept 1") },
	}
	for i, step := range steps {
		if i == 1 {
			p.has(7, 1, nil, nil)
		}
		step()
		next()
	}
	p.has(7, 1, []string{"docs"}, []string{"Thank you."})
	posts, labels := 0, 0
	for _, line := range p.gh.Log() {
		switch line {
		case fmt.Sprintf(talkPost, 7):
			posts++
		case fmt.Sprintf(labelPost, 7):
			labels++
		}
	}
	if posts != 2 || labels > 2 { // a label may be added again after a lost answer
		p.t.Errorf("%d comments were posted, and a label %d times", posts, labels)
	}
	if body := p.comment(7).Body; strings.Count(body, "accepted by `mona`") != 2 || strings.Contains(body, "- [") {
		p.t.Errorf("got\n%s\n%s", body, p.log)
	}
}
