package database

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// saved creates files beside a database, like those that a server saves when it loses the database.
func saved(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCopiesAreBounded starts a server beside copies of lost databases and logs of overwritten
// ones: of each kind the oldest and the newest stay, and all that a person has touched.
func TestCopiesAreBounded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		have func(kind string) []string
		want []int // minutes of the copies that stay, of both kinds
		kept []string
	}{
		{"one", minutes(7), []int{7}, nil},
		{"five", minutes(1, 2, 3, 4, 5), []int{1, 2, 3, 4, 5}, nil},
		{"eight", minutes(8, 1, 2, 3, 4, 5, 6, 7), []int{1, 2, 6, 7, 8}, nil},
		{"one that somebody opened, renamed or made", func(kind string) []string {
			return append(minutes(1, 2, 3, 4, 5, 6, 7)(kind), name(kind, 4)+"-wal", name(kind, 3)+".keep", "queue.db"+kind+"mine")
		}, []int{1, 2, 4, 5, 6, 7}, []string{"-wal", ".keep", "mine"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, kind := range []string{".rescued-", ".log-"} {
				saved(t, dir, tt.have(kind)...)
			}
			var log bytes.Buffer
			s, copies, err := OpenServer(t.Context(), Locations{Queue: filepath.Join(dir, "queue.db")}, slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for _, kind := range []string{".rescued-", ".log-"} {
				var got, want []string
				for _, file := range tt.have(kind) {
					if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
						got = append(got, file)
					} else if !strings.Contains(log.String(), file) {
						t.Errorf("%s was deleted, and the log does not name it:\n%s", file, log.String())
					}
				}
				stays := map[string]bool{}
				for _, minute := range tt.want {
					stays[name(kind, minute)] = true
				}
				for _, file := range tt.have(kind) {
					if stays[file] || len(file) != len(name(kind, 1)) {
						want = append(want, file)
					}
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("got  %v\nwant %v", got, want)
				}
			}
			if err := copies.Err(); err == nil || !strings.Contains(err.Error(), name(".rescued-", tt.want[0])) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestCopiesBesideTheTarget checks that if the database is a symbolic link, the copies are beside
// the target of the link.
func TestCopiesBesideTheTarget(t *testing.T) {
	t.Parallel()
	dir, links := t.TempDir(), t.TempDir()
	saved(t, dir, name(".rescued-", 1))
	if err := os.Symlink(filepath.Join(dir, "queue.db"), filepath.Join(links, "link.db")); err != nil {
		t.Skip(err)
	}
	first, _, err := OpenServer(t.Context(), Locations{Queue: filepath.Join(dir, "queue.db")}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	at := filepath.Join(links, "link.db")
	s, copies, err := OpenServer(t.Context(), Locations{Queue: at}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if copies.Err() == nil {
		t.Error("the copy is not reported")
	}
}

func minutes(list ...int) func(kind string) []string {
	return func(kind string) (names []string) {
		for _, m := range list {
			names = append(names, name(kind, m))
		}
		return names
	}
}

func name(kind string, minute int) string {
	return fmt.Sprintf("queue.db%s20261124T10%02d00.123", kind, minute)
}
