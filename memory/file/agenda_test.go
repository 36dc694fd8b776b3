package file_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/memory/memorytest"
)

func TestFileAgenda(t *testing.T) {
	t.Parallel()
	memorytest.RunAgenda(t, func(t *testing.T) memory.Agenda {
		s, err := file.Open(filepath.Join(t.TempDir(), "memory"))
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// TestFileAgendaStrangers adds files to the folder that are not records or cannot be decoded. The
// list is incomplete only if such a file has the name of a record and may contain a closing.
func TestFileAgendaStrangers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, content string
		complete            bool
	}{
		{"another file", "notes.txt", `"closings"`, true},
		{"set aside", "8.broken-00.json", `{"closings"`, true},
		{"no number", "08.json", `{"closings"`, true},
		{"broken without a closing", "8.json", "{", true},
		{"broken", "8.json", `{"closings": [`, false},
		{"newer", "8.json", `{"schema": 4, "closings": []}`, false},
		{"of another issue", "8.json", `{"schema": 1, "repo": "org/repo", "issue": 9, "revision": 1, "tasks": [], "closings": []}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, err := file.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			r := memorytest.Sample("org/repo", 7)
			r.Plan(memory.ScheduledClose{Due: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)})
			if err := s.Save(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "org/repo", tt.file), []byte(tt.content), 0o644); err != nil {
				t.Fatal(err)
			}
			list, complete, err := s.Pending(t.Context(), "org/repo")
			if err != nil || complete != tt.complete || len(list) != 1 || list[0].Issue != 7 {
				t.Errorf("got %v, complete %t, %v, want issue 7, complete %t", list, complete, err, tt.complete)
			}
		})
	}
}
