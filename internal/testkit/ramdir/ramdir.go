// Package ramdir puts the temporary files of tests into memory, so that tests with many small
// files, databases and git repositories do not wait for the disk.
package ramdir

import (
	"fmt"
	"os"
)

// needed is how much memory must be free, in bytes: more than the tests of all packages use at the
// same time.
const needed = 2 << 30

// Use makes a file system in memory, if there is one, the place of temporary files for this process
// and its children. It sets TMPDIR by setenv, which is os.Setenv or t.Setenv. It does not change a
// TMPDIR other than /tmp. TestMain calls it before the tests.
func Use(setenv func(name, value string) error) error {
	if os.TempDir() != "/tmp" || !usable(memory) {
		return nil
	}
	if err := setenv("TMPDIR", memory); err != nil {
		return fmt.Errorf("put temporary files into memory: %w", err)
	}
	return nil
}

// Tests run with their temporary files in memory.
type Tests struct {
	M      interface{ Run() int } // a *testing.M
	Setenv func(name, value string) error
}

// Run calls Use, runs the tests, and returns the exit code.
func (t Tests) Run() int {
	if err := Use(t.Setenv); err != nil {
		panic(err)
	}
	return t.M.Run()
}
