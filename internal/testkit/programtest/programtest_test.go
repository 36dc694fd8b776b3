package programtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/org/foreman-action/internal/testkit/programtest"
)

// TestWrite writes programs and runs each at once, while other processes are started.
func TestWrite(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no /bin/sh")
	}
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 25 {
				path := filepath.Join(dir, strconv.Itoa(i), strconv.Itoa(j))
				if err := programtest.Write(path, "#!/bin/sh\nexit 0\n"); err != nil {
					t.Error(err)
					return
				}
				if err := exec.CommandContext(t.Context(), path).Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func TestOneDocument(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]bool{"{}\n": true, " [1, 2]": true, "": false, "text": false, "{} {}": false, "{}\ntext": false, "{": false} {
		if err := programtest.OneDocument(output); (err == nil) != want {
			t.Errorf("%q: got %v", output, err)
		}
	}
}
