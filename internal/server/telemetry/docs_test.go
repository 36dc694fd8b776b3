package telemetry_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// TestDocs compares the metrics in docs/server.md with the existing ones, and reads its
// alerts.
func TestDocs(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../docs/server.md")
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
	table, alerts, ok := strings.Cut(string(doc), "Alerts to begin with:")
	if !ok {
		t.Fatal("there are no alerts")
	}
	if diff := cmp.Diff(have, metricsIn(table)); diff != "" {
		t.Errorf("metrics that there are, and those in the table (-have +told):\n%s", diff)
	}
	_, alerts, _ = strings.Cut(alerts, "```yaml\n")
	alerts, _, _ = strings.Cut(alerts, "```")
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

// metricsIn lists the metrics that a text names, each once.
func metricsIn(text string) []string {
	list := regexp.MustCompile(`foreman_\w*[a-z]`).FindAllString(text, -1)
	slices.Sort(list)
	return slices.Compact(list)
}
