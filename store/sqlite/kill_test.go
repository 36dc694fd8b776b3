package sqlite

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

var kills = flag.Int("kill.rounds", 5, "how often two processes on one file are killed")

// childFile names the environment variable with the file that a child process uses.
const childFile = "FOREMAN_TEST_CHILD_FILE"

// TestChild is not a test, but the process that TestKill starts. It prints the acknowledged
// states.
func TestChild(t *testing.T) {
	t.Parallel()
	path := os.Getenv(childFile)
	if path == "" {
		t.Skip("only TestKill starts it")
	}
	s := openAt(t, path)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for c := range 4 {
		wg.Go(func() {
			for round := 0; ; round++ { // until the process is killed
				work(t, s.Queue(), os.Getpid()*10+c, func(id string, p promised) {
					mu.Lock()
					defer mu.Unlock()
					fmt.Fprintf(os.Stdout, "promised %s %s %d\n", id, p.state, p.attempt)
				})
			}
		})
	}
	wg.Wait()
}

// A child is a process that uses a file.
type child struct {
	*exec.Cmd

	out *bufio.Reader
}

func startChild(t *testing.T, path string) child {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childFile+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return child{cmd, bufio.NewReader(out)}
}

// killed kills the process after it has printed a number of acknowledged states. It returns all
// states that the process printed.
func (c child) killed(t *testing.T, after int) map[string]promised {
	t.Helper()
	promises := map[string]promised{}
	for n := 0; ; n++ {
		if n == after {
			if err := c.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
		line, err := c.out.ReadString('\n')
		if err == io.EOF {
			break
		}
		f := strings.Fields(line)
		if err != nil || len(f) != 4 || f[0] != "promised" {
			t.Errorf("a child said %q, %v", line, err)
			break
		}
		attempt, _ := strconv.Atoi(f[3])
		promises[f[1]] = promised{attempt: attempt, state: queue.State(f[2])}
	}
	_ = c.Wait() // the error is that it was killed
	return promises
}

// TestKill repeatedly kills two processes that use one file.
func TestKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "foreman.db")
	r := rand.New(rand.NewPCG(7, 7))
	for round := range *kills {
		all := map[string]promised{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 2 {
			c, after := startChild(t, path), r.IntN(300)
			wg.Go(func() {
				promises := c.killed(t, after)
				mu.Lock()
				defer mu.Unlock()
				for id, p := range promises {
					all[id] = p
				}
			})
		}
		wg.Wait()
		s := openAt(t, path)
		checkIntegrity(t, s.engine)
		for id, p := range all {
			i, err := s.Queue().Inspect(t.Context(), id)
			if err != nil || rank(i.State) < rank(p.state) || i.Attempt < p.attempt {
				t.Errorf("round %d: %s: promised %+v, found %s, attempt %d, %v", round, id, p, i.State, i.Attempt, err)
			}
		}
		twice(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// twice checks that no task was handed out more than once. No claim has expired.
func twice(t *testing.T, s *Store) {
	t.Helper()
	err := s.engine.Read(t.Context(), func(tx sqlstore.Tx) error {
		return tx.Query("SELECT task_id FROM task WHERE attempt > 1 OR epoch > 1", func(r sqlstore.Row) error {
			var id string
			err := r.Scan(&id)
			t.Errorf("%s was handed out twice", id)
			return err
		})
	})
	if err != nil {
		t.Error(err)
	}
}
