package main

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestFindOriginal finds the newest version by its numbers.
func TestFindOriginal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		versions []string
		want     string
	}{
		{"two digits", []string{"v9", "v10"}, "v10"},
		{"parts", []string{"v9.10.0", "v9.9.1", "v9.10.1"}, "v9.10.1"},
		{"more parts", []string{"v9", "v9.0.1"}, "v9.0.1"},
		{"none", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, v := range tt.versions {
				folder := filepath.Join(dir, "stale", v)
				if err := os.MkdirAll(folder, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(folder, "action.yml"), []byte("runs: {main: dist/index.js}\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, ok, err := findOriginal(dir, "stale")
			if err != nil || ok != (tt.want != "") || got.version != tt.want {
				t.Errorf("got %q, %v, %v; want %q", got.version, ok, err, tt.want)
			}
		})
	}
}

func TestInputsOf(t *testing.T) {
	t.Parallel()
	got, err := inputsOf([]byte("jobs: {a: {steps: [{with: {x: 1}}, {run: y}, {with: {z: w}}]}}"))
	if want := map[string]string{"x": "1", "z": "w"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if got, err := inputsOf([]byte("jobs: [")); err == nil {
		t.Errorf("a workflow that is no YAML: got %v, want an error", got)
	}
}

// TestInputsOfCases reads the inputs in the rivals' workflows.
func TestInputsOfCases(t *testing.T) {
	t.Parallel()
	for _, r := range rivals() {
		ar, err := txtar.ParseFile(filepath.Join("../../../..", casesDir, r.tool, r.config+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			if ok, _ := filepath.Match(".github/workflows/*", f.Name); !ok {
				continue
			}
			if _, err := inputsOf(f.Data); err != nil {
				t.Errorf("%s: %s: %v", r.config, f.Name, err)
			}
		}
	}
}
