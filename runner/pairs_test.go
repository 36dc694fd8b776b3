package runner_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// versioned returns an agent that answers with these actions and names its version.
func versioned(t *testing.T, version string, actions ...string) agentFunc {
	t.Helper()
	return func(_ context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
		m := protocol.DecisionMessage{TaskID: task.TaskID, Decision: protocol.LabelAndRespond, AgentVersion: version}
		err := json.Unmarshal([]byte("["+strings.Join(actions, ",")+"]"), &m.Actions)
		return m, err
	}
}

// recordOf loads the record of the issue of [world].
func recordOf(t *testing.T, store memory.Store) memory.Record {
	t.Helper()
	r, err := store.Load(t.Context(), journalRepo, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// digests returns the digests of the actions that the rules of a configuration decide for an event.
func digests(t *testing.T, c *config.Config, e triage.Delivery) []string {
	t.Helper()
	res, err := c.Rules.Decide(t.Context(), facts.Of(e, time.Time{}))
	if err != nil {
		t.Fatal(err)
	}
	return res.Digests
}

// Each recorded action has the source of its track record.
func TestPairsOfActions(t *testing.T) {
	t.Parallel()
	const rule = "rules:\n  - {id: r, on: issues.opened, then: [{add_label: triage}, {comment: Thanks}]}\n"
	tests := []struct {
		name, config, record, version string
		want                          func(of []string) []string
	}{
		{"rule and agent", rule + "agent: {url: 'https://a.example', when: true}\n", "Triage", "v1.2", func(of []string) []string {
			return []string{"rule:" + of[0], "rule:" + of[1], "agent:triage@v1.2"}
		}},
		{"an agent without a version", "", "triage", "", func([]string) []string { return []string{"agent:triage"} }},
		{"its model", "llm: {provider: openai, model: 'gpt@5 x'}\n", "triage", "", func([]string) []string {
			return []string{"agent:triage@openai/gpt-5-x"}
		}},
		{"the version wins", "llm: {provider: openai, model: gpt}\n", "triage", "7", func([]string) []string { return []string{"agent:triage@7"} }},
		{"an agent without a name", "", "", "7", func([]string) []string { return []string{""} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, e, o := world(t, tt.config)
			store := memory.New()
			keepIn(&o, store)
			o.Agent.Record, o.Agent.Agent = tt.record, versioned(t, tt.version, labelDocs)
			if rep, err := run(t, o, e); err != nil {
				t.Fatalf("got %+v, %v", rep, err)
			}
			if diff := cmp.Diff(tt.want(digests(t, o.Config, e)), pairsOf(recordOf(t, store).Tasks[0])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A resumed decision has the sources of the attempt that decided it, although the rule and the agent
// changed since, or the rule is gone.
func TestPairsOfResumed(t *testing.T) {
	t.Parallel()
	const rule = "rules:\n  - {id: r, on: issues.opened, when: issue.number == 1, then: [{add_label: docs}, {comment: Thanks}]}\n"
	for name, later := range map[string]string{"changed": strings.Replace(rule, "== 1", "> 0", 1), "gone": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, rule+"agent: {when: true}\n")
			store := memory.New()
			keepIn(&o, store)
			o.Memory.Journal = memory.NewJournal()
			o.Agent.Record, o.Agent.Agent = "triage", versioned(t, "1", `{"type":"add_label","label":"triage"}`)
			gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/*/*/issues/1/comments", Times: 1, Status: 422})
			if rep, err := run(t, o, e); err == nil {
				t.Fatalf("the first attempt went through: %+v", rep)
			}
			of := digests(t, o.Config, e)
			o.Config, o.Task.First = parsed(t, later+"agent: {when: true}\n"), false
			o.Agent.Agent = versioned(t, "2", `{"type":"add_label","label":"triage"}`)
			if _, err := run(t, o, e); err != nil {
				t.Fatal(err)
			}
			want := []string{"rule:" + of[0], "rule:" + of[1], "agent:triage@1"}
			if diff := cmp.Diff(want, pairsOf(recordOf(t, store).Tasks[0])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What was proposed or scheduled has the source that proposed or scheduled it, although the rule changed
// before it is carried out.
func TestPairsOfDeferred(t *testing.T) {
	t.Parallel()
	const policy = "policy: {allow_close: true, automation: full_control, suggestion_ttl: 30d}\n"
	const rule = "rules:\n  - {id: r, on: issues.labeled, when: issue.number == 1, then: [{add_label: docs}, {close_issue: {after: 72h}}]}\n"
	s := newStory(t, policy+rule)
	if got := s.run(s.issue); got != "add_label suggested, close_issue suggested" {
		t.Fatal(got)
	}
	of := digests(t, s.o.Config, s.issue)
	s.o.Config = parsed(t, policy+strings.Replace(rule, "== 1", "> 0", 1))
	if now := digests(t, s.o.Config, s.issue); now[0] == of[0] || now[1] == of[1] {
		t.Fatal("the rule has not changed")
	}
	r := s.record()
	if r.Proposals[0].Pair != "rule:"+of[0] || r.Proposals[1].Pair != "rule:"+of[1] {
		t.Errorf("got proposals of %q and %q, want %q", r.Proposals[0].Pair, r.Proposals[1].Pair, of)
	}
	s.pass(time.Hour)
	yes := commented(s.gh, s.issue, "mona", "User", "/foreman accept 1 2")
	yes.Comment.CreatedAt = s.o.Clock.Now()
	if got := s.run(yes); got != "add_label done, close_issue done, react done" {
		t.Fatal(got)
	}
	r = s.record()
	if diff := cmp.Diff([]string{"rule:" + of[0], "rule:" + of[1]}, pairsOf(r.Tasks[len(r.Tasks)-1])[:2]); diff != "" {
		t.Errorf("accepted (-want +got):\n%s", diff)
	}
	if len(r.Closings) != 1 || r.Closings[0].Pair != "rule:"+of[1] {
		t.Errorf("got scheduled closes %+v", r.Closings)
	}
	s.pass(73 * time.Hour)
	s.sweep("1 action carried out")
	r = s.record()
	if diff := cmp.Diff([]string{"rule:" + of[1]}, pairsOf(r.Tasks[len(r.Tasks)-1])); diff != "" {
		t.Errorf("closed (-want +got):\n%s", diff)
	}
}

// A reversal of a rule has a source of its own.
func TestPairOfReversal(t *testing.T) {
	t.Parallel()
	s := newStory(t, "rules:\n  - {id: r, on: issues.labeled, when: 'issue.title != \"x\"', then: [{add_label: docs}], else_undo: true}\n")
	s.run(s.issue)
	s.issue.Issue.Title = "x"
	s.repo.RenameAs("mona", 1, "x")
	if got := s.run(s.issue); got != "remove_label done" {
		t.Fatal(got)
	}
	var pairs []string
	for _, task := range s.record().Tasks {
		pairs = append(pairs, pairsOf(task)...)
	}
	if len(pairs) != 2 || pairs[0] == pairs[1] || !strings.HasPrefix(pairs[1], "rule:") {
		t.Errorf("got %q", pairs)
	}
}

func pairsOf(task memory.Task) []string {
	var list []string
	for _, a := range task.Actions {
		list = append(list, a.Pair)
	}
	return list
}

func parsed(t *testing.T, src string) *config.Config {
	t.Helper()
	c, err := config.Parse("foreman.yml", []byte("version: 1\n"+src), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
