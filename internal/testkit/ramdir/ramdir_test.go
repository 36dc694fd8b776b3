package ramdir_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/org/foreman-action/internal/testkit/programtest"
	"github.com/org/foreman-action/internal/testkit/ramdir"
)

// set returns t.Setenv with the signature of os.Setenv.
func set(t *testing.T) func(name, value string) error {
	t.Helper()
	return func(name, value string) error {
		t.Setenv(name, value)
		return nil
	}
}

// TestUse runs a program in a temporary folder, which is in memory where that is possible.
func TestUse(t *testing.T) {
	t.Setenv("TMPDIR", "/tmp")
	if err := ramdir.Use(set(t)); err != nil {
		t.Fatal(err)
	}
	place := os.Getenv("TMPDIR")
	if place == "/tmp" {
		t.Skip("there is no file system in memory with enough room")
	}
	dir := t.TempDir()
	if filepath.Dir(filepath.Dir(dir)) != place {
		t.Errorf("got the folder %s, want one below %s", dir, place)
	}
	program := filepath.Join(dir, "program")
	if err := programtest.Write(program, "#!/bin/sh\necho here\n"); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), program).CombinedOutput(); err != nil || string(out) != "here\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

// TestUseKeeps checks that a folder chosen by the user does not change.
func TestUseKeeps(t *testing.T) {
	chosen := t.TempDir()
	t.Setenv("TMPDIR", chosen)
	if err := ramdir.Use(set(t)); err != nil || os.Getenv("TMPDIR") != chosen {
		t.Errorf("got %q, %v, want %q", os.Getenv("TMPDIR"), err, chosen)
	}
}
