package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/sqlite"
)

// TestCheckpoint writes more than the log may contain under constant reads. After each write it
// checks the size of the log.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	const (
		clients, tasks = 2, 400
		bound          = 44 << 20 // 10,000 pages and the pages of a few transactions
	)
	path := filepath.Join(t.TempDir(), "foreman.db")
	s := open(t, path, nil)
	sqlite.WaitForReaders(s, time.Minute) // on a busy machine a reader may take long
	message := fmt.Appendf(nil, `{"text":%q}`, bytes.Repeat([]byte("x"), 64<<10))
	var writers, readers sync.WaitGroup
	over := make(chan struct{})
	for range clients {
		readers.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				if _, err := s.Queue().Stats(t.Context()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for c := range clients {
		writers.Go(func() {
			for i := range tasks {
				id := fmt.Sprint(c, "-", i)
				if _, err := s.Queue().Enqueue(t.Context(), queue.Task{ID: id, Agent: busyAgent, Repo: "o/r", Issue: 1, Message: message}); err != nil {
					t.Error(err)
					return
				}
				info, err := os.Stat(path + "-wal")
				if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() > bound {
					t.Errorf("after %s: the journal has %d bytes, want at most %d (%v)", id, info.Size(), bound, err)
					return
				}
			}
		})
	}
	writers.Wait()
	close(over)
	readers.Wait()
}
