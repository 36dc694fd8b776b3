package importer_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/importer"
	"github.com/org/foreman-action/internal/othertools"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

// TestGolden imports the first file of every archive in testdata. The archive's folder is named
// after the tool, and a file in .github/workflows is the workflow. The archive's file "want" is the
// expected configuration; "report" lists what could not be mapped, or the error.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, tool := range importer.Tools() {
		files, err := filepath.Glob(filepath.Join("testdata", tool, "*.txtar"))
		if err != nil || len(files) < 10 {
			t.Fatalf("%s: %d golden files, want at least 10: %v", tool, len(files), err)
		}
		for _, file := range files {
			t.Run(tool+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				t.Parallel()
				golden(t, tool, file)
			})
		}
	}
}

func golden(t *testing.T, tool, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := othertools.Request{Tool: tool, File: othertools.Source{Name: ar.Files[0].Name, Data: ar.Files[0].Data}}
	sources := ar.Files[:1]
	if len(ar.Files) > 1 && strings.HasPrefix(ar.Files[1].Name, ".github/workflows/") {
		sources = ar.Files[:2]
		r.Workflow = othertools.Source{Name: ar.Files[1].Name, Data: ar.Files[1].Data}
	}
	want, report := outcome(t, r)
	got := txtar.Archive{Comment: ar.Comment, Files: sources}
	got.Files = append(got.Files[:len(got.Files):len(got.Files)], txtar.File{Name: "want", Data: []byte(want)}, txtar.File{Name: "report", Data: []byte(report)})
	if *update {
		if err := os.WriteFile(file, txtar.Format(&got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(txtar.Format(ar)), string(txtar.Format(&got))); diff != "" {
		t.Errorf("want and got differ (-want +got):\n%s", diff)
	}
}

// outcome imports a file, and loads the result as the action would.
func outcome(t *testing.T, r othertools.Request) (want, report string) {
	t.Helper()
	res, err := importer.Import(r)
	if err != nil {
		return "", "error\n" + err.Error() + "\n"
	}
	for _, p := range res.Unmapped {
		report += p.Error() + "\n"
	}
	report += fmt.Sprintf("%d rules\n", res.Rules)
	if res.Rules == 0 {
		if res.Config != nil {
			t.Error("there is a file without rules")
		}
		return "", report
	}
	load(t, res)
	checkOpen(t, res)
	return string(res.Config), report
}

// checkOpen fails the test unless the new file also contains each difference as a comment, where
// "foreman rules check" finds it.
func checkOpen(t *testing.T, res importer.Result) {
	t.Helper()
	var want, got []string
	for _, p := range res.Unmapped {
		want = append(want, fmt.Sprintf("differs from the original: %s:%d:%d: %s", p.File, p.Line, p.Column, p.Message))
	}
	for _, p := range importer.Open("imported.yml", res.Config) {
		got = append(got, p.Message)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the report and the comments in the file differ (-want +got):\n%s", diff)
	}
}

// load fails the test if our loader reports an error or a warning for the file.
func load(t *testing.T, res importer.Result) {
	t.Helper()
	c, err := config.Parse("imported.yml", res.Config, nil)
	if err != nil {
		t.Errorf("the file does not load: %v\n%s", err, res.Config)
		return
	}
	if c.Rules.Len() != res.Rules {
		t.Errorf("the file has %d rules, the result says %d", c.Rules.Len(), res.Rules)
	}
	for _, w := range c.Warnings {
		t.Errorf("a warning: %v", w)
	}
}
