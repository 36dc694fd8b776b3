package sqlite

import "time"

// WaitForReaders has the writer of a store that is not in use yet wait for so long until
// nobody reads from the journal.
func WaitForReaders(s *Store, d time.Duration) { s.engine.writer.journal.patience = d }
