package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
)

// Several processes may open one database: each task is handed out to one of them only.
func ExampleOpen() {
	ctx := context.Background()
	s, err := postgres.Open(ctx, "postgres://foreman:secret@127.0.0.1:1/foreman", postgres.Options{})
	if errors.Is(err, queue.ErrUnavailable) {
		fmt.Println("the database is out of reach")
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	claim, err := s.Queue().ClaimNext(ctx, "http://triage:9001/", queue.ClaimOptions{Lease: 5 * time.Minute})
	fmt.Println(claim.ID, err)
	// Output: the database is out of reach
}
