package postgres

import (
	"testing"
	"time"
)

// Settings returns what a transaction of the store runs with.
func (s *Store) Settings(t *testing.T) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, name := range []string{"synchronous_commit", "transaction_isolation", "transaction_read_only", "idle_in_transaction_session_timeout"} {
		var value string
		if err := s.engine.pool.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&value); err != nil {
			t.Fatal(err)
		}
		got[name] = value
	}
	return got
}

// Clock returns what the database's clock shows.
func (s *Store) Clock(t *testing.T) time.Time {
	t.Helper()
	var now time.Time
	if err := s.engine.pool.QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&now); err != nil {
		t.Fatal(err)
	}
	return now
}
