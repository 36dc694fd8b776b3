package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// agentFunc is a function that implements runner.Agent.
type agentFunc func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error)

func (f agentFunc) Decide(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
	return f(ctx, task)
}

// answers returns an agent that always gives the same decision, and counts in asked how often it is
// asked.
func answers(asked *int, decision protocol.DecisionType, actions ...string) agentFunc {
	return func(_ context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
		*asked++
		m := protocol.DecisionMessage{TaskID: task.TaskID, Decision: decision, Rationale: "the agent says so"}
		for _, a := range actions {
			var item protocol.ActionItem
			if err := json.Unmarshal([]byte(a), &item); err != nil {
				return m, err
			}
			m.Actions = append(m.Actions, item)
		}
		return m, nil
	}
}

const (
	runTask   = "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d"
	labelDocs = `{"type":"add_label","label":"docs"}`
	hello     = `{"type":"comment","body":"hello"}`
)

// world returns a fake GitHub with issue 1, the event of the issue's opening, and options for a
// Runner that uses the fake.
func world(t *testing.T, src string) (*githubtest.Server, triage.Delivery, options) {
	t.Helper()
	gh := githubtest.New(t, githubtest.Config{})
	gh.Repo("Codertocat/Hello-World").AddLabel("bug", "docs", "triage").AddIssue(githubtest.Issue{Number: 1, Labels: []string{"bug"}})
	host, err := github.New(github.Options{BaseURL: gh.URL, Token: "t", Sleep: noSleep})
	if err != nil {
		t.Fatal(err)
	}
	payload, err := os.ReadFile("../testdata/events/issues/opened.payload.json")
	if err != nil {
		t.Fatal(err)
	}
	e, err := triage.ParseEvent(triage.EventSource{Payload: payload})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC)
	e.Issue.CreatedAt, e.Issue.UpdatedAt = now, now
	c, err := config.Parse("foreman.yml", []byte("version: 1\n"+src), nil)
	if err != nil {
		t.Fatal(err)
	}
	return gh, e, options{Task: runner.TaskIdentity{ID: runTask, First: true}, Options: runner.Options{
		Config: c, Host: runner.HostOf(host), Agent: runner.AgentOptions{Name: "http://agent/task"},
		Clock: runner.Clock{Now: func() time.Time { return now }, Sleep: noSleep}, Live: true,
	}}
}

// options are those of a Runner and of the task that it handles.
type options struct {
	runner.Options

	Task runner.TaskIdentity
}

// keepIn makes a Runner use a store as its memory.
func keepIn(o *options, store memory.Store) {
	o.Memory.Store = store
	o.Memory.Agenda, _ = store.(memory.Agenda)
}

func noSleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func run(t *testing.T, o options, e triage.Delivery) (runner.Report, error) {
	t.Helper()
	r, err := runner.New(o.Options)
	if err != nil {
		t.Fatal(err)
	}
	return r.Run(t.Context(), o.Task, e)
}

// TestWhoDecides checks when a run asks the agent, and how it combines the agent's decision with
// that of the rules.
func TestWhoDecides(t *testing.T) {
	t.Parallel()
	const fires = "rules:\n  - {id: r, on: issues.opened, then: [{add_label: triage}]}\n"
	const stops = "rules:\n  - {id: r, on: issues.opened, stop: true, then: [{add_label: triage}]}\n"
	const escalates = "rules:\n  - {id: r, on: issues.opened, then: [escalate]}\n"
	const never = "rules:\n  - {id: r, on: issues.closed, then: [{add_label: triage}]}\n"
	const always = "agent: {when: true}\n"
	tests := []struct {
		name, config string
		agent        protocol.DecisionType
		asked        int
		decision     protocol.DecisionType
		by           string
		labels       string
	}{
		{"no rules", "", protocol.LabelAndRespond, 1, protocol.LabelAndRespond, "http://agent/task", "bug docs"},
		{"no rule fired", never, protocol.LabelAndRespond, 1, protocol.LabelAndRespond, "http://agent/task", "bug docs"},
		{"a rule fired", fires, protocol.LabelAndRespond, 0, protocol.LabelAndRespond, "rules", "bug triage"},
		{"both", fires + always, protocol.LabelAndRespond, 1, protocol.LabelAndRespond, "rules, http://agent/task", "bug docs triage"},
		{"both, agent skips", fires + always, protocol.Skip, 1, protocol.LabelAndRespond, "rules, http://agent/task", "bug triage"},
		{"both, agent escalates", fires + always, protocol.Escalate, 1, protocol.Escalate, "rules, http://agent/task", "bug"},
		{"a rule stopped", stops + always, protocol.LabelAndRespond, 0, protocol.LabelAndRespond, "rules", "bug triage"},
		{"a rule escalated", escalates + always, protocol.LabelAndRespond, 0, protocol.Escalate, "rules", "bug"},
		{"not when", "agent: {when: label(\"absent\")}\n", protocol.LabelAndRespond, 0, protocol.Skip, "rules", "bug"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, tt.config)
			asked := 0
			o.Agent.Agent = answers(&asked, tt.agent, labelDocs)
			rep, err := run(t, o, e)
			if err != nil {
				t.Fatal(err)
			}
			labels := gh.Issue("Codertocat/Hello-World", 1).Labels
			slices.Sort(labels)
			if asked != tt.asked || rep.Decision != tt.decision || rep.By != tt.by || strings.Join(labels, " ") != tt.labels {
				t.Errorf("got asked %d, %s by %q, labels %v; want %d, %s by %q, %s",
					asked, rep.Decision, rep.By, labels, tt.asked, tt.decision, tt.by, tt.labels)
			}
		})
	}
}

// TestAgentAndPulls checks that an agent is asked about pull requests only if agent.when decides it.
func TestAgentAndPulls(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]int{"": 0, "agent: {when: true}\n": 1} {
		_, _, o := world(t, src)
		asked := 0
		o.Agent.Agent = answers(&asked, protocol.Skip)
		if rep, err := run(t, o, pullOpened(t, o.Clock.Now())); err != nil || asked != want {
			t.Errorf("%q: got %v, asked %d times, want %d: %+v", src, err, asked, want, rep)
		}
	}
}

// TestDispatchOfPull checks that a pull request with the number of a dispatch is skipped, and that a
// scheduled run without an issue is an error.
func TestDispatchOfPull(t *testing.T) {
	t.Parallel()
	gh, _, o := world(t, "rules:\n  - {id: r, on: workflow_dispatch, then: [{add_label: docs}]}\n")
	gh.Repo(repoName).AddIssue(githubtest.Issue{Number: 7, PullRequest: true})
	for name, want := range map[string]string{triage.EventWorkflowDispatch: "#7 is a pull request", triage.EventSchedule: "use Sweep"} {
		e, err := triage.ParseEvent(triage.EventSource{Name: name, Repo: repoName, Issue: 7, Payload: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		rep, err := run(t, o, e)
		if got := fmt.Sprint(err, rep.Reason); !strings.Contains(got, want) || (err == nil) != (rep.Status == runner.StatusSkipped) || rep.Executed != 0 {
			t.Errorf("%s: got %s, %+v", name, got, rep)
		}
	}
}

// TestAgentFails checks the result of each kind of failure of the agent.
func TestAgentFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, config string
		status       runner.Status
		fails        bool
		labels       string
	}{
		{"fail by default", "", runner.StatusFailed, true, "bug"},
		{"fail", "agent: {on_failure: fail}", runner.StatusFailed, true, "bug"},
		{"skip", "agent: {on_failure: skip}", runner.StatusSkipped, false, "bug"},
		{"label", "agent: {on_failure: {add_label: triage}}", runner.StatusApplied, false, "bug triage"},
	}
	broken := errors.New("the agent is on fire")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, tt.config)
			o.Agent.Agent = agentFunc(func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
				return protocol.DecisionMessage{}, broken
			})
			rep, err := run(t, o, e)
			if rep.Status != tt.status || (err != nil) != tt.fails || tt.fails && !errors.Is(err, broken) {
				t.Errorf("got %s, %v, want %s", rep.Status, err, tt.status)
			}
			if !strings.Contains(rep.Rationale+rep.Reason, "on fire") {
				t.Errorf("the reason is missing from %+v", rep)
			}
			if got := strings.Join(gh.Issue("Codertocat/Hello-World", 1).Labels, " "); got != tt.labels {
				t.Errorf("got labels %s, want %s", got, tt.labels)
			}
		})
	}
}

// TestAgentFailsBesideRules checks that the report contains the rules' result even if the agent
// fails.
func TestAgentFailsBesideRules(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, "agent: {when: true}\nrules:\n  - {id: r, on: issues.opened, then: [{add_label: docs}]}\n")
	o.Agent.Agent = agentFunc(func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
		return protocol.DecisionMessage{}, errors.New("no answer")
	})
	rep, err := run(t, o, e)
	if err == nil || rep.Rules == nil || !slices.Equal(rep.Fired(), []string{"r"}) {
		t.Errorf("got rules %+v, error %v, want that r fired", rep.Rules, err)
	}
	if rep.Decision != "" || rep.By != "" || len(rep.Actions) != 0 {
		t.Errorf("got %s by %q with %d actions, want no decision", rep.Decision, rep.By, len(rep.Actions))
	}
}

// TestAgentOfAnotherTask checks that a decision for another task is refused.
func TestAgentOfAnotherTask(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "")
	o.Agent.Agent = agentFunc(func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
		return protocol.DecisionMessage{TaskID: "another", Decision: protocol.LabelAndRespond}, nil
	})
	_, err := run(t, o, e)
	if _, ok := errors.AsType[*runner.AgentError](err); !ok || !strings.Contains(err.Error(), `"another"`) {
		t.Errorf("got error %v", err)
	}
	if calls := gh.Log(); len(calls) != 0 {
		t.Errorf("got calls %v", calls)
	}
}

// TestAuditComesFirst checks that the decision is recorded before the first call that acts on it,
// and that a failure to record it stops the run.
func TestAuditComesFirst(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{add_label: docs}, close_issue]}\n")
	var record runner.Audit
	o.Audit = func(a runner.Audit) error {
		if calls := gh.Log(); len(calls) != 0 {
			t.Errorf("calls before the record: %v", calls)
		}
		record = a
		return nil
	}
	if _, err := run(t, o, e); err != nil {
		t.Fatal(err)
	}
	line, err := record.Line()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"foreman":"audit","version":1,"time":"2026-04-10T12:00:00Z","task_id":"` + runTask + `","repo":"Codertocat/Hello-World","issue":1,"event":"issues.opened","decision":"close","rationale":"rules fired: r","by":"rules","dry_run":false,"actions":[{"index":0,"action":{"type":"add_label","label":"docs"},"source":"rule r","verdict":"do"},{"index":1,"action":{"type":"close_issue"},"source":"rule r","verdict":"skip","reason":"closing is not allowed: policy.allow_close (input allow-close) is false"}]}`
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	gh.ResetCalls()
	full := errors.New("the disk is full")
	o.Audit = func(runner.Audit) error { return full }
	rep, err := run(t, o, e)
	if !errors.Is(err, full) || rep.Status != runner.StatusFailed || len(gh.Log()) != 0 {
		t.Errorf("got %v, %s, calls %v", err, rep.Status, gh.Log())
	}
}

// TestAuditLineIsSafe checks that workflow commands in a record are escaped.
func TestAuditLineIsSafe(t *testing.T) {
	t.Parallel()
	a := runner.Audit{Report: runner.Report{Rationale: "x\n::error::y ##[group]z \u2028 <b>\x00"}}
	line, err := a.Line()
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(line, "\n\r\x00") || strings.Contains(line, "##[") || strings.Contains(line, "::") {
		t.Errorf("got %q", line)
	}
	var back runner.Report
	if err := json.Unmarshal([]byte(line), &back); err != nil || back.Rationale != a.Report.Rationale {
		t.Errorf("got %q, error %v, want %q", back.Rationale, err, a.Report.Rationale)
	}
}

// TestNewWants checks that New refuses options with which a run would panic or fail later, and that the
// error names the option.
func TestNewWants(t *testing.T) {
	t.Parallel()
	_, _, o := world(t, "")
	tests := []struct {
		name, want string // want: the option; empty: New accepts the options
		set        func(*runner.Options)
	}{
		{"complete", "", func(*runner.Options) {}},
		{"the zero value", "Options.Host.Issues", func(o *runner.Options) { *o = runner.Options{} }},
		{"no host in a dry run", "", func(o *runner.Options) { o.Host, o.DryRun = runner.Host{}, true }},
		{"no host in shadow mode", "", func(o *runner.Options) { o.Host, o.Config = runner.Host{}, &config.Config{Mode: config.ModeShadow} }},
		{"issues alone", "Options.Host.Repository", func(o *runner.Options) { o.Host.Repository = nil }},
		{"issues alone in a dry run", "Options.Host.Repository", func(o *runner.Options) { o.Host.Repository, o.DryRun = nil, true }},
		{"no search", "", func(o *runner.Options) { o.Host.Search = nil }},
		{"no configuration", "", func(o *runner.Options) { o.Config = nil }},
		{"no memory", "", func(o *runner.Options) { o.Memory = runner.Memory{Required: true} }},
	}
	for _, tt := range tests {
		set := o.Options
		tt.set(&set)
		if _, err := runner.New(set); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want+" is nil") {
			t.Errorf("%s: got %v, want an error that names %q", tt.name, err, tt.want)
		}
	}
}

// TestNeedsHost checks that a Runner without a host can plan but not write.
func TestNeedsHost(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{add_label: docs}]}\n")
	o.Host = runner.Host{}
	if _, err := runner.New(o.Options); !errors.Is(err, triage.ErrNeedsHost) {
		t.Errorf("got %v, want ErrNeedsHost", err)
	}
	o.DryRun = true
	rep, err := run(t, o, e)
	if err != nil || rep.Status != runner.StatusDryRun || rep.Actions[0].State != triage.Planned {
		t.Errorf("got %+v, %v", rep, err)
	}
	late, issue := e, *e.Issue
	issue.UpdatedAt = o.Clock.Now().Add(-time.Hour)
	late.Issue = &issue
	if rep, err := run(t, o, late); err != nil || rep.Status != runner.StatusDryRun || rep.ReadAgain != "" {
		t.Errorf("a late event: got %+v, %v", rep, err)
	}
	bare, err := triage.ParseEvent(triage.EventSource{Name: triage.EventWorkflowDispatch, Repo: "o/r", Issue: 1, Payload: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, o, bare); !errors.Is(err, triage.ErrNeedsHost) {
		t.Errorf("got %v, want ErrNeedsHost", err)
	}
}

// TestMemory checks that the agent of the second run gets a summary of the first run.
func TestMemory(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, "")
	store, err := file.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	keepIn(&o, store)
	var told []*string
	o.Agent.Agent = agentFunc(func(_ context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
		told = append(told, task.Context.MemorySummary)
		asked := 0
		return answers(&asked, protocol.LabelAndRespond, labelDocs, hello)(t.Context(), task)
	})
	o.DryRun = true
	if _, err := run(t, o, e); err != nil {
		t.Fatal(err)
	}
	o.DryRun = false
	if _, err := run(t, o, e); err != nil {
		t.Fatal(err)
	}
	e.Action, o.Task.ID = "reopened", "b3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d"
	if _, err := run(t, o, e); err != nil {
		t.Fatal(err)
	}
	late := o
	late.DryRun, late.Task.ID = true, "c3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d"
	late.Clock.Now = func() time.Time { return o.Clock.Now().Add(memory.AnswerWindow) }
	if _, err := run(t, late, e); err != nil {
		t.Fatal(err)
	}
	if told[3] == nil || !strings.Contains(*told[3], "replied") || strings.Contains(*told[3], "commented") {
		t.Errorf("a day later: got %v", *told[3])
	}
	if told[0] != nil || told[1] != nil {
		t.Errorf("a first meeting and a dry run leave nothing to tell, got %v", told[:2])
	}
	if told[2] == nil || !strings.Contains(*told[2], "docs") || !strings.Contains(*told[2], "commented") {
		t.Errorf("got %v", told[2])
	}
	rec, err := store.Load(t.Context(), "Codertocat/Hello-World", 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Tasks) != 2 || rec.Tasks[0].ID != runTask || rec.Tasks[0].By != "http://agent/task" {
		t.Errorf("got %+v", rec)
	}
}

// TestSummarize checks that the agent gets the summary of Options.Memory.Summarize.
func TestSummarize(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, "")
	keepIn(&o, memory.New())
	o.Memory.Summarize = func(_ context.Context, r memory.Record) (string, bool) { return "a summary of " + r.Repo, true }
	got := "none"
	o.Agent.Agent = agentFunc(func(_ context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
		if task.Context.MemorySummary != nil {
			got = *task.Context.MemorySummary
		}
		return protocol.DecisionMessage{TaskID: task.TaskID, Decision: protocol.Skip}, nil
	})
	if _, err := run(t, o, e); err != nil || got != "a summary of "+repoName {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestNoDeferral checks why actions that a later run carries out are refused. A dry run refuses none,
// because the memory of the real run may be another.
func TestNoDeferral(t *testing.T) {
	t.Parallel()
	const noMemory, noSchedule = "no memory is configured", "no scheduled run would carry it out"
	tests := []struct {
		name           string
		change         func(*options)
		never, closing string // reasons for the refusals of never_again and of a scheduled close
	}{
		{"memory", func(*options) {}, "", "to be closed after 72h"},
		{"no memory", func(o *options) { o.Memory = runner.Memory{} }, noMemory, noMemory},
		{"discards", func(o *options) { o.Memory.Discards = true }, noMemory, noMemory},
		{"read-only", func(o *options) { o.Memory.ReadOnly = true }, "the memory is read-only", "the memory is read-only"},
		{"unscheduled", func(o *options) { o.Memory.Unscheduled = true }, "", noSchedule},
		{"no agenda", func(o *options) { o.Memory.Agenda = nil }, "", "later runs cannot read this memory"},
		{"dry run", func(o *options) { o.Memory, o.DryRun = runner.Memory{}, true }, "", "to be closed after 72h"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, e, o := world(t, "policy: {allow_close: true}\nrules:\n  - {id: r, on: issues.opened, then: [{never_again: docs}]}\n"+
				"  - {id: s, on: issues.opened, then: [{close_issue: {after: 72h}}]}\n")
			keepIn(&o, memory.New())
			tt.change(&o)
			rep, err := run(t, o, e)
			if err != nil || len(rep.Actions) != 2 {
				t.Fatalf("got %v, %+v", err, rep.Actions)
			}
			for i, want := range []string{tt.never, tt.closing} {
				if a := rep.Actions[i]; !strings.HasPrefix(a.Reason, want) || (want == "") != (a.Reason == "") {
					t.Errorf("%s: got %s because %q, want %q", a.Action.Type, a.State, a.Reason, want)
				}
			}
		})
	}
}

// badStore is a store whose methods all fail.
type badStore struct{}

func (badStore) Load(context.Context, string, int) (memory.Record, error) {
	return memory.Record{}, errors.New("no memory today")
}
func (badStore) Save(context.Context, memory.Record) error { return errors.New("no memory today") }

// TestMemoryFails checks that a run continues without the memory, and warns once. For an issue that
// was just opened nothing is read, so only saving fails.
func TestMemoryFails(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{add_label: docs}]}\n")
	keepIn(&o, badStore{})
	rep, err := run(t, o, e)
	if err != nil || rep.Status != runner.StatusApplied || len(rep.Warnings) != 1 {
		t.Errorf("got %s, %v, warnings %v", rep.Status, err, rep.Warnings)
	}
	asked := 0
	o.Agent.Agent = answers(&asked, protocol.Skip)
	o.Config.Rules = nil
	e.Action = "reopened"
	rep, err = run(t, o, e)
	if err != nil || asked != 1 || len(rep.Warnings) != 1 || !strings.Contains(rep.Warnings[0], "timeline") {
		t.Errorf("got %v, asked %d, warnings %v", err, asked, rep.Warnings)
	}
	if got := gh.Issue("Codertocat/Hello-World", 1).Labels; len(got) != 2 {
		t.Errorf("got labels %v", got)
	}
}

// TestBotLoginWarning checks the warning for a token that posts under another login than the
// configured one.
func TestBotLoginWarning(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{comment: hello}]}\n")
	o.Host.Login = "my-bot"
	rep, err := run(t, o, e)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Warnings) != 1 || !strings.Contains(rep.Warnings[0], "github-actions[bot]") || !strings.Contains(rep.Warnings[0], "bot-login") {
		t.Errorf("got warnings %q", rep.Warnings)
	}
	if rep.CommentURL == "" {
		t.Error("the comment's address is missing")
	}
}

// TestCancelled checks that no further call is made after the run is asked to stop.
func TestCancelled(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	o.Agent.Agent = agentFunc(func(ctx context.Context, _ protocol.TaskMessage) (protocol.DecisionMessage, error) {
		cancel()
		return protocol.DecisionMessage{}, ctx.Err()
	})
	o.Config.Agent.OnFailure = config.OnFailure{Set: true, Skip: true}
	r, err := runner.New(o.Options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(ctx, o.Task, e); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want a cancellation: it is no failure of the agent", err)
	}
	if len(gh.Log()) != 0 {
		t.Errorf("got calls %v", gh.Log())
	}
}

// TestTaskIdentity checks that the error for an unusable identity names its field, and that nothing is
// read then. A dry run needs no id.
func TestTaskIdentity(t *testing.T) {
	t.Parallel()
	for field, id := range map[string]runner.TaskIdentity{
		"TaskIdentity.ID":    {},
		"TaskIdentity.Scope": {ID: runTask, Scope: "a b"},
		"TaskIdentity.Nonce": {ID: runTask, Nonce: "a b"},
	} {
		gh, e, o := world(t, "")
		r, err := runner.New(o.Options)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := r.Run(t.Context(), id, e)
		_, applied := r.Apply(t.Context(), id, e, nil)
		_, commented := r.Comment(t.Context(), id, e, "key", "hello")
		survey, swept := r.Sweep(t.Context(), id, e)
		for _, err := range []error{err, applied, commented, swept} {
			if err == nil || !strings.Contains(err.Error(), field) {
				t.Errorf("got %v, want an error that names %s", err, field)
			}
		}
		if rep.Status != runner.StatusFailed || survey.Status != runner.StatusFailed || len(gh.Log()) > 0 {
			t.Errorf("%s: got %s, %s, calls %q", field, rep.Status, survey.Status, gh.Log())
		}
	}
	_, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{add_label: docs}]}\n")
	o.DryRun, o.Task = true, runner.TaskIdentity{}
	first, err := run(t, o, e)
	if err != nil || first.TaskID == "" || first.Status != runner.StatusDryRun {
		t.Fatalf("got %v, %+v", err, first)
	}
	if again, _ := run(t, o, e); again.TaskID != first.TaskID {
		t.Errorf("got the ids %s and %s of one event", first.TaskID, again.TaskID)
	}
	e.Number, e.Issue.Number = 2, 2
	if other, _ := run(t, o, e); other.TaskID == first.TaskID {
		t.Error("another event has the same id")
	}
}

// TestTwoEvents checks that a Runner with a journal decides on each of two events.
func TestTwoEvents(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: a, on: issues.opened, then: [{add_label: docs}]}\n  - {id: b, on: issues.reopened, then: [{add_label: triage}]}\n")
	o.Memory.Journal = memory.NewJournal()
	r, err := runner.New(o.Options)
	if err != nil {
		t.Fatal(err)
	}
	for action, label := range map[string]string{"opened": "docs", "reopened": "triage"} {
		e.Action, o.Task.ID = action, protocol.DeriveTaskID(action)
		rep, err := r.Run(t.Context(), o.Task, e)
		if err != nil || rep.TaskID != o.Task.ID || !slices.Contains(gh.Issue(repoName, 1).Labels, label) {
			t.Errorf("%s: got %v, %+v, labels %q", action, err, rep, gh.Issue(repoName, 1).Labels)
		}
	}
}

// TestOnceByDefault handles an event twice, with the same id and nothing else set: the second attempt
// finds the comment of the first, and posts none.
func TestOnceByDefault(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{comment: hello}]}\n")
	r, err := runner.New(o.Options)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if rep, err := r.Run(t.Context(), runner.TaskIdentity{ID: runTask}, e); err != nil || rep.Executed != 1 {
			t.Errorf("got %v, %+v", err, rep.Actions)
		}
	}
	if got := gh.Issue(repoName, 1).Comments; len(got) != 1 {
		t.Errorf("got %d comments, want 1", len(got))
	}
}
