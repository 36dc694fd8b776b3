//go:build unix

package faults_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/sqlite"
)

// TestRemoved removes or replaces files of the queue while webhooks arrive. The server rejects
// further webhooks, ends with an error, and saves each task that it accepted.
func TestRemoved(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts processes")
	}
	program := build(t)
	for _, tt := range []struct {
		name   string
		remove func(path string) error
	}{
		{"the file", os.Remove},
		{"the log", func(path string) error { return os.Remove(path + "-wal") }},
		{"replaced by a backup", func(path string) error {
			return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, setting{program: program, servers: 1})
			s.end("agent")
			removed(t, s, tt.remove)
		})
	}
}

// removed sends webhooks until the server has ended. It calls remove meanwhile, and compares the
// accepted webhooks with the rescued tasks.
func removed(t *testing.T, s *stage, remove func(path string) error) {
	t.Helper()
	if err := s.deliver(t.Context(), 1); err != nil { // wait until the server runs
		t.Fatal(err)
	}
	server, url := s.procs[serverName(0)], fmt.Sprintf("http://127.0.0.1:%d", s.ports[0])
	var mu sync.Mutex
	accepted, refused := map[int]bool{1: true}, 0
	var senders sync.WaitGroup
	for w := range 4 {
		senders.Go(func() {
			for n := 1; ; n++ {
				number := w*1_000_000 + n + 1
				status, err := webhook(t.Context(), url, number, time.Now().UTC())
				if err != nil {
					return // the server has ended
				}
				mu.Lock()
				switch status {
				case http.StatusAccepted:
					accepted[number] = true
				case http.StatusServiceUnavailable:
					refused++
				default:
					t.Errorf("got status %d", status)
				}
				mu.Unlock()
			}
		})
	}
	enough := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(accepted) >= 50
	}
	for !enough() && wait(t.Context(), 5*time.Millisecond) { // until some webhooks were accepted
	}
	path := filepath.Join(s.dir, ".local", "state", "foreman", "queue.db")
	if err := remove(path); err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	senders.Wait()
	<-server.done
	took := time.Since(at)
	if code := server.cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("got exit code %d, want 1\n%s", code, s.logs())
	}
	saved, err := filepath.Glob(path + sqlite.Rescued + "*")
	if err != nil || len(saved) != 1 {
		t.Fatalf("there are %d copies, want one: %v\n%s", len(saved), err, s.logs())
	}
	lost := len(accepted)
	for _, i := range tasks(t, saved[0]) {
		if accepted[i] {
			lost--
		}
	}
	t.Logf("%d webhooks accepted, %d refused, %d lost; the server ended %s after the file was gone", len(accepted), refused, lost, took.Round(time.Millisecond))
	if lost > 0 {
		t.Errorf("%d of %d were lost\n%s", lost, len(accepted), s.logs())
	}
}

// tasks returns the issues of all tasks in a queue's file.
func tasks(t *testing.T, path string) (issues []int) {
	t.Helper()
	q, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for filter := (queue.Filter{Limit: 100}); ; {
		list, err := queue.List(t.Context(), q.Queue(), filter)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			return issues
		}
		for _, i := range list {
			issues = append(issues, i.Issue)
			filter.Before = i.Seq
		}
	}
}
