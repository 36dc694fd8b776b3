package hosttest

import (
	"testing"

	"github.com/org/foreman-action/runner"
)

// TestMemory runs the suite on the host in memory.
func TestMemory(t *testing.T) {
	t.Parallel()
	Test(t, func(_ *testing.T, r Repo) runner.Host { return New(r).Host("") })
}
