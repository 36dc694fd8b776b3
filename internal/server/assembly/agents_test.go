package assembly

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/harness"
	"github.com/org/foreman-action/internal/config/serverconfig"
)

// TestAgents checks that agents are called with the settings of the configuration.
func TestAgents(t *testing.T) {
	t.Parallel()
	const config = `identity: {github_token: t, github_user: bot}
repos:
  - owner: o
    name: r
    agents:
      - {type: issue-triage, protocol: sync, allow_close: true, timeout_seconds: 300, concurrency: 2, config: {url: "http://Slow:9001/"}}
      - {type: issue-triage, protocol: sync, config: {url: "http://quick:9001"}}
      - {type: issue-triage, config: {url: "http://claims:9001", event_types: [issues.labeled]}}
      - {type: issue-triage}
`
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := serverconfig.Load(t.Context(), serverconfig.Spec{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	agent := func(a harness.Agent) harness.Agent {
		a.Type, a.Repos = "issue-triage", []string{"o/r"}
		return a
	}
	want := []harness.Agent{
		agent(harness.Agent{URL: "http://Slow:9001/", Sync: true, Concurrency: 2, Timeout: 5 * time.Minute, AllowClose: true}),
		agent(harness.Agent{URL: "http://quick:9001", Sync: true, Concurrency: 8, Timeout: time.Minute}),
		agent(harness.Agent{URL: "http://claims:9001", Concurrency: 8, Timeout: time.Minute, Events: []string{"issues.labeled"}}),
	}
	got, repos := agents(s)
	if diff := cmp.Diff(want, got); diff != "" || !slices.Equal(repos, []string{"o/r"}) {
		t.Errorf("repositories %q, agents (-want +got):\n%s", repos, diff)
	}
	if _, repos := agents(&serverconfig.Config{}); repos == nil {
		t.Error("without a repository all are accepted")
	}
}
