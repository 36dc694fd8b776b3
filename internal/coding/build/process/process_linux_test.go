package process_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestHidden checks that a command cannot read the environment of the program that runs it. The
// program is not run by root, because root may read everything.
func TestHidden(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, folder := range []string{dir, filepath.Dir(dir)} { // only their owner may use them
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, "program")
	copyProgram(t, name)
	program := exec.Command(name, "hidden", "sh", "-c", `pid=$(cut -d" " -f4 /proc/$PPID/stat); kill -0 $pid && echo it runs; cat /proc/$pid/environ /proc/$pid/maps && echo read`)
	program.Env = append(os.Environ(), "SECRET=hunter2", "GOCOVERDIR="+dir)
	if os.Geteuid() == 0 {
		const nobody = 65534
		program.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		program.Dir = dir
	}
	out, err := program.CombinedOutput()
	if text := string(out); err != nil || !strings.Contains(text, "it runs") || !strings.Contains(text, "Permission denied") || strings.Contains(text, "hunter2") || strings.Contains(text, "read\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

func copyProgram(t *testing.T, name string) {
	t.Helper()
	from, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(to, from)
	if closeErr := to.Close(); err != nil || closeErr != nil {
		t.Fatal(err, closeErr)
	}
}

// TestChain checks that a chain of processes, each of which starts the next one and ends, does not
// outlive its command.
func TestChain(t *testing.T) {
	t.Parallel()
	for range 20 {
		c, _ := shell(t, `eval "$CHAIN"; eval "$CHAIN"; eval "$CHAIN"; sleep 0.05`)
		mark := "CHAIN_MARK=" + filepath.Base(filepath.Dir(c.Dir)) + filepath.Base(c.Dir)
		c.Env = append(c.Env, `CHAIN=sh -c "$CHAIN" &`, mark)
		run(t, c)
		if left := withVariable(t, mark); len(left) > 0 {
			t.Fatalf("the processes %v are still there", left)
		}
	}
}

// withVariable returns the processes that have a variable in their environment.
func withVariable(t *testing.T, variable string) (pids []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range all {
		data, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err == nil && strings.Contains("\x00"+string(data), "\x00"+variable+"\x00") {
			pids = append(pids, filepath.Base(dir))
		}
	}
	return pids
}
