package harness

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/config/serverconfig"
	"github.com/org/foreman-action/internal/server/dispatch"
)

// TestAgents checks that agents are called with the settings of the configuration.
func TestAgents(t *testing.T) {
	t.Parallel()
	const config = `identity: {github_token: t, github_user: bot}
repos:
  - owner: o
    name: r
    agents:
      - {type: issue-triage, protocol: sync, timeout_seconds: 300, concurrency: 2, config: {url: "http://Slow:9001/"}}
      - {type: issue-triage, protocol: sync, config: {url: "http://quick:9001"}}
      - {type: issue-triage, config: {url: "http://claims:9001"}}
`
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := serverconfig.Load(t.Context(), serverconfig.Spec{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]dispatch.Agent{
		"http://slow:9001":   {URL: "http://Slow:9001/", Sync: true, Cap: 2, Timeout: 5 * time.Minute},
		"http://quick:9001":  {URL: "http://quick:9001", Sync: true, Cap: 8, Timeout: time.Minute},
		"http://claims:9001": {URL: "http://claims:9001", Cap: 8, Timeout: time.Minute},
	}
	if diff := cmp.Diff(want, agents(s)); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
}
