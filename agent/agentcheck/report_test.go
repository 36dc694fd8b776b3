package agentcheck_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/agent/agentcheck"
)

var update = flag.Bool("update", false, "rewrite testdata/report.json")

// TestReport pins the format of a report and the ids of its checks, because other programs read
// them.
func TestReport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		report := checkAgent(t, "", func(ctx context.Context, n *network, harness string) func(context.Context) error {
			ctx, stop := context.WithCancel(ctx)
			a := &faultyAgent{net: n, harness: harness, self: "http://agent:9001", fault: "gives-up", sync: true}
			a.start(ctx)
			return func(context.Context) error { stop(); a.all.Wait(); return nil }
		})
		for i := range report.Checks {
			if c := &report.Checks[i]; c.Result == agentcheck.OK {
				c.Got = "" // counts vary
			}
		}
		got, err := json.MarshalIndent(report, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		const file = "testdata/report.json"
		if *update {
			if err := os.WriteFile(file, append(got, '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestOptions checks that mistakes in the options are reported before any request.
func TestOptions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		o    agentcheck.Options
		text string
	}{
		{agentcheck.Options{}, "agent address: "},
		{agentcheck.Options{Agent: "http://x:hunter2 @a"}, "agent address: "},
		{agentcheck.Options{Agent: "http://a", Wire: "x"}, `wire: want queue or sync, got "x"`},
		{agentcheck.Options{Agent: "http://a", Patience: -1}, "want more than 0"},
		{agentcheck.Options{Agent: "http://a", Harness: "nowhere"}, "harness address"},
		{agentcheck.Options{Agent: "http://a", Listen: "nowhere"}, "listen for the agent"},
	}
	for _, tt := range tests {
		report, err := agentcheck.Run(t.Context(), tt.o)
		if err == nil || !strings.Contains(err.Error(), tt.text) || strings.Contains(err.Error(), "hunter2") || report.OK() {
			t.Errorf("got %v, want %q", err, tt.text)
		}
	}
}

// TestUniqueIDs checks that no two checks of a report share an id.
func TestUniqueIDs(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	var report agentcheck.Report
	if err := json.Unmarshal(data, &report); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, c := range report.Checks {
		if slices.Contains(ids, c.ID) {
			t.Errorf("%s is there twice", c.ID)
		}
		ids = append(ids, c.ID)
	}
	if len(ids) < 30 {
		t.Errorf("got %d checks", len(ids))
	}
}
