package importer_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/importer"
	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/yamlfile"
)

func FuzzLabeler(f *testing.F)      { fuzz(f, "labeler") }
func FuzzIssueLabeler(f *testing.F) { fuzz(f, "issue-labeler") }
func FuzzLabelActions(f *testing.F) { fuzz(f, "label-actions") }
func FuzzStale(f *testing.F)        { fuzz(f, "stale") }
func FuzzAntiSlop(f *testing.F)     { fuzz(f, "anti-slop") }

// fuzz checks that any input results either in an error with positions, or in a file that loads.
// The same input must always have the same result.
func fuzz(f *testing.F, tool string) {
	files, err := filepath.Glob(filepath.Join("testdata", tool, "*.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(ar.Files[0].Data, ar.Files[1].Data)
	}
	f.Fuzz(func(t *testing.T, src, workflow []byte) {
		r := othertools.Request{Tool: tool, File: othertools.Source{Name: "labeler-v1.yml", Data: src}}
		checkImport(t, r)
		if !importer.InWorkflow(tool) {
			r.Workflow = othertools.Source{Name: "workflow.yml", Data: workflow}
			checkImport(t, r)
		}
	})
}

func checkImport(t *testing.T, r othertools.Request) {
	t.Helper()
	res, err := importer.Import(r)
	if err != nil {
		ps, ok := errors.AsType[yamlfile.Problems](err)
		if !ok || len(ps) == 0 {
			t.Fatalf("got a %T: %v", err, err)
		}
		return
	}
	for _, p := range res.Unmapped {
		if p.Line < 1 || p.Column < 1 || p.Message == "" {
			t.Errorf("a note without place or text: %#v", p)
		}
	}
	again, err := importer.Import(r)
	if err != nil || !bytes.Equal(again.Config, res.Config) || len(again.Unmapped) != len(res.Unmapped) {
		t.Errorf("the second time it is different: %v", err)
	}
	if res.Rules == 0 {
		return
	}
	c, err := config.Parse("imported.yml", res.Config, nil)
	if err != nil || c.Rules.Len() != res.Rules {
		t.Errorf("the file does not load: %v\n%s", err, res.Config)
	}
}
