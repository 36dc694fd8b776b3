package telemetry_test

import (
	"encoding/json"
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

// The files for Prometheus and Grafana.
const (
	alertsFolder  = "../../../deploy/prometheus"
	alertsFile    = "foremand.rules.yml"
	dashboardFile = "../../../deploy/grafana/foremand.json"
)

// A ruleFile is a file of rules for Prometheus.
type ruleFile struct {
	Groups []ruleGroup `yaml:"groups"`
}

type ruleGroup struct {
	Name  string `yaml:"name"`
	Rules []rule `yaml:"rules"`
}

type rule struct {
	Record      string            `yaml:"record,omitempty"`
	Alert       string            `yaml:"alert,omitempty"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

// TestDocs checks that docs/server/metrics.md lists exactly the existing metrics.
func TestDocs(t *testing.T) {
	t.Parallel()
	text := read(t, "../../../docs/server/metrics.md")
	table, _, ok := strings.Cut(text, "Alerts to begin with")
	if !ok {
		t.Fatal("there are no metrics")
	}
	if diff := cmp.Diff(exported(t), metricsIn(table)); diff != "" {
		t.Errorf("metrics that there are, and those in the table (-have +told):\n%s", diff)
	}
}

// TestAlertRules checks that the alerts are complete and use only existing metrics. It lets promtool check
// them, and their reaction to the events of the test file beside them.
func TestAlertRules(t *testing.T) {
	t.Parallel()
	text := read(t, filepath.Join(alertsFolder, alertsFile))
	checkMetrics(t, "an alert", text)
	var file ruleFile
	if err := yaml.Unmarshal([]byte(text), &file); err != nil || len(file.Groups) != 1 || len(file.Groups[0].Rules) < 10 {
		t.Fatal("the alerts are no YAML, or few", err)
	}
	for _, r := range file.Groups[0].Rules {
		if r.Alert == "" || r.Expr == "" || r.Annotations["summary"] == "" || r.Labels["severity"] == "" {
			t.Errorf("%+v is not complete", r)
		}
	}
	promtool(t, alertsFolder, "check", "rules", alertsFile)
	promtool(t, alertsFolder, "test", "rules", "foremand.rules.test.yml")
}

// TestScrape checks that the job on docs/server/metrics.md has a name that the alerts expect, and reads them. It lets
// promtool check the file.
func TestScrape(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(read(t, "../../../docs/server/metrics.md"), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	var file struct {
		Jobs []struct {
			Name string `yaml:"job_name"`
		} `yaml:"scrape_configs"`
		Rules []string `yaml:"rule_files"`
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil || len(file.Jobs) != 1 || !slices.Equal(file.Rules, []string{alertsFile}) {
		t.Fatalf("got %+v and the error %v, want a job, and the rules %s", file, err, alertsFile)
	}
	job := regexp.MustCompile(`up\{job=~"([^"]+)"`).FindStringSubmatch(read(t, filepath.Join(alertsFolder, alertsFile)))
	if len(job) == 0 || !regexp.MustCompile("^(?:"+job[1]+")$").MatchString(file.Jobs[0].Name) {
		t.Errorf("the alerts look at the jobs %q, and the page names %q", job, file.Jobs[0].Name)
	}
	dir := t.TempDir()
	for name, content := range map[string]string{"prometheus.yml": text, alertsFile: read(t, filepath.Join(alertsFolder, alertsFile))} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	promtool(t, dir, "check", "config", "--syntax-only", "prometheus.yml")
}

// TestDashboard checks that the dashboard for Grafana uses only existing metrics and variables, that its
// panels do not overlap, and lets promtool check its expressions.
func TestDashboard(t *testing.T) {
	t.Parallel()
	text := read(t, dashboardFile)
	checkMetrics(t, "a panel", text)
	type place struct{ X, Y, W, H int }
	var board struct {
		UID, Title string
		Panels     []struct {
			ID          int
			Type, Title string
			GridPos     place
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(text), &board); err != nil || board.UID == "" || board.Title == "" {
		t.Fatal("the dashboard is not complete", err)
	}
	group, used := ruleGroup{Name: "dashboard"}, map[place]string{}
	variables := strings.NewReplacer("$__rate_interval", "5m", "$job", "foremand")
	for _, p := range board.Panels {
		if p.Title == "" || p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %d shows nothing", p.ID)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := used[place{X: x, Y: y}]; other != "" || x > 23 {
					t.Fatalf("%s lies on %s, or beside the dashboard", p.Title, other)
				}
				used[place{X: x, Y: y}] = p.Title
			}
		}
		for _, target := range p.Targets {
			expr := variables.Replace(target.Expr)
			if strings.Contains(expr, "$") {
				t.Errorf("%s: an unknown variable in %s", p.Title, target.Expr)
			}
			group.Rules = append(group.Rules, rule{Record: "panel:expression", Expr: expr, Labels: map[string]string{"expression": expr}})
		}
	}
	if len(group.Rules) < 15 {
		t.Errorf("only %d expressions", len(group.Rules))
	}
	rules, err := yaml.Marshal(ruleFile{[]ruleGroup{group}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "dashboard.yml"), rules, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, dir, "check", "rules", "dashboard.yml")
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// promtool runs promtool in a folder. If it is not installed, the rest of the test is skipped.
func promtool(t *testing.T, dir string, args ...string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is needed, and not installed")
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// exported lists the metrics of the golden file.
func exported(t *testing.T) []string {
	t.Helper()
	var have []string
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (foreman_\w+)`).FindAllStringSubmatch(read(t, "testdata/metrics.txt"), -1) {
		have = append(have, m[1])
	}
	return have
}

// checkMetrics reports metrics in a text that there are not.
func checkMetrics(t *testing.T, what, text string) {
	t.Helper()
	have := exported(t)
	for _, name := range metricsIn(text) {
		base := name
		for _, part := range []string{"_bucket", "_count", "_sum"} { // of a histogram
			base = strings.TrimSuffix(base, part)
		}
		if !slices.Contains(have, name) && !slices.Contains(have, base) {
			t.Errorf("%s looks at %s, which there is not", what, name)
		}
	}
}

// metricsIn lists the metrics in a text, without duplicates.
func metricsIn(text string) []string {
	list := regexp.MustCompile(`foreman_\w*[a-z]`).FindAllString(text, -1)
	slices.Sort(list)
	return slices.Compact(list)
}
