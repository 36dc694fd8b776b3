package sqlite

import "time"

// WaitForReaders sets how long the writer of an unused store waits for readers of the log.
func WaitForReaders(s *Store, d time.Duration) { s.engine.db.checkpoints.patience = d }
