//go:build linux

package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/coding/git"
)

// TestLimitOfAll checks that a limit also ends the programs that git has started.
func TestLimitOfAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := git.Repo{Dir: dir, Environ: os.Environ(), Limit: time.Second}
	if _, err := r.Run(t.Context(), "-c", "alias.x=!echo $$ >pid; sleep 20; true", "x"); err == nil || !strings.Contains(err.Error(), "longer than 1s") {
		t.Errorf("got %v", err)
	}
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); ; {
		stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(pid)), "stat"))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Since(start) > 5*time.Second {
			t.Fatalf("it runs: %s", stat)
		}
	}
}
