package runner_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	cmpdiff "github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/testkit/golden"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the files in testdata")

// TestProposals plays the stories in testdata/proposals. A story is a configuration, the lines of what
// happens on an issue, and what the program then did and wrote.
func TestProposals(t *testing.T) {
	t.Parallel()
	golden.Each(t, "testdata/proposals", *update, func(t *testing.T, c *golden.Case) {
		p := newProposalStory(t, string(c.Get("config")))
		defer func() {
			if t.Failed() {
				t.Log(p.b.String())
			}
		}()
		for line := range strings.Lines(string(c.Get("story"))) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				p.tell(line)
			}
		}
		c.Want(t, "want", p.b.String())
	})
}

// A proposalStory is a story on issue 1, or on another one.
type proposalStory struct {
	*testing.T
	number  int
	gh      *githubtest.Server
	repo    *githubtest.Repo
	o       options
	now     time.Time
	event   triage.Delivery      // the newest one
	tasked  map[string]pastEvent // the newest events by their actions
	actions []string             // the agent's next answer
	failed  error                // nil: the agent answers
	asked   int
	tasks   int
	shown   string // the comment with proposals when it was last printed
	b       strings.Builder
	last    runner.Report
	skew    bool           // the next run begins a quarter of an hour after its event, and the issue was closed meanwhile
	closed  time.Time      // when the issue was closed last
	more    map[string]any // of the payload of the next event
}

// A pastEvent is one that a run handled as a task.
type pastEvent struct {
	event triage.Delivery
	task  string
}

func newProposalStory(t *testing.T, src string) *proposalStory {
	t.Helper()
	p := &proposalStory{T: t, number: 1, tasked: map[string]pastEvent{}, now: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return p.now }
	p.gh = githubtest.New(t, githubtest.Config{Now: clock})
	p.repo = p.gh.Repo(repoName).AddLabel("bug", "docs", "crash", "triage").AddIssue(githubtest.Issue{Number: 1, Title: "It crashes", Body: "a panic", Author: "octocat"}).
		SetPermission("mona", "admin").SetPermission("tess", "triage").SetPermission("rita", "read").SetPermission("octocat", "read").AddUser("octocat", "hubot")
	host, err := github.New(github.Options{BaseURL: p.gh.URL, Token: "t", Sleep: noSleep})
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse("foreman.yml", []byte("version: 1\n"+src), nil)
	if err != nil {
		t.Fatal(err)
	}
	p.o = options{Options: runner.Options{
		Config: c, Host: runner.HostOf(host), Clock: runner.Clock{Now: clock, Sleep: noSleep},
	}}
	if strings.Contains(src, "agent:") {
		p.o.Agent = runner.AgentOptions{Name: "http://agent/task", Record: c.Agent.Name, Agent: agentFunc(p.decide)}
	}
	keepIn(&p.o, memory.New())
	return p
}

func (p *proposalStory) tell(line string) {
	p.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	fmt.Fprintf(&p.b, "> %s\n", line)
	who, text, _ := strings.Cut(rest, " ")
	n := func() int64 { return p.proposalsComment().ID }
	switch verb {
	case "long": // the agent wants to post that many long comments
		n, err := strconv.Atoi(rest)
		if err != nil {
			p.Fatal(err)
		}
		p.actions = nil
		for i := range n {
			p.actions = append(p.actions, fmt.Sprintf(`{"type":"comment","body":"%d\n%s"}`, i, strings.Repeat(`a\n`, 1998)))
		}
	case "agent":
		p.actions = nil
		for item := range strings.SplitSeq(rest, " ; ") {
			p.actions = append(p.actions, item)
		}
	case "opened", "labeled", "edited", "reopened":
		p.run(verb, "octocat", triage.Comment{}, "")
	case "comment":
		text = strings.ReplaceAll(text, " / ", "\n")
		id := p.repo.AddComment(p.number, who, text)
		p.run("comment", who, triage.Comment{ID: id, Body: text, Author: who, CreatedAt: p.now}, "")
	case "rerun": // rerun [ACTION]: the newest event, or the newest one with that action
		event := p.event
		if first, ok := p.tasked[rest]; ok {
			event, p.o.Task = first.event, runner.TaskIdentity{ID: first.task}
		}
		p.deliver(event)
	case "tick": // tick LOGIN NUMBERS
		c := p.proposalsComment()
		after := c.Body
		for number := range strings.FieldsSeq(text) {
			after = strings.ReplaceAll(after, "- [ ] **"+number+"**", "- [x] **"+number+"**")
		}
		p.edit(c.ID, after)
		c.Body, c.Author = after, runner.DefaultBot
		p.run("ticked", who, triage.Comment{ID: c.ID, Body: after, Author: c.Author, CreatedAt: p.now}, p.shown)
	case "forge": // forge LOGIN OLD => NEW: changes the comment, and no run sees it
		old, replacement, _ := strings.Cut(text, " => ")
		body := strings.ReplaceAll(p.proposalsComment().Body, old, replacement)
		p.edit(n(), body)
		p.shown = body
	case "copy": // a stranger posts a copy of the comment, and ticks its boxes
		body := p.proposalsComment().Body
		id := p.repo.AddComment(1, who, body)
		p.run("ticked", who, triage.Comment{ID: id, Body: strings.ReplaceAll(body, "[ ]", "[x]"), Author: who, CreatedAt: p.now}, body)
	case "delete":
		p.repo.DeleteComment(n())
		p.shown = ""
	case "label":
		p.repo.LabelAs(who, 1, text)
	case "unlabel":
		p.repo.UnlabelAs(who, p.number, text)
	case "close":
		p.repo.CloseAs(who, 1, "completed")
		p.closed = p.now
		p.run("closed", who, triage.Comment{}, "")
	case "shut": // closes the issue, and no run sees it
		p.repo.CloseAs(who, 1, "completed")
	case "fails": // the agent fails from now on
		p.failed = errors.New("the agent is down")
	case "lock":
		p.repo.LockAs(who, 1, "")
	case "rename":
		p.repo.RenameAs(who, 1, text)
	case "accepts": // accepts LOGIN KIND NAME: a person accepts a suggestion in GitHub's panel
		kind, name, _ := strings.Cut(text, " ")
		p.repo.AcceptAs(who, 1, kind, name)
	case "sweep":
		p.sweep()
	case "qopen":
		p.repo.ReopenAs(rest, 1)
	case "qclose":
		p.repo.CloseAs(rest, 1, "completed")
	case "latetick": // a tick whose run begins a quarter of an hour later, after the issue was closed
		c := p.proposalsComment()
		after := strings.ReplaceAll(c.Body, "- [ ] **"+text+"**", "- [x] **"+text+"**")
		p.edit(c.ID, after)
		p.skew = true
		p.run("ticked", who, triage.Comment{ID: c.ID, Body: after, Author: runner.DefaultBot, CreatedAt: p.now}, p.shown)
	case "editcomment":
		id := p.repo.AddComment(1, who, text)
		p.run("ticked", who, triage.Comment{ID: id, Body: text + " more", Author: who, CreatedAt: p.now}, text)
	case "editours":
		var id int64
		for _, c := range p.gh.Issue(repoName, 1).Comments {
			if c.Author == runner.DefaultBot && !strings.Contains(c.Body, "key=foreman-suggestions") {
				id = c.ID
				p.run("ticked", who, triage.Comment{ID: id, Body: c.Body + " more", Author: runner.DefaultBot, CreatedAt: p.now}, c.Body)
			}
		}
	case "duptick":
		c := p.proposalsComment()
		var out []string
		for l := range strings.SplitSeq(c.Body, "\n") {
			if strings.HasPrefix(l, "- [ ] **"+text+"**") {
				l = strings.Replace(l, "[ ]", "[x]", 1)
				out = append(out, l)
			}
			out = append(out, l)
		}
		after := strings.Join(out, "\n")
		p.edit(c.ID, after)
		p.run("ticked", who, triage.Comment{ID: c.ID, Body: after, Author: runner.DefaultBot, CreatedAt: p.now}, p.shown)
	case "second":
		p.o.Task.Scope, p.o.Task.First = rest, true
		p.deliver(p.event)
		p.o.Task.Scope = ""
	case "say":
		text = strings.ReplaceAll(text, "\\n", "\n")
		id := p.repo.AddComment(1, who, text)
		p.run("comment", who, triage.Comment{ID: id, Body: text, Author: who, CreatedAt: p.now}, "")
	default:
		p.arrange(verb, rest)
	}
}

// arrange changes the configuration, the memory or the fake GitHub.
func (p *proposalStory) arrange(verb, rest string) {
	p.Helper()
	switch verb {
	case "pass":
		d, err := protocol.ParseDuration(rest)
		if err != nil {
			p.Fatal(err)
		}
		p.now = p.now.Add(d)
	case "policy": // the policy becomes another one
		c, err := config.Parse("foreman.yml", []byte("version: 1\npolicy: "+rest+"\n"), nil)
		if err != nil {
			p.Fatal(err)
		}
		changed := *p.o.Config
		changed.Policy = c.Policy
		p.o.Config = &changed
	case "earn": // earn SOURCE ACTION OUTCOMES [VALUE]: the track record of a rule or an agent, k or u for each outcome
		p.earn(rest)
	case "shared": // shared [no]: other jobs can write the memory
		p.o.Memory.Shared = rest != "no"
	case "panel":
		p.repo.SetAutomation(githubtest.Automation(rest))
	case "record": // record action, comment, ended or proposals: the record differs from what it was
		p.alter(rest)
	case "lose":
		keepIn(&p.o, memory.New())
	case "dry":
		p.o.DryRun = true
	case "without":
		p.o.Memory = runner.Memory{}
	case "readonly":
		p.o.Memory.ReadOnly = true
	case "boxless":
		p.o.NoBoxes = true
	case "own":
		fail := rest == "fail"
		own := *p.o.Config
		own.Policy.Actions = []string{"page", "add_label"}
		p.o.Config = &own
		p.o.Actions = []runner.Action{{
			Spec: protocol.ActionSpec{Name: "page", Limit: 3, Params: []protocol.Param{{Name: "data", Kind: protocol.KindText}, {Name: "msg", Kind: protocol.KindMarkdown}}},
			Do: func(_ context.Context, _ triage.Ref, item protocol.ActionItem, key string) (effect.Written, error) {
				fmt.Fprintf(&p.b, "  PAGED %s %s fail=%v\n", item.String(), key, fail)
				if fail {
					return effect.Written{}, fmt.Errorf("x: %w", triage.ErrUncertain)
				}
				return effect.Written{}, nil
			},
		}}
	case "fault":
		f, err := githubtest.ParseFault(strings.Fields(rest))
		if err != nil {
			p.Fatal(err)
		}
		p.gh.Fault(f)
	case "killid":
		keepIn(&p.o, &flaky{Store: p.o.Memory.Store, saves: 1})
	case "memfail":
		keepIn(&p.o, &flaky{Store: p.o.Memory.Store, n: 1})
	case "implicit":
		p.o.Memory.Implicit = true
	case "rules":
		c, err := config.Parse("foreman.yml", []byte("version: 1\n"+strings.ReplaceAll(rest, "\\n", "\n")+"\n"), nil)
		if err != nil {
			p.Fatal(err)
		}
		p.o.Config = c
	case "race":
		meth, rr, _ := strings.Cut(rest, " ")
		suffix, what, _ := strings.Cut(rr, " ")
		done := false
		p.gh.Before(func(m, path string) {
			if done || m != meth || !strings.HasSuffix(path, suffix) {
				return
			}
			done = true
			p.repo.LabelAs("mona", 1, what)
		})
	default:
		p.Fatalf("unknown line: %s %s", verb, rest)
	}
}

// earn counts outcomes of a rule or an agent in the record of the repository.
func (p *proposalStory) earn(rest string) {
	p.Helper()
	parts := append(strings.Fields(rest), "")
	source, action, outcomes, value := parts[0], parts[1], parts[2], parts[3]
	if !strings.HasPrefix(source, policy.AgentPrefix) {
		for _, event := range []string{"opened", "edited"} {
			res, err := p.o.Config.Rules.Decide(p.Context(), facts.Of(p.delivery(event, "octocat", triage.Comment{}, ""), p.now))
			if err != nil {
				p.Fatal(err)
			}
			for i, item := range res.Message.Actions {
				if res.Sources[i] == source && item.Type == action {
					source = memory.RuleSource(res.Digests[i])
				}
			}
		}
	}
	t := p.o.Config.Policy.Threshold(action)
	_, err := memory.Update(p.Context(), p.o.Memory.Store, repoName, memory.Repository, func(r *memory.Record) error {
		o := memory.Outcomes{}
		if r.Outcomes != nil {
			o = *r.Outcomes
		}
		for i, c := range outcomes {
			k := memory.PairKey{Source: source, Action: action, Value: value}
			kept := map[rune]memory.Outcome{'k': memory.OutcomeKept, 'u': memory.OutcomeUndone}[c]
			o.Count(k, "", memory.Result{Outcome: kept, Issue: 1000 + i, Author: strconv.Itoa(i), Acted: p.now, At: p.now}, memory.Threshold{Bound: t.Bound, Of: t.Of})
		}
		r.Outcomes = &o
		return nil
	})
	if err != nil {
		p.Fatal(err)
	}
}

// alter changes the record: it loses its proposals, or the id of their comment, also when all have ended, or
// the first proposal gets another action.
func (p *proposalStory) alter(what string) {
	p.Helper()
	_, err := memory.Update(p.Context(), p.o.Memory.Store, repoName, 1, func(r *memory.Record) error {
		switch what {
		case "ended":
			for _, one := range r.Pending() {
				r.End(one.Number, memory.Rejected, "", "", p.now)
			}
			r.ProposalComment = 0
		case "proposals":
			r.Proposals = nil
		case "comment":
			r.ProposalComment, r.ProposalsShown = 0, 0
		case "action":
			return r.Proposals[0].Action.UnmarshalJSON([]byte(`{"type":"add_label","label":"docs"}`))
		default:
			p.Fatalf("the record has no %s", what)
		}
		return nil
	})
	if err != nil {
		p.Fatal(err)
	}
}

// proposalsComment returns the comment with the proposals.
func (p *proposalStory) proposalsComment() githubtest.Comment {
	for _, c := range slices.Backward(p.gh.Issue(repoName, 1).Comments) {
		if strings.Contains(c.Body, "key=foreman-suggestions") && c.Author == runner.DefaultBot {
			return c
		}
	}
	return githubtest.Comment{}
}

// edit replaces the text of a comment, as a person on the web page does.
func (p *proposalStory) edit(id int64, body string) {
	p.Helper()
	data, err := json.Marshal(map[string]string{"body": body})
	if err != nil {
		p.Fatal(err)
	}
	req, err := http.NewRequestWithContext(p.Context(), http.MethodPatch, p.gh.URL+"/repos/"+repoName+"/issues/comments/"+strconv.FormatInt(id, 10), strings.NewReader(string(data)))
	if err != nil {
		p.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer t")
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
		p.Fatal(res.Status, err)
	}
}

// delivery returns an event of the issue in its current state.
func (p *proposalStory) delivery(action, who string, c triage.Comment, from string) triage.Delivery {
	p.Helper()
	i := p.gh.Issue(repoName, p.number)
	issue := map[string]any{
		"number": p.number, "title": i.Title, "body": i.Body, "state": cmp.Or(i.State, "open"), "locked": i.Locked, "html_url": "https://github.com/" + repoName + "/issues/" + strconv.Itoa(p.number),
		"user": map[string]any{"login": i.Author, "type": "User"}, "labels": []any{}, "assignees": []any{}, "comments": len(i.Comments),
		"created_at": time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC), "updated_at": p.now, "author_association": "NONE", "node_id": "I_1", "id": 1,
	}
	if i.State == "closed" {
		issue["closed_at"] = p.closed
	}
	var labels []any
	for _, name := range i.Labels {
		labels = append(labels, map[string]any{"name": name, "node_id": "L_" + name})
	}
	if labels != nil {
		issue["labels"] = labels
	}
	kind := "User"
	if strings.HasSuffix(who, "[bot]") {
		kind = "Bot"
	}
	payload := map[string]any{
		"action": action, "issue": issue, "repository": map[string]any{"full_name": repoName, "name": "Hello-World", "owner": map[string]any{"login": "Codertocat"}, "default_branch": "main"},
		"sender": map[string]any{"login": who, "type": kind},
	}
	name := triage.EventIssues
	if c.ID != 0 {
		name, payload["action"] = triage.EventIssueComment, "created"
		payload["comment"] = map[string]any{"id": c.ID, "body": c.Body, "html_url": c.URL, "user": map[string]any{"login": c.Author, "type": "User"}, "created_at": c.CreatedAt, "updated_at": p.now, "author_association": "NONE"}
		if action == "ticked" {
			payload["action"], payload["changes"] = "edited", map[string]any{"body": map[string]any{"from": from}}
		}
	}
	maps.Copy(payload, p.more)
	p.more = nil
	data, err := json.Marshal(payload)
	if err != nil {
		p.Fatal(err)
	}
	d, err := triage.ParseEvent(triage.EventSource{Name: name, Payload: data})
	if err != nil {
		p.Fatal(err)
	}
	return d
}

// run delivers an event of the issue in its current state.
func (p *proposalStory) run(action, who string, c triage.Comment, from string) {
	p.Helper()
	d := p.delivery(action, who, c, from)
	if p.skew {
		p.skew = false
		p.repo.CloseAs("mona", 1, "completed")
		p.now = p.now.Add(15 * time.Minute)
	}
	p.tasks++
	p.o.Task = runner.TaskIdentity{ID: protocol.DeriveTaskID("proposals", strconv.Itoa(p.tasks)), First: true}
	p.event, p.tasked[action] = d, pastEvent{d, p.o.Task.ID}
	p.deliver(d)
	p.o.Task.First = false
}

// deliver runs an event, and prints the report, the calls, and the comment if it changed.
func (p *proposalStory) deliver(d triage.Delivery) {
	p.Helper()
	before := len(p.gh.Calls())
	rep, err := run(p.T, p.o, d)
	p.last = rep
	p.print(rep, err)
	p.after(before)
}

func (p *proposalStory) print(rep runner.Report, err error) {
	fmt.Fprintf(&p.b, "%s: %s", rep.Status, cmp.Or(rep.Rationale, rep.Reason))
	if rep.Reason != "" && rep.Reason != rep.Rationale {
		fmt.Fprintf(&p.b, " (%s)", rep.Reason)
	}
	if err != nil {
		fmt.Fprintf(&p.b, " ERROR %v", err)
	}
	fmt.Fprintf(&p.b, " [%s; executed %d, suggested %d]\n", rep.By, rep.Executed, rep.Suggested)
	for _, a := range rep.Actions {
		var in map[string]any
		data, err := json.Marshal(a)
		if err != nil || json.Unmarshal(data, &in) != nil {
			p.Fatal(err)
		}
		fmt.Fprintf(&p.b, "  %v %s %v %v", in["action"].(map[string]any)["type"], a.Source, in["verdict"], in["result"])
		for _, key := range []string{"confidence", "proposal", "carrier", "accepted_by", "reason", "rationale"} {
			if v, ok := in[key]; ok && v != "" {
				fmt.Fprintf(&p.b, " %s=%v", key, v)
			}
		}
		p.b.WriteString("\n")
	}
	for _, w := range rep.Warnings {
		fmt.Fprintf(&p.b, "  warning: %s\n", w)
	}
}

// after prints the calls since an earlier one, the state of the issue, and the comment if it changed.
func (p *proposalStory) after(before int) {
	var calls []string
	for _, c := range p.gh.Calls()[before:] {
		path := strings.TrimPrefix(c.Path, "/repos/"+repoName)
		for _, other := range p.gh.Issue(repoName, 1).Comments {
			path = strings.ReplaceAll(path, strconv.FormatInt(other.ID, 10), "ID")
		}
		calls = append(calls, c.Method+" "+path)
	}
	if len(calls) > 0 {
		fmt.Fprintf(&p.b, "  calls: %s\n", strings.Join(calls, ", "))
	}
	i := p.gh.Issue(repoName, 1)
	var others []string
	for _, c := range i.Comments {
		if _, text, ok := strings.Cut(c.Body, " -->\n\n"); ok && !strings.Contains(c.Body, "key=foreman-suggestions") {
			others = append(others, strconv.Quote(text[:min(40, len(text))]))
		}
		for _, r := range c.Reactions {
			others = append(others, r.Content)
		}
	}
	fmt.Fprintf(&p.b, "  issue: %s labels=%v comments=%v", cmp.Or(i.State, "open"), i.Labels, others)
	if len(i.Assignees) > 0 || i.Type != "" {
		fmt.Fprintf(&p.b, " assignees=%v type=%s", i.Assignees, i.Type)
	}
	for _, s := range i.Suggestions {
		fmt.Fprintf(&p.b, " panel=%s:%s", s.Kind, s.Value)
	}
	p.b.WriteString("\n")
	if p.o.Memory.Store == nil {
		return
	}
	if r, err := p.o.Memory.Store.Load(p.Context(), repoName, 1); err == nil && len(r.Proposals) > 0 {
		p.b.WriteString("  record:")
		for _, m := range r.Proposals {
			fmt.Fprintf(&p.b, " %d %s %s;", m.Number, m.State, m.Carrier)
		}
		p.b.WriteString("\n")
	}
	if body := p.proposalsComment().Body; body != p.shown {
		p.shown = body
		_, text, _ := strings.Cut(body, "\n\n")
		for i, line := range strings.Split(text, "\n") {
			if i == 60 {
				fmt.Fprintf(&p.b, "  | and %d more lines\n", strings.Count(text, "\n")-i)
				break
			}
			fmt.Fprintf(&p.b, "  | %s\n", line)
		}
	}
}

// sweep makes a scheduled run.
func (p *proposalStory) sweep() {
	p.Helper()
	before := len(p.gh.Calls())
	d, err := triage.ParseEvent(triage.EventSource{Name: "schedule", Repo: repoName, Payload: []byte(`{"schedule": "17 4 * * *"}`)})
	if err != nil {
		p.Fatal(err)
	}
	p.tasks++
	o := p.o
	o.Task = runner.TaskIdentity{ID: protocol.DeriveTaskID("proposals", strconv.Itoa(p.tasks)), First: true}
	v, err := sweep(p.T, o, d)
	fmt.Fprintf(&p.b, "sweep: %s %v\n", v.Reason, err)
	for _, rep := range v.Reports {
		p.print(rep, nil)
	}
	p.after(before)
}

// decide is the agent: it gives the actions of the newest line.
func (p *proposalStory) decide(_ context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
	if p.failed != nil {
		return protocol.DecisionMessage{}, p.failed
	}
	p.asked++
	m := protocol.DecisionMessage{TaskID: task.TaskID, Decision: protocol.LabelAndRespond, Rationale: "the agent says so"}
	for _, a := range p.actions {
		var item protocol.ActionItem
		if err := json.Unmarshal([]byte(a), &item); err != nil {
			return m, err
		}
		m.Actions = append(m.Actions, item)
	}
	if len(m.Actions) == 0 {
		m.Decision = protocol.Skip
	}
	return m, nil
}

// TestTooLongToPropose refuses a comment that people could not read as a whole, and proposes the longest one.
func TestTooLongToPropose(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		4000: "comment agent suggest suggested", 4001: "too long to be proposed: it has 4001 characters, and people see at most 4000",
	} {
		p := newProposalStory(t, "agent: {when: true}\n")
		p.tell(`agent {"type":"comment","body":"` + strings.Repeat("x", n) + `","suggest":true}`)
		p.tell("opened")
		if !strings.Contains(p.b.String(), want) {
			t.Errorf("%d characters: got\n%s", n, p.b.String())
		}
	}
}

// TestPanelSwitchedOff uses GitHub's panel where it was seen, as long as the events do not show that it is off.
func TestPanelSwitchedOff(t *testing.T) {
	t.Parallel()
	p := newProposalStory(t, "rules:\n  - {id: crash, on: issues.edited, then: [{add_label: {label: bug, suggest: true}}]}\n")
	r, err := runner.New(p.o.Options)
	if err != nil {
		t.Fatal(err)
	}
	carrier := func(event string, number int) triage.Carrier {
		p.repo.AddIssue(githubtest.Issue{Number: number})
		if event != "" {
			p.repo.LabelAs("mona", number, event)
		}
		issue := triage.Issue{Number: number, State: "open"}
		d := triage.Delivery{Event: triage.Event{Name: triage.EventIssues, Action: "edited"}, Repo: triage.Repo{Owner: "Codertocat", Name: "Hello-World"}, Number: number, Issue: &issue}
		rep, err := r.Run(t.Context(), runner.TaskIdentity{ID: protocol.DeriveTaskID("panel", strconv.Itoa(number)), First: true}, d)
		if err != nil || rep.Suggested != 1 || len(rep.Warnings) > 0 {
			t.Fatalf("#%d: %d proposals, %q, %v", number, rep.Suggested, rep.Warnings, err)
		}
		return rep.Actions[0].Carrier
	}
	p.repo.SetAutomation(githubtest.Cautious)
	got := []triage.Carrier{carrier("", 2), carrier("docs", 3), carrier("", 4)}
	p.now = p.now.Add(23 * time.Hour)
	got = append(got, carrier("", 5))
	p.repo.SetAutomation(githubtest.AutomationOff)
	got = append(got, carrier("docs", 6), carrier("", 7))
	p.repo.SetAutomation(githubtest.Cautious)
	got = append(got, carrier("docs", 8))
	p.now = p.now.Add(24 * time.Hour)
	got = append(got, carrier("", 9))
	want := []triage.Carrier{"comment", "github", "github", "github", "comment", "comment", "github", "comment"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestLevels decides each combination of a level, a place for proposals, a source and its confidence on a
// fresh GitHub, and compares the results with testdata/levels.txt.
func TestLevels(t *testing.T) {
	t.Parallel()
	const file = "testdata/levels.txt"
	var rows []string
	for _, source := range []string{"rule", "agent", "on_failure"} {
		for _, confidence := range []string{"", "low", "medium", "high", "suggest"} {
			if source == "on_failure" && confidence != "" {
				continue // the configuration states none
			}
			for _, level := range []string{"full_control", "cautious", "balanced", "full", "approve", "earned", "proven"} {
				for _, place := range []string{"auto", "auto+panel", "github+panel", "comment+panel", "github+old", "off"} {
					rows = append(rows, fmt.Sprintf("%-10s %-7s %-12s %-13s %s", source, cmp.Or(confidence, "-"), level, place, levelCase(t, source, confidence, level, place)))
				}
			}
		}
	}
	got := strings.Join(rows, "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmpdiff.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// levelCase returns the verdict, the result and the carrier of a label, and whether the issue has it.
func levelCase(t *testing.T, source, confidence, level, place string) string {
	t.Helper()
	place, panel, _ := strings.Cut(place, "+")
	settings := "automation: " + level
	switch level {
	case "approve":
		settings = "approve: [add_labels]"
	case "proven":
		settings = "automation: earned, earn: {trust: [agent.on_failure]}"
	}
	keys := ""
	switch confidence {
	case "":
	case "suggest":
		keys = ", suggest: true"
	default:
		keys = ", confidence: " + confidence
	}
	src := "policy: {" + settings + ", suggestions: " + place + "}\n"
	switch source {
	case "rule":
		src += "rules:\n  - {id: r, on: issues.edited, then: [{add_label: {label: bug" + keys + "}}]}\n"
	case "on_failure":
		src += "agent: {on_failure: {add_label: bug}}\n"
	default:
		src += "agent: {when: true, name: triage}\n"
	}
	p := newProposalStory(t, src)
	if level == "proven" {
		name := map[string]string{"rule": "r", "agent": "agent:triage", "on_failure": "agent:other"}[source]
		p.earn(name + " add_label " + strings.Repeat("k", 20) + " bug")
	}
	if p.repo.UnlabelAs("mona", 1, "docs"); panel != "" {
		p.repo.SetAutomation(githubtest.FullAutomation).LabelAs("mona", 1, "docs").UnlabelAs("mona", 1, "docs")
	}
	if panel == "old" {
		p.repo.SetAutomation(githubtest.AutomationApplies)
	}
	if source == "on_failure" {
		p.o.Agent.Agent = agentFunc(func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
			return protocol.DecisionMessage{}, errors.New("no answer")
		})
	}
	p.actions = []string{strings.NewReplacer(", suggest", `,"suggest"`, ", confidence: ", `,"confidence":"`, "LABEL", `"bug"`).Replace(`{"type":"add_label","label":LABEL` + keys)}
	if strings.Contains(keys, "confidence") {
		p.actions[0] += `"`
	}
	p.actions[0] += "}"
	p.run("edited", "octocat", triage.Comment{}, "")
	a := p.last.Actions[0]
	i := p.gh.Issue(repoName, 1)
	return strings.TrimSpace(fmt.Sprintf("%-8s %-9s %-8s %s", a.Verdict, a.State, cmp.Or(string(a.Carrier), "-"), strings.Join(i.Labels, " ")))
}

type flaky struct {
	memory.Store
	n     int
	saves int
	done  int
}

func (f *flaky) Save(ctx context.Context, r memory.Record) error {
	f.done++
	if f.saves > 0 && f.done == f.saves+1 {
		return fmt.Errorf("killed")
	}
	return f.Store.Save(ctx, r)
}

func (f *flaky) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	if f.n > 0 {
		f.n--
		return memory.Record{}, fmt.Errorf("the service is down")
	}
	return f.Store.Load(ctx, repo, issue)
}

// TestProposalsUnpublished lets GitHub refuse the comment with the proposals.
func TestProposalsUnpublished(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		fault githubtest.Fault
		want  string
	}{
		{"down", githubtest.Fault{Status: 500, Times: 100}, "ERROR post the comment with the proposals"},
		{"locked", githubtest.Fault{Status: 403, Times: 100, Body: `{"message":"Unable to create comment because issue is locked."}`}, "warning: the comment with the proposals cannot be written"},
	} {
		p := newProposalStory(t, "rules:\n  - {id: crash, on: issues.opened, then: [{lock: {reason: spam, suggest: true}}]}\n")
		tt.fault.Method, tt.fault.Path = "POST", "/repos/"+repoName+"/issues/1/comments"
		p.gh.Fault(tt.fault)
		p.tell("opened")
		if got := p.b.String(); !strings.Contains(got, tt.want) || strings.Contains(got, "ERROR") == strings.Contains(got, "warning") {
			t.Errorf("%s: got\n%s", tt.name, got)
		}
		p.gh.ClearFaults()
		p.now = p.now.Add(time.Hour)
		p.tell("sweep")
		if got := p.b.String(); !strings.Contains(got, "- [ ] **1** lock as spam") {
			t.Errorf("%s: the scheduled run does not show the proposal\n%s", tt.name, got)
		}
	}
}
