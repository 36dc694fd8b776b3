package plan

import (
	"os/exec"
	"testing"
)

// TestWebAssembly builds the deciding packages for a browser. They do not read anything, so they
// must not need an operating system.
func TestWebAssembly(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short mode leaves out builds for another system")
	}
	const module = "github.com/org/foreman-action/"
	cmd := exec.CommandContext(t.Context(), "go", "build", module+"policy", module+"rules", module+"rules/facts",
		module+"runner/effect", module+"runner/internal/history", module+"runner/internal/plan")
	cmd.Env = append(cmd.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
