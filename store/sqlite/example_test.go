package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/sqlite"
)

func Example() {
	dir, err := os.MkdirTemp("", "foreman")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	s, err := sqlite.Open(ctx, filepath.Join(dir, "queue.db"), sqlite.Options{})
	if err != nil {
		panic(err)
	}
	defer s.Close()

	task := queue.Task{
		ID: "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d", Agent: "http://agent:8000", Repo: "org/repo", Issue: 7,
		Message: []byte(`{"type":"issue.triage"}`),
	}
	if _, err := s.Queue().Enqueue(ctx, task); err != nil {
		panic(err)
	}
	claim, err := s.Queue().ClaimNext(ctx, "http://agent:8000", queue.ClaimOptions{Lease: 5 * time.Minute})
	if err != nil {
		panic(err)
	}
	fmt.Printf("attempt %d: %s\n", claim.Attempt, claim.Message)
	// Output: attempt 1: {"type":"issue.triage"}
}
