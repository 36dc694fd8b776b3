package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// source is a package with each kind of refusal.
const source = `package plan

func (m *Maker) Judge(s *Step) {
	s.set(triage.Refuse, "no")
	s.set(triage.Do, "")
	s.Verdict = triage.Skip
}

func take() bool {
	if full {
		return false
	}
	return true
}

func reason() (string, bool) {
	if bad {
		return "bad", true
	}
	return "", true
}

func name() string { return "a name" }

func filter() {
	for range list {
		if against != "" {
			continue
		}
	}
}
`

func TestMutate(t *testing.T) {
	t.Parallel()
	root, work := t.TempDir(), t.TempDir()
	dir := filepath.Join(root, "plan")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.go": source, "a_test.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	replace := map[string]string{}
	list, err := mutate(root, "plan", work, replace)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		got = append(got, m.String())
	}
	want := `plan/a.go:4: Judge: triage.Refuse -> triage.Do
plan/a.go:6: Judge: triage.Skip -> triage.Do
plan/a.go:11: take: false -> true
plan/a.go:18: reason: "bad" -> ""
plan/a.go:27: filter: against != "" -> false`
	if strings.Join(got, "\n") != want {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), want)
	}
	changed, err := os.ReadFile(replace[filepath.Join(dir, "a.go")])
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`s.set(mutated("plan/a.go:4:8", triage.Refuse, triage.Do), "no")`, `s.Verdict = mutated("plan/a.go:6:14", triage.Skip, triage.Do)`,
		`return mutated("plan/a.go:11:10", false, true)`, `return mutated("plan/a.go:18:10", "bad", ""), true`,
		`if mutated("plan/a.go:27:6", against != "", false) {`,
	} {
		if !strings.Contains(string(changed), text) {
			t.Errorf("the changed file has no %s:\n%s", text, changed)
		}
	}
	if len(replace) != 2 {
		t.Errorf("got %d replaced files, want a.go and the helper: %v", len(replace), replace)
	}
	if now, err := os.ReadFile(filepath.Join(dir, "a.go")); err != nil || string(now) != source {
		t.Errorf("the source changed: %v", err)
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	m := mutant{dir: "policy", file: "labels.go"}
	got := page([]result{{m, policyDir}, {m, "runner"}, {m, ""}})
	for _, want := range []string{"**3 mutants, 1 survived.**", "| `policy/labels.go` | 3 | 1 | 0 | 1 | 1 |"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %q:\n%s", want, got)
		}
	}
}
