//go:build linux && !race

package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/sqlite"
)

var weightTasks = flag.Int("weight.tasks", 3000, "how many tasks wait while the memory of the server is looked at; make weight asks for 100,000")

// TestMemoryWithLongQueue checks that the server with many waiting tasks stays below 60 MB. It
// is not run with the race detector, because the server is built without it.
func TestMemoryWithLongQueue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, filepath.Join(dir, "queue.db"), *weightTasks)
	program := filepath.Join(dir, "foremand")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	config := "identity: {github_token: t, github_user: bot}\npolling: {enabled: false}\n" +
		"repos: [{owner: o, name: r, agents: [{type: issue-triage, config: {url: \"http://127.0.0.1:1\"}}]}]\n"
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", "--config", "config.yaml", "--queue-db", "queue.db", "--port", "0")
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	var most int
	for range 30 { // 3 s: the loops looked at the queue more than once
		time.Sleep(100 * time.Millisecond)
		most = max(most, residentKB(t, cmd.Process.Pid))
	}
	t.Logf("%d kB resident with %d tasks that wait", most, *weightTasks)
	if most == 0 || most > 60<<10 {
		t.Errorf("%d kB resident, want at most 60 MB", most)
	}
}

// fill puts tasks of about 2 kB into a queue.
func fill(t *testing.T, path string, n int) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const lanes = 64 // concurrent writers, whose commits are grouped
	text := strings.Repeat("It crashes. ", 150)
	errs := make(chan error, lanes)
	for lane := range lanes {
		go func() {
			for i := lane; i < n; i += lanes {
				id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
				message := fmt.Sprintf(`{"task_id":%q,"type":"issue.triage","repo":"o/r","payload":{"number":%d,"title":"T","body":%q},"context":{"llm_backend":{"provider":"a","model":"m"},"memory_summary":null}}`, id, i+1, text)
				_, err := s.Queue().Enqueue(t.Context(), queue.Task{ID: id, Agent: "http://127.0.0.1:1", Repo: "o/r", Issue: i + 1, Message: []byte(message)})
				if err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range lanes {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
}

// residentKB returns a process's peak memory in kB, and 0 after the process ended.
func residentKB(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	return 0
}
