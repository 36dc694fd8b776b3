package sqlite

import (
	"testing"
	"time"
)

// WaitForReaders sets how long a restart of the log waits for readers. The store must be unused.
func WaitForReaders(s *Store, d time.Duration) { s.engine.db.checkpoints.patience = d }

// Change runs statements in one transaction.
func Change(tb testing.TB, s *Store, statements ...string) {
	tb.Helper()
	change(tb, s, statements...)
}
