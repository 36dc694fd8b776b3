package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/testkit/ramdir"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store/sqlite"
)

// holderSwitch names the environment variable that turns the test binary into a process which
// leases a decision from the given file and waits until it is killed.
const holderSwitch = "SQLITE_TEST_HOLDER"

func TestMain(m *testing.M) {
	if path := os.Getenv(holderSwitch); path != "" {
		fmt.Println(leaseAndWait(path))
		os.Exit(1)
	}
	os.Exit(ramdir.Tests{M: m, Setenv: os.Setenv}.Run())
}

func leaseAndWait(path string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	list, err := s.Queue().LeaseDecisions(ctx, queue.DrainOptions{Owner: "first", Lease: time.Hour, Limit: 1})
	if err != nil || len(list) != 1 {
		return fmt.Errorf("got %d decisions: %w", len(list), err)
	}
	fmt.Println("leased")
	_, err = os.Stdin.Read(make([]byte, 1))
	return err
}

// decided returns a store with tasks that have decisions.
func decided(t *testing.T, path string, clock *queuetest.Clock, ids ...string) *sqlite.Store {
	t.Helper()
	var now func() time.Time
	if clock != nil {
		now = clock.Now
	}
	s := open(t, path, now)
	for _, id := range ids {
		if _, err := s.Queue().Enqueue(t.Context(), queue.Task{ID: id, Repo: "o/r", Message: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestHolderKilled kills a process that has leased a decision for an hour. Another process can
// lease the decision immediately afterwards, but not before.
func TestHolderKilled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "foreman.db")
	s := decided(t, path, nil, "1")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), holderSwitch+"="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "leased\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	got, err := s.Queue().RequeueLeases(t.Context(), 0)
	if err != nil || len(got.Requeued) > 0 || len(got.Others) != 1 || got.Others[0].Owner != "first" || got.Others[0].Left > time.Hour {
		t.Errorf("while it lives: got %+v, %v, want one lease of another process", got, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	got, err = s.Queue().RequeueLeases(t.Context(), 0)
	if err != nil || len(got.Requeued) != 1 || got.Requeued[0].State != queue.Completed || len(got.Others) > 0 {
		t.Errorf("when it was killed: got %+v, %v, want its decision", got, err)
	}
	d, err := s.Queue().Inspect(t.Context(), "1")
	if err != nil || len(d.Log) != 1 || !strings.Contains(d.Log[0].Text, "has ended") || d.Log[0].Who != "first" {
		t.Errorf("got the log %+v, %v", d.Log, err)
	}
	if list, err := s.Queue().LeaseDecisions(t.Context(), queue.DrainOptions{Lease: time.Hour, Limit: 1}); err != nil || len(list) != 1 || list[0].Epoch != 2 {
		t.Errorf("got %+v, %v, want the second lease", list, err)
	}
	// The next call of Ended by another process deletes the lock file of the killed process.
	other := open(t, path, nil)
	if _, err := other.Queue().RequeueLeases(t.Context(), 0); err != nil {
		t.Error(err)
	}
	if files, _ := filepath.Glob(path + "-server-*"); len(files) != 2 {
		t.Errorf("got the locks %v, want those of the two processes that live", files)
	}
}

// TestHolderUnknown deletes the lock file of a living process: its leases have to expire.
func TestHolderUnknown(t *testing.T) {
	t.Parallel()
	path, clock := filepath.Join(t.TempDir(), "foreman.db"), queuetest.NewClock()
	a, b := decided(t, path, clock, "1", "2"), open(t, path, clock.Now)
	for range 2 {
		if _, err := a.Queue().LeaseDecisions(t.Context(), queue.DrainOptions{Owner: "a", Lease: time.Minute, Limit: 1}); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(path + "-server-*")
	if err != nil || len(files) != 1 {
		t.Fatalf("got %v, %v, want one lock", files, err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Queue().RequeueLeases(t.Context(), 0); err != nil || len(got.Requeued) > 0 || len(got.Others) != 2 {
		t.Errorf("got %+v, %v, want two leases of another process", got, err)
	}
	if got, err := a.Queue().RequeueLeases(t.Context(), 0); err != nil || len(got.Requeued) > 0 || len(got.Others) > 0 {
		t.Errorf("got %+v, %v, want none of another process", got, err)
	}
	clock.Advance(time.Minute)
	if got, err := b.Queue().RequeueLeases(t.Context(), 1); err != nil || len(got.Requeued) != 2 || got.Requeued[0].State != queue.Failed {
		t.Errorf("got %+v, %v, want two tasks that failed, as they were tried once", got, err)
	}
}

// TestHolderClosed closes a store: no lock file is left.
func TestHolderClosed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "foreman.db")
	s := decided(t, path, nil, "1")
	if _, err := s.Queue().LeaseDecisions(t.Context(), queue.DrainOptions{Lease: time.Hour, Limit: 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(path + "-server-*"); len(files) > 0 {
		t.Errorf("got %v", files)
	}
}
