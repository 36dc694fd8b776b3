package lint_test

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/lint"
	"github.com/org/foreman-action/internal/yamlfile"
)

// TestHabits checks files with one mistake each: those of testdata/wrong are refused, and those of
// testdata/doubtful are valid, but do something else than they seem to. The first line of an archive
// has the line of the mistake and a part of a good message: what to write instead, or the reason.
func TestHabits(t *testing.T) {
	t.Parallel()
	for folder, least := range map[string]int{"wrong": 89, "doubtful": 45} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			names, err := filepath.Glob("testdata/" + folder + "/*.txtar")
			if err != nil || len(names) < least {
				t.Fatalf("got %d cases, want %d: %v", len(names), least, err)
			}
			good := 0
			for _, name := range names {
				ar, err := txtar.ParseFile(name)
				if err != nil {
					t.Fatal(err)
				}
				number, part, _ := strings.Cut(strings.TrimSpace(string(ar.Comment)), " ")
				line, err := strconv.Atoi(number)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				found := problemsOf(t, archive{ar})
				if answered(found, line, part, folder == "doubtful") {
					good++
				} else {
					t.Errorf("%s: want %q in line %d, got\n%v", name, part, line, found)
				}
			}
			t.Logf("%d of %d have a good message", good, len(names))
		})
	}
}

// answered reports whether a problem is in the line and contains the part.
func answered(found yamlfile.Problems, line int, part string, warning bool) bool {
	for _, p := range found {
		if p.Line == line && p.Warning == warning && strings.Contains(p.Message, part) {
			return true
		}
	}
	return false
}

// problemsOf returns the mistakes of the foreman.yml, or else its warnings.
func problemsOf(t *testing.T, files archive) yamlfile.Problems {
	t.Helper()
	src, err := files.Read(t.Context(), "foreman.yml")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Parse("foreman.yml", src, nil)
	if problems, ok := errors.AsType[yamlfile.Problems](err); ok {
		return problems
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := yamlfile.Parse("foreman.yml", src)
	if err != nil {
		t.Fatal(err)
	}
	repo, err := lint.Read(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range actions.Inputs() {
		repo.Inputs = append(repo.Inputs, string(input.Name))
	}
	return append(lint.Check(cfg, []*yamlfile.File{f}, repo), cfg.Warnings...)
}
