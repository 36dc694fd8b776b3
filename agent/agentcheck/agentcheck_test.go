package agentcheck_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/agent/agentcheck"
	"github.com/org/foreman-action/protocol"
)

// checkAgent runs the kit on an agent that begin starts, in a synctest bubble.
func checkAgent(t *testing.T, wire string, begin func(ctx context.Context, n *network, harness string) (stop func(context.Context) error)) agentcheck.Report {
	t.Helper()
	n := &network{hosts: map[string]http.Handler{}}
	report, err := agentcheck.Run(t.Context(), agentcheck.Options{
		Agent:     "http://agent:9001/",
		Wire:      wire,
		Transport: n,
		Serve: func(h http.Handler) (string, func(), error) {
			n.set("harness", h)
			return "http://harness", func() {}, nil
		},
		Start: func(ctx context.Context, harness string) (func(context.Context) error, error) {
			return begin(ctx, n, harness), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// failed returns the ids of the checks that failed.
func failed(r agentcheck.Report) []string {
	var ids []string
	for _, c := range r.Checks {
		if c.Result == agentcheck.Failed {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// TestWorker checks an agent made of this module's Worker and Handler, over both forms of the
// protocol.
func TestWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		report := checkAgent(t, "", func(ctx context.Context, n *network, harness string) func(context.Context) error {
			ctx, stop := context.WithCancel(ctx)
			decide := func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
				time.Sleep(30 * time.Second)
				return protocol.DecisionMessage{Decision: protocol.Skip}, nil
			}
			client, err := agent.NewClient(agent.ClientOptions{URL: harness, AgentURL: "http://agent:9001", Transport: n})
			if err != nil {
				t.Fatal(err)
			}
			w, err := agent.NewWorker(agent.WorkerOptions{Client: client, Decide: decide, Concurrency: 5})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- w.Run(ctx) }()
			n.set("agent", agent.NewHandler(agent.HandlerOptions{Nudge: w.Nudge, Decide: decide}))
			return func(context.Context) error { stop(); return <-done }
		})
		for _, c := range report.Checks {
			if c.Result != agentcheck.OK && c.ID != "actions" {
				t.Errorf("%s: %s: %s", c.ID, c.Result, c.Got)
			}
		}
		if !report.OK() || !slices.Equal(report.Wires, []string{"queue", "sync"}) {
			t.Errorf("got wires %v, ok %v", report.Wires, report.OK())
		}
	})
}

// TestWrongWire checks an agent that only answers whole tasks as an agent of the queue. The report
// names the right form of the protocol.
func TestWrongWire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		report := checkAgent(t, agentcheck.Queue, func(_ context.Context, n *network, _ string) func(context.Context) error {
			n.set("agent", agent.NewHandler(agent.HandlerOptions{Decide: escalate}))
			return func(context.Context) error { return nil }
		})
		for _, c := range report.Checks {
			if c.ID == "claim" && (c.Result != agentcheck.Failed || !strings.Contains(c.Got, "--wire sync")) {
				t.Errorf("got %s: %s", c.Result, c.Got)
			}
		}
		if diff := cmp.Diff([]string{"startup-drain", "nudge-answer", "claim"}, failed(report)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestInvalidDecision checks that the report on an invalid decision contains the place of the
// mistake, the valid values and the invalid one.
func TestInvalidDecision(t *testing.T) {
	t.Parallel()
	const intent = "action 2: add_label: confidence: want low, medium, high or a number from 0 to 1, got 1.2; " +
		"rationale: want a string, got a number; suggest: want true or false, got a string"
	tests := []struct{ wire, fault, id, want string }{
		{agentcheck.Queue, "odd-decision", "decision", `or 'skip', got "maybe"`},
		{agentcheck.Sync, "odd-decision", "sync-decision", `or 'skip', got "maybe"`},
		{agentcheck.Queue, "odd-intent", "actions", intent},
		{agentcheck.Sync, "odd-intent", "sync-decision", intent},
	}
	for _, tt := range tests {
		t.Run(tt.fault+"/"+tt.wire, func(t *testing.T) {
			t.Parallel()
			wire := tt.wire
			synctest.Test(t, func(t *testing.T) {
				report := checkAgent(t, wire, func(ctx context.Context, n *network, harness string) func(context.Context) error {
					ctx, stop := context.WithCancel(ctx)
					a := &faultyAgent{net: n, harness: harness, self: "http://agent:9001", fault: tt.fault, sync: wire == agentcheck.Sync, noQueue: wire == agentcheck.Sync}
					a.start(ctx)
					return func(context.Context) error { stop(); a.all.Wait(); return nil }
				})
				for _, c := range report.Checks {
					if c.ID == tt.id && !strings.HasSuffix(c.Got, tt.want) {
						t.Errorf("got %s: %q, want it to end in %q", c.Result, c.Got, tt.want)
					}
				}
			})
		})
	}
}

// TestFaults checks agents that each make one mistake. The kit must find this mistake and no
// other.
func TestFaults(t *testing.T) {
	t.Parallel()
	const slow = 40 * time.Second
	tests := []struct {
		fault string
		think time.Duration
		kind  string // "queue", "sync" or "both"
		want  []string
	}{
		{"", 0, "queue", nil},
		{"", slow, "queue", nil},
		{"", 0, "sync", nil},
		{"", 0, "both", nil},
		{"no-attempt", 0, "queue", nil},
		{"long-polls", 0, "queue", nil},
		{"no-health", 0, "queue", []string{"health"}},
		{"sick", 0, "queue", []string{"health"}},
		{"no-drain", 0, "queue", []string{"startup-drain"}},
		{"no-claim", 0, "queue", []string{"claim"}},
		{"works-in-nudge", 20 * time.Second, "queue", []string{"nudge-answer"}},
		{"by-nudge", 0, "queue", []string{"claim", "task-id"}},
		{"other-address", 0, "queue", []string{"agent-url"}},
		{"no-credentials", 0, "queue", []string{"credentials"}},
		{"no-content-type", 0, "queue", []string{"task-id", "result"}},
		{"hammers", 0, "queue", []string{"empty-queue"}},
		{"dies-of-503", 0, "queue", []string{"harness-error"}},
		{"insists", 0, "queue", []string{"lost-claim"}},
		{"gives-up", 0, "queue", []string{"complete-error"}},
		{"twice", 0, "queue", []string{"duplicate-nudge", "once"}},
		{"no-result", 0, "queue", []string{"result"}},
		{"odd-decision", 0, "queue", []string{"decision"}},
		{"no-rationale", 0, "queue", []string{"decision"}},
		{"null-actions", 0, "queue", []string{"decision"}},
		{"other-task", 0, "queue", []string{"startup-drain", "decision", "task-id", "abandoned"}},
		{"dies-of-204", 0, "queue", []string{"claim"}},
		{"no-heartbeat", slow * 2, "queue", []string{"heartbeat"}},
		{"heartbeat-dies", slow * 2, "queue", []string{"heartbeat"}},
		{"numeric-heartbeat", slow, "queue", []string{"task-id"}},
		{"", slow * 2, "queue", nil},
		{"odd-action", 0, "queue", []string{"actions"}},
		{"bare-action", 0, "queue", []string{"actions"}},
		{"intent", 0, "queue", nil},
		{"intent", 0, "sync", nil},
		{"odd-intent", 0, "queue", []string{"actions"}},
		{"odd-intent", 0, "sync", []string{"sync-decision", "actions"}},
		{"skip-with-actions", 0, "queue", []string{"actions"}},
		{"accepts-all", 0, "queue", []string{"malformed-nudge"}},
		{"falls-over", 0, "queue", []string{"malformed-nudge"}},
		{"sick-of-it", 0, "queue", []string{"malformed-nudge"}},
		{"needs-body", 0, "queue", []string{"null-body", "minimal-task"}},
		{"needs-known", 0, "queue", []string{"unknown-fields"}},
		{"needs-small", 0, "queue", []string{"large-task"}},
		{"needs-title", 0, "queue", []string{"minimal-task"}},
		{"followed", 0, "queue", []string{"hostile-text"}},
		{"never-ends", 0, "queue", []string{"shutdown"}},
		{"sync-other-task", 0, "sync", []string{"sync-decision"}},
		{"sync-fenced", 0, "sync", []string{"sync-decision"}},
		{"odd-decision", 0, "sync", []string{"sync-decision"}},
		{"odd-action", 0, "sync", []string{"sync-decision", "actions"}},
		{"odd-action-for-nothing", 0, "sync", []string{"actions"}},
		{"accepts-all", 0, "sync", []string{"sync-malformed"}},
		{"falls-over", 0, "sync", []string{"sync-malformed"}},
		{"needs-body", 0, "sync", []string{"sync-null-body", "sync-minimal-task"}},
		{"needs-small", 0, "sync", []string{"sync-large-task"}},
		{"followed", 0, "sync", []string{"sync-hostile-text"}},
	}
	for _, tt := range tests {
		t.Run(tt.fault+"/"+tt.kind, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				wire := tt.kind
				if tt.fault == "" {
					wire = "" // the kit detects it
				}
				report := checkAgent(t, wire, func(ctx context.Context, n *network, harness string) func(context.Context) error {
					ctx, stop := context.WithCancel(ctx)
					a := &faultyAgent{
						net: n, harness: harness, self: "http://agent:9001", fault: tt.fault, think: tt.think,
						sync: tt.kind != "queue", noQueue: tt.kind == "sync",
					}
					a.start(ctx)
					return func(context.Context) error {
						stop()
						a.all.Wait()
						if a.is("never-ends") {
							return errors.New("it had to be killed")
						}
						return nil
					}
				})
				if diff := cmp.Diff(tt.want, failed(report)); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
					for _, c := range report.Checks {
						t.Logf("%s: %s %s", c.ID, c.Result, c.Got)
					}
				}
			})
		})
	}
}
