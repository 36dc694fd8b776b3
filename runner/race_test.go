package runner_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

var races = flag.Int("races", 1000, "on how many issues a person and runs race")

// A proposalRace is an issue that a person changes while runs propose and apply labels. It carries the calls of
// the runs to the server, without a connection. The person acts before each call.
type proposalRace struct {
	*testing.T
	*rand.Rand

	gh     *githubtest.Server
	repo   *githubtest.Repo
	number int
	now    time.Time
	o      options
	policy policy.Policy
	answer []protocol.ActionItem

	people map[string]bool // labels and assignees that a person set, and that no person removed
	yes    bool            // a person accepted all proposals by a command
	acts   []string

	lost, unasked, runs int
	suggested, undone   int
}

// RoundTrip implements http.RoundTripper.
func (r *proposalRace) RoundTrip(req *http.Request) (*http.Response, error) {
	r.act()
	w := httptest.NewRecorder()
	if req.Body == nil {
		req.Body = http.NoBody
	}
	r.gh.ServeHTTP(w, req)
	r.acts = append(r.acts, fmt.Sprintf("  %s %s %d", req.Method, req.URL.Path, w.Code))
	if req.Method == http.MethodDelete {
		r.undone++
	}
	r.check()
	res := w.Result()
	res.Request = req
	return res, nil
}

// check looks for what a person set, and is gone.
func (r *proposalRace) check() {
	i := r.gh.Issue(repoName, r.number)
	for name := range r.people {
		if !slices.Contains(i.Labels, name) && !slices.Contains(i.Assignees, name) {
			r.lost++
			delete(r.people, name)
			r.Errorf("issue %d: %q of a person is gone\n%s", r.number, name, strings.Join(r.acts, "\n"))
		}
	}
}

// act lets a person change one thing, or the level of the repository.
func (r *proposalRace) act() {
	if r.IntN(3) > 0 {
		return
	}
	i := r.gh.Issue(repoName, r.number)
	label := []string{"a", "b", "c", "d"}[r.IntN(4)]
	switch r.IntN(6) {
	case 0, 1:
		if !slices.Contains(i.Labels, label) { // else GitHub does nothing
			r.repo.LabelAs("mona", r.number, label)
			r.people[label] = true
			r.tell("mona labels %s", label)
		}
	case 2:
		if slices.Contains(i.Labels, label) {
			r.repo.UnlabelAs("mona", r.number, label)
			delete(r.people, label)
			r.tell("mona unlabels %s", label)
		}
	case 3:
		if !slices.Contains(i.Assignees, "alice") {
			r.repo.AssignAs("mona", r.number, "alice")
			r.people["alice"] = true
			r.tell("mona assigns alice")
		}
	case 4:
		level := r.level()
		r.repo.SetAutomation(level)
		r.tell("the level is %v", level)
	case 5:
		if list := i.Suggestions; len(list) > 0 {
			s := list[r.IntN(len(list))]
			if r.IntN(2) == 0 {
				r.repo.RejectAs("mona", r.number, s.Kind, s.Value)
				return
			}
			had := slices.Contains(i.Labels, s.Value) || slices.Contains(i.Assignees, s.Value)
			r.repo.AcceptAs("mona", r.number, s.Kind, s.Value)
			if !had {
				r.people[s.Value] = true
			}
			r.tell("mona accepts %s in the panel", s.Value)
		}
	}
}

func (r *proposalRace) level() githubtest.Automation {
	return []githubtest.Automation{
		githubtest.AutomationOff, githubtest.AutomationApplies, githubtest.FullControl, githubtest.Cautious, githubtest.Balanced, githubtest.FullAutomation,
	}[r.IntN(6)]
}

func (r *proposalRace) tell(format string, args ...any) {
	r.acts = append(r.acts, fmt.Sprintf(format, args...))
}

// decide is the agent.
func (r *proposalRace) decide(_ context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
	return protocol.DecisionMessage{TaskID: task.TaskID, Decision: protocol.LabelAndRespond, Actions: r.answer, Rationale: "r"}, nil
}

// chooses chooses what the agent answers.
func (r *proposalRace) choose() {
	r.answer = nil
	for _, what := range []string{
		`{"type":"add_label","label":"a"`, `{"type":"add_labels","labels":["b","c"]`, `{"type":"add_label","label":"d"`, `{"type":"assign","assignees":["alice"]`,
	} {
		if r.IntN(4) == 0 {
			continue
		}
		what += []string{``, `,"confidence":"low"`, `,"confidence":"medium"`, `,"confidence":"high"`}[r.IntN(4)] + []string{``, ``, `,"suggest":true`}[r.IntN(3)] + "}"
		var item protocol.ActionItem
		if err := json.Unmarshal([]byte(what), &item); err != nil {
			r.Fatal(err)
		}
		r.answer = append(r.answer, item)
	}
}

// run makes a run, and checks what it left.
func (r *proposalRace) run(action string, comment string) {
	i := r.gh.Issue(repoName, r.number)
	labels, assignees := []any{}, []any{}
	for _, name := range i.Labels {
		labels = append(labels, map[string]any{"name": name})
	}
	for _, login := range i.Assignees {
		assignees = append(assignees, map[string]any{"login": login})
	}
	payload := map[string]any{
		"action": action, "repository": map[string]any{"full_name": repoName, "default_branch": "main"}, "sender": map[string]any{"login": "mona", "type": "User"},
		"issue": map[string]any{
			"number": r.number, "title": "T", "body": "B", "state": "open", "user": map[string]any{"login": "octocat", "type": "User"}, "labels": labels,
			"assignees": assignees, "created_at": r.now, "updated_at": r.now,
		},
	}
	name := triage.EventIssues
	if comment != "" {
		name = triage.EventIssueComment
		id := r.repo.AddComment(r.number, "mona", comment)
		payload["comment"] = map[string]any{"id": id, "body": comment, "user": map[string]any{"login": "mona", "type": "User"}, "created_at": r.now, "updated_at": r.now}
	}
	data, err := json.Marshal(payload)
	if err != nil {
		r.Fatal(err)
	}
	d, err := triage.ParseEvent(triage.EventSource{Name: name, Payload: data})
	if err != nil {
		r.Fatal(err)
	}
	r.runs++
	r.tell("run: %s %s, automation %s, suggestions %s, answer %v", action, comment, r.policy.Automation, r.policy.Suggestions, r.answer)
	r.o.Task = runner.TaskIdentity{ID: protocol.DeriveTaskID("race", strconv.Itoa(r.number), strconv.Itoa(r.runs)), First: true}
	rep, err := run(r.T, r.o, d)
	if err != nil {
		r.Errorf("issue %d: %v\n%s", r.number, err, strings.Join(r.acts, "\n"))
	}
	r.suggested += rep.Suggested
	r.check()
	r.act()
	r.now = r.now.Add(time.Minute)
	i = r.gh.Issue(repoName, r.number)
	for _, name := range append(i.Labels, i.Assignees...) {
		if !r.people[name] && !r.yes && !r.permitted(name) {
			r.unasked++
			r.Errorf("issue %d: %q was applied without a yes\n%s", r.number, name, strings.Join(r.acts, "\n"))
		}
	}
}

// permitted reports whether the policy permits an action of the agent on a name without a yes.
func (r *proposalRace) permitted(name string) bool {
	return slices.ContainsFunc(r.answer, func(item protocol.ActionItem) bool {
		in, err := item.Intent()
		if err != nil {
			r.Fatal(err)
		}
		if in.Confidence == "" {
			in.Confidence = protocol.ConfidenceMedium
		}
		return slices.Contains(memory.NewAction(0, item).Values, name) && !r.policy.Proposes(item.Type, in.Confidence, in.Suggest)
	})
}

// TestProposalRaces makes races, 1,000 without a flag, of a person with runs that propose labels and assignees, and apply
// them, whatever the level of GitHub's panel is at a time; it may be off, or apply what is only proposed. No label
// of the person is ever removed, and at the end of a run nothing is left that neither the policy permits nor a
// person accepted. Between two calls the person makes one change: nothing can prevent that a run that takes back
// what GitHub should not have applied removes a label which a person removes and adds again at that moment.
func TestProposalRaces(t *testing.T) {
	t.Parallel()
	gh := githubtest.New(t, githubtest.Config{SkipValidation: true})
	r := &proposalRace{T: t, gh: gh, repo: gh.Repo(repoName).AddLabel("a", "b", "c", "d").AddUser("alice", "octocat").SetPermission("mona", "admin")}
	host, err := github.New(github.Options{BaseURL: gh.URL, Token: "t", Sleep: noSleep, Transport: r})
	if err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return r.now }
	for r.number = 1; r.number <= *races && !t.Failed(); r.number++ {
		r.Rand, r.people, r.yes, r.acts, r.now = rand.New(rand.NewPCG(53_654, uint64(r.number))), map[string]bool{}, false, nil, time.Now()
		src := fmt.Sprintf("version: 1\npolicy: {automation: %s, suggestions: %s, limits: {add_label: 10}}\nagent: {when: true}\n",
			policy.Automations()[r.IntN(4)], policy.AllSuggestions()[r.IntN(3)])
		c, err := config.Parse("foreman.yml", []byte(src), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.policy = c.Policy
		r.o = options{Options: runner.Options{Config: c, Host: runner.HostOf(host), Clock: runner.Clock{Now: clock, Sleep: noSleep}}}
		r.o.Agent = runner.AgentOptions{Name: "http://agent/task", Agent: agentFunc(r.decide)}
		keepIn(&r.o, memory.New())
		r.repo.AddIssue(githubtest.Issue{Number: r.number}).SetAutomation(r.level())
		r.choose()
		r.run("opened", "")
		if r.IntN(2) == 0 {
			r.run("edited", "")
		}
		if r.IntN(4) == 0 {
			r.yes = true
			r.run("created", "/foreman accept all")
		}
	}
	t.Logf("%d runs, %d proposals, %d labels taken back: %d lost, %d without a yes", r.runs, r.suggested, r.undone, r.lost, r.unasked)
}
