package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/org/foreman-action/queue"
)

func TestMedium(t *testing.T) {
	t.Parallel()
	code := func(code string) error { return fmt.Errorf("query: %w", &pgconn.PgError{Code: code}) }
	tests := []struct {
		name        string
		err         error
		unavailable bool
	}{
		{"disk full", code("53100"), true},
		{"too many connections", code("53300"), true},
		{"shut down", code("57P01"), true},
		{"starting", code("57P03"), true},
		{"time-out of a statement", code("57014"), true},
		{"a standby", code("25006"), true},
		{"input and output", code("58030"), true},
		{"connection", code("08006"), true},
		{"a lock", code("55P03"), true},
		{"deadlocks, again and again", code("40P01"), true},
		{"one lane, again and again", &pgconn.PgError{Code: "23505", ConstraintName: busyIndex}, true},
		{"refused", &net.OpError{Op: "dial", Err: errors.New("refused")}, true},
		{"cut off", io.ErrUnexpectedEOF, true},
		{"a duplicate", &pgconn.PgError{Code: "23505", ConstraintName: "task_dedup"}, false},
		{"no such table", code("42P01"), false},
		{"syntax", code("42601"), false},
		{"a code of nothing", code(""), false},
		{"not ours", queue.ErrLost, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := medium(t.Context(), tt.err)
			if errors.Is(got, queue.ErrUnavailable) != tt.unavailable || !errors.Is(got, tt.err) {
				t.Errorf("got %v, want ErrUnavailable: %v", got, tt.unavailable)
			}
		})
	}
	if err := medium(t.Context(), nil); err != nil {
		t.Errorf("no error: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := medium(ctx, code("57014")); !errors.Is(err, context.Canceled) || errors.Is(err, queue.ErrUnavailable) {
		t.Errorf("cancelled: got %v, want context.Canceled", err)
	}
}

// TestFull checks that a call waits for a connection while the database grants no further ones, and
// does not ask for one again and again.
func TestFull(t *testing.T) {
	t.Parallel()
	full := fmt.Errorf("connect: %w", &pgconn.PgError{Code: "53300"})
	tests := []struct {
		name  string
		lasts time.Duration
		want  error
		calls int
	}{
		{"not at all", 0, nil, 1},
		{"a moment", time.Second, nil, 21},
		{"for long", time.Minute, queue.ErrUnavailable, maxAttempts},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin, calls := time.Now(), 0
				err := (&engine{timeout: defaultTimeout}).retry(t.Context(), func(context.Context) (bool, error) {
					if calls++; time.Since(begin) < tt.lasts {
						return false, full
					}
					return true, nil
				})
				if !errors.Is(err, tt.want) || calls != tt.calls {
					t.Errorf("got %v after %d calls and %s, want %v after %d calls", err, calls, time.Since(begin), tt.want, tt.calls)
				}
			})
		})
	}
}
