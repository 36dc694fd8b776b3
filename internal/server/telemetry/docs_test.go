package telemetry_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// TestDocs checks that docs/server/metrics.md lists exactly the existing metrics, and that its alerts are
// complete and use only these metrics.
func TestDocs(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../docs/server/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile("testdata/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (foreman_\w+)`).FindAllStringSubmatch(string(golden), -1) {
		have = append(have, m[1])
	}
	table, _, ok := strings.Cut(string(doc), "Alerts to begin with:")
	if !ok {
		t.Fatal("there are no alerts")
	}
	if diff := cmp.Diff(have, metricsIn(table)); diff != "" {
		t.Errorf("metrics that there are, and those in the table (-have +told):\n%s", diff)
	}
	alerts := alertsIn(t, string(doc))
	for _, name := range metricsIn(alerts) {
		if !slices.Contains(have, name) {
			t.Errorf("an alert looks at %s, which there is not", name)
		}
	}
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(alerts), &file); err != nil || len(file.Groups) != 1 {
		t.Fatal("the alerts are no YAML", err)
	}
	for _, r := range file.Groups[0].Rules {
		if r.Alert == "" || r.Expr == "" || r.Annotations["summary"] == "" {
			t.Errorf("%+v is not complete", r)
		}
	}
}

// TestAlerts lets promtool check the alerts in docs/server/metrics.md, and their reaction to the events in
// testdata/alerts.yml.
func TestAlerts(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is needed, and not installed")
	}
	doc, err := os.ReadFile("../../../docs/server/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile("testdata/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"alerts-of-docs.yml": alertsIn(t, string(doc)), "alerts.yml": string(tests)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"check", "rules", "alerts-of-docs.yml"}, {"test", "rules", "alerts.yml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// alertsIn returns the rules for alerts in docs/server/metrics.md.
func alertsIn(t *testing.T, doc string) string {
	t.Helper()
	_, rest, ok := strings.Cut(doc, "Alerts to begin with:")
	_, rest, fence := strings.Cut(rest, "```yaml\n")
	alerts, _, ended := strings.Cut(rest, "```")
	if !ok || !fence || !ended {
		t.Fatal("there are no alerts")
	}
	return alerts
}

// metricsIn lists the metrics in a text, without duplicates.
func metricsIn(text string) []string {
	list := regexp.MustCompile(`foreman_\w*[a-z]`).FindAllString(text, -1)
	slices.Sort(list)
	return slices.Compact(list)
}
