package runner

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/protocol"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the files in testdata")

// TestPlan judges the decision of every file in testdata/plan by its policy.
func TestPlan(t *testing.T) {
	t.Parallel()
	eachArchive(t, "testdata/plan", func(t *testing.T, a *archive) {
		d := Decision{answers: a.get("answers") != nil}
		m, err := protocol.ParseDecision(a.get("decision.json"))
		if err != nil {
			t.Fatal(err)
		}
		d.Message = m
		for _, id := range strings.Fields(string(a.get("rules"))) {
			d.Sources = append(d.Sources, Source{Rule: id})
		}
		issue, err := ParseIssue(a.get("issue.json"))
		if err != nil {
			t.Fatal(err)
		}
		var policy Policy
		if src := a.get("foreman.yml"); src != nil {
			c, err := ParseConfig("foreman.yml", src, nil)
			if err != nil {
				t.Fatal(err)
			}
			policy = c.Policy
		}
		a.want(t, "want", showPlan(MakePlan(d, issue, policy, a.get("quiet") == nil)))
	})
}

// showPlan prints a plan: a line for each step, and what it would write.
func showPlan(p Plan) string {
	var b strings.Builder
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "%d. %s by %s: %s", s.Index+1, s.Action.Type, s.Source, s.Verdict)
		if s.Reason != "" {
			fmt.Fprintf(&b, ": %s", s.Reason)
		}
		b.WriteString("\n")
		if s.Verdict != Do {
			continue
		}
		for _, l := range s.labels {
			fmt.Fprintf(&b, "   label %q\n", l)
		}
		for _, l := range s.logins {
			fmt.Fprintf(&b, "   login %q\n", l)
		}
		if s.text != "" {
			fmt.Fprintf(&b, "   text %+q\n", s.text)
		}
		if s.key != "" {
			fmt.Fprintf(&b, "   key %q\n", s.key)
		}
	}
	return b.String()
}

// An archive is one txtar file of cases.
type archive struct {
	path string
	ar   *txtar.Archive
}

// eachArchive runs f on every txtar file below dir.
func eachArchive(t *testing.T, dir string, f func(*testing.T, *archive)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatalf("no cases in %s", dir)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			if !*update {
				t.Parallel()
			}
			ar, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f(t, &archive{path, ar})
		})
	}
}

// get returns a part of the archive, nil when it is not there.
func (a *archive) get(name string) []byte {
	for _, f := range a.ar.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// want compares a part of the archive with got, or rewrites it.
func (a *archive) want(t *testing.T, name, got string) {
	t.Helper()
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	if *update {
		a.set(name, got)
		if err := os.WriteFile(a.path, txtar.Format(a.ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := string(a.get(name)); got != want {
		t.Errorf("%s:\ngot:\n%s\nwant:\n%s", name, got, want)
	}
}

func (a *archive) set(name, data string) {
	for i := range a.ar.Files {
		if a.ar.Files[i].Name == name {
			a.ar.Files[i].Data = []byte(data)
			return
		}
	}
	a.ar.Files = append(a.ar.Files, txtar.File{Name: name, Data: []byte(data)})
}
