package e2e

import (
	"strings"
	"testing"
)

// TestDisk runs the image with the file store on a full or read-only disk. A failure to store is a
// warning, and the decision is still carried out.
func TestDisk(t *testing.T) {
	needEngine(t)
	build(t)
	host := bridge(t)
	for name, extra := range map[string][]string{
		"read-only":           {"--read-only"},
		"full from the start": {"--tmpfs", "/memory:size=4k,nr_inodes=1"},
		"full halfway":        {"--tmpfs", "/memory:size=4k"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, host)
			s := w.run("opened", func(s *step) {
				s.SetInput("memory", "file")
				s.SetInput("memory-path", "/memory")
				s.extra = extra
			})
			w.wantTold("null")
			w.wantIssue("bug", "documentation")
			if list := strings.Join(warnings(s), "\n"); !strings.Contains(list, "the record of this task is not saved") {
				t.Errorf("got the warnings %q", list)
			}
		})
	}
}
