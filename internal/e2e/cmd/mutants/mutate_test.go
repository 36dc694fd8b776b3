package main

import (
	"io"
	"os"
	"os/exec"
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

func (r *reviewer) repeats(s *Step) {
	skipBecause(s, fmt.Sprint("said ", "before"))
	if skip(s, holds(s), "already there") {
		return
	}
	other(s, true)
}

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
	replace, declared := map[string]string{}, map[string]bool{}
	list, err := mutate(root, target{dir: "plan"}, work, replace, declared)
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
plan/a.go:26: repeats: fmt.Sprint("said ", "before") -> ""
plan/a.go:27: repeats: holds(s) -> false
plan/a.go:35: filter: against != "" -> false`
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
		`skipBecause(s, mutated("plan/a.go:26:17", fmt.Sprint("said ", "before"), ""))`,
		`if skip(s, mutated("plan/a.go:27:13", holds(s), false), "already there") {`, `if mutated("plan/a.go:35:6", against != "", false) {`,
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

// TestMissing reports names of functions that a package no longer declares.
func TestMissing(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{}
	for _, name := range missing("plan", declared) {
		declared[name] = true
	}
	if len(declared) < 5 || len(missing("plan", declared)) > 0 {
		t.Errorf("got %v", declared)
	}
	delete(declared, "plan.skipBecause")
	if got := missing("plan", declared); len(got) != 1 || got[0] != "plan.skipBecause" {
		t.Errorf("got %q, want plan.skipBecause", got)
	}
}

// TestNames finds the mutants of this module, checks that all listed functions are declared, and compiles
// the packages with the mutants.
func TestNames(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	all, replace, err := find(root, work)
	if err != nil || len(all) < 90 {
		t.Fatalf("%d mutants, %v", len(all), err)
	}
	overlay := filepath.Join(work, "overlay.json")
	if err := writeOverlay(overlay, replace); err != nil {
		t.Fatal(err)
	}
	args := []string{"build", "-overlay", overlay}
	for _, target := range targets() {
		args = append(args, "./"+target.dir)
	}
	c := exec.CommandContext(t.Context(), "go", args...)
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("compile the packages with the mutants: %v\n%s", err, out)
	}
}

func TestRunNone(t *testing.T) {
	t.Parallel()
	err := run(t.Context(), options{root: "../../../..", match: "no such text"}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "no mutant's line matches") {
		t.Errorf("got %v", err)
	}
}

func TestNoticed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		code int
		out  string
		want bool
	}{
		{"a test fails", 1, "--- FAIL: TestReview (0.01s)\nFAIL\n", true},
		{"a test panics", 2, "--- FAIL: TestReview (0.01s)\npanic: runtime error\n", true},
		{"out of time", 2, "panic: test timed out after 10m0s\n", true},
		{"killed", -1, "", true},
		{"out of memory", 2, "fatal error: runtime: out of memory\n", true},
		{"no test", 1, "flag provided but not defined\n", false},
	}
	for _, tt := range tests {
		if got, err := noticed(tt.code, tt.out); got != tt.want || (err == nil) != tt.want {
			t.Errorf("%s: got %v, %v", tt.name, got, err)
		}
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	m := mutant{dir: "policy", file: "labels.go", function: "f", from: "a"}
	got := page([]result{{m, policyDir, "TestA"}, {m, runnerDir, ""}, {m, "", ""}}, map[string]string{m.key(): "it cannot be seen"})
	for _, want := range []string{"**3 mutants, 1 survived.**", "| `policy/labels.go` | 3 | 1 | 1 | 1 |", "- `policy/labels.go`, `f`: `a`: it cannot be seen"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %q:\n%s", want, got)
		}
	}
}

// TestGuards finds the conditions of a package with guards.
func TestGuards(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const text = `package runner

func run() error {
	if err != nil {
		return err
	}
	if a || (b && c) || err != nil {
		return nil
	}
	if d {
		log()
	}
	if e {
		return nil
	} else {
		log()
	}
	for {
		if f {
			break
		}
	}
	quiet := l == m || n
	count := o + p
	switch {
	case g, h || i:
	default:
	}
	switch j {
	case k:
	}
	return nil
}
`
	if err := os.Mkdir(filepath.Join(root, "runner"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "runner", "run.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := mutate(root, target{dir: "runner", guards: true}, t.TempDir(), map[string]string{}, map[string]bool{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		got = append(got, m.from)
	}
	if strings.Join(got, "; ") != "a; b && c; f; l == m; n; g; h; i" {
		t.Errorf("got %q", got)
	}
}

// TestParts finds the parts of the conditions of functions that accept.
func TestParts(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const text = `package proposal

func Ticked() {
	for {
		if a && (b || c) && err == nil {
			list()
		}
	}
}

func Permits() bool {
	return d && !e
}

func ClosedSince() bool {
	return f || g && h
}

func other() {
	p.withhold(1, triage.Skip, "why")
	if i && j {
		list()
	}
}
`
	if err := os.Mkdir(filepath.Join(root, "proposal"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "proposal", "x.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := mutate(root, target{dir: "proposal", files: []string{"x.go"}}, t.TempDir(), map[string]string{}, map[string]bool{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		got = append(got, m.from+" -> "+m.to)
	}
	if strings.Join(got, "; ") != "a -> true; (b || c) -> true; d -> true; !e -> true; f -> false; g && h -> false; triage.Skip -> triage.Suggest" {
		t.Errorf("got %q", got)
	}
}

// TestSurvivors checks that every listed survivor is a mutant, and has a reason.
func TestSurvivors(t *testing.T) {
	t.Parallel()
	reasons, err := readSurvivors()
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := find("../../../..", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		delete(reasons, m.key())
	}
	for key := range reasons {
		t.Errorf("%s is no mutant; correct the line, or remove it", key)
	}
}
