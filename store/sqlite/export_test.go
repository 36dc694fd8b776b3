package sqlite

import (
	"testing"
	"time"
)

// WaitForReaders sets how long the writer of an unused store waits for readers of the log.
func WaitForReaders(s *Store, d time.Duration) { s.engine.db.checkpoints.patience = d }

// Change runs statements in one transaction.
func Change(tb testing.TB, s *Store, statements ...string) {
	tb.Helper()
	change(tb, s, statements...)
}
