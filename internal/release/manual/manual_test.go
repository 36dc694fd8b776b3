package manual_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/release/manual"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	first, second := t.TempDir(), t.TempDir()
	at := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	for _, folder := range []string{first, second} {
		if err := manual.Write(folder, "v1.2.3", at); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{
		"man/foreman/foreman.1":            "v1.2.3",
		"man/foreman/foreman-rules-test.1": "Jan 2026",
		"man/foremand/foremand-serve.1":    "SYNOPSIS",
		"man/contribflow/contribflow-pr.1": "approved",
		"completions/foreman.bash":         "__foreman_",
		"completions/foremand.zsh":         "#compdef foremand",
		"completions/contribflow.fish":     "contribflow",
		"completions/foreman.ps1":          "Register-ArgumentCompleter",
	}
	for name, part := range want {
		text, err := os.ReadFile(filepath.Join(first, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(text), part) {
			t.Errorf("%s has no %q", name, part)
		}
		again, err := os.ReadFile(filepath.Join(second, name))
		if err != nil || !bytes.Equal(again, text) {
			t.Errorf("%s differs when it is written again: %v", name, err)
		}
	}
}
