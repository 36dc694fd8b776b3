package rules_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

// TestGolden runs every archive in testdata/ok, testdata/err and testdata/cases. An archive
// contains rule files, the facts in facts.json, and in want the decision or the exact text of the
// error. In testdata/cases, names that end in _refused expect an error.
func TestGolden(t *testing.T) {
	t.Parallel()
	for dir, least := range map[string]int{"ok": 25, "err": 25, "cases": 150} {
		files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
		if err != nil || len(files) < least {
			t.Fatalf("%s: %d golden files, want at least %d: %v", dir, len(files), least, err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".txtar")
			t.Run(dir+"/"+name, func(t *testing.T) {
				t.Parallel()
				golden(t, file, dir == "err" || dir == "cases" && strings.HasSuffix(name, "_refused"))
			})
		}
	}
}

func golden(t *testing.T, file string, wantErr bool) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := outcome(t, ar)
	if (err != nil) != wantErr {
		t.Fatalf("got error %v, want an error: %v", err, wantErr)
	}
	if err != nil {
		got = err.Error() + "\n"
	}
	if *update {
		setFile(ar, "want", got)
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(getFile(ar, "want"), got); diff != "" {
		t.Errorf("want and got differ (-want +got):\n%s", diff)
	}
}

// decision contains the parts of a result that golden files record.
type decision struct {
	Message  protocol.DecisionMessage `json:"message"`
	Sources  []string                 `json:"sources,omitempty"`
	Fired    []string                 `json:"fired,omitempty"`
	Skipped  []string                 `json:"skipped,omitempty"`
	Stopped  bool                     `json:"stopped,omitempty"`
	Undone   []string                 `json:"undone,omitempty"`
	Retriage bool                     `json:"retriage,omitempty"`
	Outcomes []string                 `json:"outcomes"`
	Warnings []string                 `json:"warnings,omitempty"`
}

func outcome(t *testing.T, ar *txtar.Archive) (string, error) {
	set, warnings, err := compile(ar)
	if err != nil {
		return "", err
	}
	var facts struct {
		facts.Facts
		Known    *facts.Known
		Supplied []string // the names of the supplied look-ups in Known; nil: all are
	}
	d := json.NewDecoder(strings.NewReader(getFile(ar, "facts.json")))
	d.DisallowUnknownFields()
	if err := d.Decode(&facts); err != nil {
		t.Fatalf("facts.json: %v", err)
	}
	if facts.Known != nil {
		facts.Lookup = *facts.Known
	}
	if facts.Supplied != nil {
		facts.Lookup = supplied(facts.Known, facts.Supplied)
	}
	r, err := set.Decide(t.Context(), facts.Facts)
	if err != nil {
		return "", err
	}
	out := decision{Message: r.Message, Sources: r.Sources, Fired: r.Fired, Stopped: r.Stopped, Undone: r.Undone, Retriage: r.Retriage, Warnings: warnings}
	for _, tr := range r.Trace {
		outcome := tr.ID + ": " + string(tr.Outcome)
		if tr.Error != "" {
			outcome += ": " + tr.Error
		}
		if len(tr.Missing) > 0 {
			outcome += " [" + strings.Join(tr.Missing, ", ") + "]"
		}
		out.Outcomes = append(out.Outcomes, outcome)
	}
	for _, s := range r.Skipped {
		out.Skipped = append(out.Skipped, s.Rule+": "+s.Action.Type+" lacks "+s.Lacks)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(out)
	return b.String(), err
}

// supplied returns a look-up of a try-out.
func supplied(k *facts.Known, names []string) facts.Lookup {
	if k == nil {
		k = &facts.Known{}
	}
	return facts.Supplied{Known: *k, Names: names}
}

// compile compiles all files of an archive except facts.json and want, and returns their warnings.
func compile(ar *txtar.Archive) (*rules.Set, []string, error) {
	var sources []rules.Source
	for _, f := range ar.Files {
		if f.Name == "facts.json" || f.Name == "want" {
			continue
		}
		s, err := rules.Parse(f.Name, f.Data)
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, s)
	}
	set, err := rules.Compile(sources...)
	var warnings []string
	for _, s := range sources {
		for _, w := range rulesource.Source(s).Parts().File.Warnings() {
			warnings = append(warnings, w.Error())
		}
	}
	return set, warnings, err
}

func getFile(ar *txtar.Archive, name string) string {
	for _, f := range ar.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func setFile(ar *txtar.Archive, name, text string) {
	for i := range ar.Files {
		if ar.Files[i].Name == name {
			ar.Files[i].Data = []byte(text)
			return
		}
	}
	ar.Files = append(ar.Files, txtar.File{Name: name, Data: []byte(text)})
}

// mustCompile compiles one rule file.
func mustCompile(t testing.TB, src string) *rules.Set {
	t.Helper()
	s, err := rules.Parse("rules.yml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	set, err := rules.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// condition compiles one condition, in a block scalar.
func condition(src string) (*rules.Condition, error) {
	f, err := yamlfile.Parse("c.yml", []byte("when: |\n  "+strings.ReplaceAll(src, "\n", "\n  ")+"\n"))
	if err != nil {
		return nil, err
	}
	return rules.CompileCondition("", rules.Source(rulesource.New(rulesource.Parts{File: f, Condition: f.Root().Content[1]})))
}
