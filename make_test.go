package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestMakeImage checks that make image without a static busybox names it, and builds nothing. The
// stand-in for docker has no images, and that for ldd finds libraries in every program.
func TestMakeImage(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are scripts for the shell of Unix")
	}
	for _, name := range []string{"make", "bash", "git"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is needed, and not installed", name)
		}
	}
	bin := t.TempDir()
	for name, script := range map[string]string{"docker": "[ \"$1\" = build ] && echo built; exit 1", "ldd": "exit 0"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "make", "image")
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if text := string(out); err == nil || !strings.Contains(text, "install the package busybox-static") || strings.Contains(text, "\nbuilt") {
		t.Errorf("got %v\n%s", err, out)
	}
}
