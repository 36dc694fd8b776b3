package rules_test

import (
	"os"
	"os/exec"
	"testing"
)

// TestWebAssembly builds this package and all below for a browser.
func TestWebAssembly(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode leaves out builds for another system")
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "build", "./...")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
