package starter

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/importer/joined"
	"github.com/org/foreman-action/internal/lint"
	"github.com/org/foreman-action/internal/testkit/golden"
	"github.com/org/foreman-action/internal/yamlfile"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// tree is a repository in memory.
type tree map[string][]byte

func (t tree) Read(_ context.Context, name string) ([]byte, error) {
	src, ok := t[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return src, nil
}

func (t tree) Glob(_ context.Context, pattern string) ([]string, error) {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(t)), func(name string) bool {
		ok, err := path.Match(pattern, name)
		return err != nil || !ok
	}), nil
}

// TestPropose compares the proposals for repositories in testdata. A file "labels" contains the
// labels on GitHub; a file "comments" sets the flag of that name.
func TestPropose(t *testing.T) {
	t.Parallel()
	golden.Each(t, "testdata", *update, func(t *testing.T, c *golden.Case) {
		files := tree{}
		for _, name := range c.Names() {
			if !strings.HasPrefix(name, "want ") {
				files[name] = c.Get(name)
			}
		}
		repo, problems, err := Read(t.Context(), files, Limit{Folder: 100, Labels: files["labels"] != nil})
		if err != nil {
			t.Fatal(err)
		}
		if files["labels"] != nil {
			repo.Labels = strings.Split(strings.TrimSpace(string(files["labels"])), "\n")
		}
		p, err := Propose(t.Context(), repo, Options{Comments: files["comments"] != nil, Import: joined.Import})
		if ps, ok := err.(yamlfile.Problems); ok {
			problems = append(problems, ps...)
		} else if err != nil {
			t.Fatal(err)
		}
		if len(problems) > 0 {
			c.Want(t, "want problems", problems.Error())
			return
		}
		c.Want(t, "want foreman.yml", string(p.Rules))
		c.Want(t, "want workflow", difference(baseWorkflow, string(p.Workflow)))
		c.Want(t, "want notes", strings.Join(append(slices.Clone(p.Parts), repo.Notes...), "\n"))
		c.Want(t, "want warnings", checked(t, files, repo, p).Error())
	})
}

// TestAction names the repository that released the program in the workflow, where
// "foreman rules check" finds it.
func TestAction(t *testing.T) {
	t.Parallel()
	const action = "Octo-Org/foreman-action"
	p, err := Propose(t.Context(), Repository{}, Options{Action: action})
	if err != nil {
		t.Fatal(err)
	}
	if got := difference(baseWorkflow, string(p.Workflow)); got != "      - uses: "+action+"@v1\n" {
		t.Errorf("got the changes %q in the workflow", got)
	}
	if runs, err := lint.ParseRuns(WorkflowPath, p.Workflow); err != nil || len(runs) != 1 {
		t.Errorf("got %d steps that run Foreman and the error %v", len(runs), err)
	}
}

// difference returns the lines of b that are not lines of a.
func difference(a, b string) string {
	known := map[string]bool{}
	for line := range strings.Lines(a) {
		known[line] = true
	}
	var out strings.Builder
	for line := range strings.Lines(b) {
		if !known[line] {
			out.WriteString(line)
		}
	}
	return out.String()
}

// checked compares the proposed files with the repository, as "foreman rules check" does.
func checked(t *testing.T, files tree, repo Repository, p Proposal) yamlfile.Problems {
	t.Helper()
	all := maps.Clone(files)
	all[config.DefaultPath] = p.Rules
	if len(repo.Runs) == 0 {
		all[WorkflowPath] = p.Workflow
	}
	cfg, err := config.Load(t.Context(), all, config.Spec{Path: config.DefaultPath, Tests: true})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Mode != config.ModeShadow {
		t.Errorf("the mode is %q", cfg.Mode)
	}
	f, err := yamlfile.Parse(config.DefaultPath, p.Rules)
	if err != nil {
		t.Fatal(err)
	}
	compared, err := lint.Read(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	compared.Labels = repo.Labels
	found := lint.Check(cfg, []*yamlfile.File{f}, compared)
	return append(found, cfg.Warnings...)
}

// TestRealConfigurations proposes rules for configurations of other tools from public repositories:
// for each one alone, and for all of a repository together.
func TestRealConfigurations(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../importer/parity/testdata/cases/*/*.txtar")
	if err != nil || len(paths) < 40 {
		t.Fatalf("got %d cases, %v", len(paths), err)
	}
	together, cases := map[string]tree{}, map[string]int{} // by the name of the case
	for _, p := range paths {
		ar, err := txtar.ParseFile(p)
		if err != nil {
			t.Fatal(err)
		}
		files := tree{}
		name := strings.TrimSuffix(filepath.Base(p), ".txtar")
		if cases[name]++; together[name] == nil {
			together[name] = tree{}
		}
		for _, f := range ar.Files {
			if strings.HasPrefix(f.Name, ".github/") {
				files[f.Name], together[name][f.Name] = f.Data, f.Data
			}
		}
		t.Run(filepath.Base(filepath.Dir(p))+"/"+name, func(t *testing.T) {
			t.Parallel()
			proposeReal(t, files, 1)
		})
	}
	for name, files := range together {
		if cases[name] == 1 {
			continue
		}
		t.Run("together/"+name, func(t *testing.T) {
			t.Parallel()
			proposeReal(t, files, 2)
		})
	}
}

// imperfect are the real configurations for which no rules are proposed, or none that fire in the
// proposed tests, with a part of the reason.
var imperfect = map[string]string{
	"issue-labeler/agentic":         "JavaScript rejects the expression",
	"issue-labeler/guides":          "JavaScript rejects the expression",
	"labeler/neoalgo":               "since version 5, actions/labeler fails",
	"labeler/websurfx":              "since version 5, actions/labeler fails",
	"labeler/bibliophilarr":         "since version 5, actions/labeler fails",
	"labeler/blackdocs":             "chore is set twice",
	"label-actions/github_client":   `unknown key "merged"`,
	"issue-labeler/yzbot":           "js-yaml, the parser of the original, rejects !",
	"issue-labeler/iotedge":         "it is not an issue form",
	"issue-labeler/github-kanri":    "include-title is off too",
	"issue-labeler/explorerlens-io": "this one is unknown",
	// The condition requires a line break with a carriage return.
	"issue-labeler/upgradeall": "no rule fires",
	// Both tools are in workflows of one name, of which the test keeps one.
	"together/rsmd":       "found 1 tools",
	"together/decentrade": "found 1 tools",
	"together/neoalgo":    "since version 5, actions/labeler fails",
	"together/websurfx":   "since version 5, actions/labeler fails",
	"together/blackdocs":  "chore is set twice",
	"together/iotedge":    "it is not an issue form",
	"together/yzbot":      "js-yaml, the parser of the original, rejects !",
}

// proposeReal proposes rules for a repository, which must have at least this many tools.
func proposeReal(t *testing.T, files tree, tools int) {
	t.Helper()
	why := problemOf(t, files, tools)
	_, name, _ := strings.Cut(t.Name(), "/")
	want := imperfect[name]
	if why != "" && strings.HasPrefix(name, "anti-slop/") {
		want = "no rule fires" // its rule counts checks, for most of which no example is known
	}
	if want == "" && why != "" || !strings.Contains(why, want) {
		t.Errorf("got %q, want %q", why, want)
	}
}

// problemOf proposes rules for a repository, and returns why they are of no use; empty: they are.
func problemOf(t *testing.T, files tree, tools int) string {
	t.Helper()
	repo, problems, err := Read(t.Context(), files, Limit{Folder: 100})
	switch {
	case err != nil:
		t.Fatal(err)
	case len(problems) > 0:
		return problems.Error()
	case len(repo.Tools) < tools:
		return fmt.Sprintf("found %d tools: %q", len(repo.Tools), repo.Notes)
	}
	p, err := Propose(t.Context(), repo, Options{Import: joined.Import})
	if problems, ok := errors.AsType[yamlfile.Problems](err); ok {
		return problems.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
	if found := checked(t, files, repo, p); len(found) > 0 {
		t.Errorf("%v\n%s\n%s", found, p.Rules, p.Workflow)
	}
	cfg, err := load(t.Context(), string(p.Rules))
	if err != nil {
		t.Fatal(err)
	}
	fired := map[string]bool{}
	for _, one := range cfg.Tests {
		for _, id := range run(t.Context(), cfg, one).Fired {
			fired[id] = true
		}
	}
	t.Logf("%d of %d rules fire in %d tests", len(fired), cfg.Rules.Len(), len(cfg.Tests))
	if len(fired) == 0 {
		return "no rule fires in the tests"
	}
	return ""
}

// TestProposeOdd checks that names that rule files do not accept are skipped, and that the other
// names get rules.
func TestProposeOdd(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	repo := Repository{Labels: []string{"bug", "area/ui", "area/api", long}, Forms: []lint.Form{{File: "form.yml", Fields: []lint.Field{
		{Label: "#", Type: "dropdown", Options: []string{"UI"}},
		{Label: "# Area", Type: "dropdown", Options: []string{"UI", long}},
		{Label: "Area", Type: "dropdown", Options: []string{"UI", long, "API"}},
		{Label: "Part", Type: "dropdown", Options: []string{long}},
	}}}}
	p, err := Propose(t.Context(), repo, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"- id: area\n", "UI: area/ui", "API: area/api", "- id: crash\n"} {
		if !strings.Contains(string(p.Rules), want) {
			t.Errorf("no %q in\n%s", want, p.Rules)
		}
	}
	if strings.Contains(string(p.Rules), long) {
		t.Errorf("the long label is in\n%s", p.Rules)
	}
}

// TestUsable leaves out a rule that does not load, and one that does not fire on its example.
func TestUsable(t *testing.T) {
	t.Parallel()
	good, odd, silent := minimalRule(Options{}), minimalRule(Options{}), minimalRule(Options{})
	odd.id, odd.then = "odd", []string{"add_label: " + strings.Repeat("x", 300)}
	silent.id, silent.when = "silent", "false"
	got, err := draft{}.usable(t.Context(), []proposed{odd, good, good, silent})
	if err != nil || len(got) != 1 || got[0].id != good.id {
		t.Errorf("got %v, %v; want the good rule once", got, err)
	}
}

// TestProposeMany proposes rules for as many labels and options as a repository's files can have.
// The time must not grow with labels times options. Propose ends when its context ends.
func TestProposeMany(t *testing.T) {
	t.Parallel()
	var repo Repository
	for i := range 20_000 {
		repo.Labels = append(repo.Labels, fmt.Sprintf("area/part %d", i))
	}
	for i := range 5 {
		var form lint.Form
		for n := range 20 {
			field := lint.Field{Label: fmt.Sprintf("Field %d %d", i, n), Type: "dropdown"}
			for o := range maxOptions {
				field.Options = append(field.Options, fmt.Sprintf("option %d %d", n, o))
			}
			form.Fields = append(form.Fields, field)
		}
		repo.Forms = append(repo.Forms, form)
	}
	repo.Forms[4].Fields[19].Options[0] = "Part 7"
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	p, err := Propose(ctx, repo, Options{})
	if err != nil || !strings.Contains(string(p.Rules), "area/part 7") {
		t.Errorf("%v\n%s", err, p.Rules)
	}
	cancel()
	if _, err := Propose(ctx, repo, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v after the context ended", err)
	}
}
