package sqlite

import (
	"path/filepath"
	"testing"
)

// BenchmarkInPlace measures the cost of checking the files for each group of writes.
func BenchmarkInPlace(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "queue.db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for b.Loop() {
		if err := s.engine.files.check(); err != nil {
			b.Fatal(err)
		}
	}
}
