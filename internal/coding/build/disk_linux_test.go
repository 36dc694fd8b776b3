package build_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/org/foreman-action/internal/coding/build"
	"github.com/org/foreman-action/internal/coding/build/machine"
)

// TestDiskFull lets an agent fill the disk with the clones, or the disk with the state. It
// skips if it may not mount a file system.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"clones", "checkout"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fill := "head -c 100000000 /dev/zero >fill || true; " + result("builder", built)
			if name == "checkout" {
				fill = `head -c 100000000 /dev/zero >"$(cat .git/objects/info/alternates)/../../.foreman/runs/fill" || true; ` + work + result("builder", built)
			}
			c := newConsumer(t, fill, result("inspector", approved), "")
			dir := c.state
			if name == "checkout" {
				dir = c.root + "/.foreman/runs"
			}
			if err := os.MkdirAll(dir, 0o750); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mount("none", dir, "tmpfs", 0, "size=2m"); err != nil {
				t.Skipf("no right to mount: %v", err)
			}
			t.Cleanup(func() {
				if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
					t.Error(err)
				}
			})
			report, err := build.Run(t.Context(), options(c.root, c.state))
			if report.ExitCode() != 1 || value(report.Reason) != machine.DiskFull {
				t.Errorf("%+v %v, want %s", report, err, machine.DiskFull)
			}
			if name == "clones" {
				c.clean(report)
			}
		})
	}
}
