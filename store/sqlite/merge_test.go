package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// sample is the content of a memory file.
func sample(n int) []string {
	return []string{
		fmt.Sprintf("WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < %d) INSERT INTO memory_record (repo, issue, revision, due, data) SELECT 'o/r', n, 2, n * 10, CAST(hex(zeroblob(900)) AS BLOB) FROM s", n),
		"INSERT INTO memory_ledger (path, at, data) VALUES ('o/r/1/a', 100, x'31'), ('o/r/2/b', 100, x'32')",
		"INSERT INTO poll_cursor (repo, at, data) VALUES ('o/r', 100, x'7b7d'), ('o/other', 100, x'7b7d')",
		"INSERT INTO memory_aside (path, at, data) VALUES ('o/r/9', 100, x'ff'), ('o/r/8', 101, x'00')",
	}
}

// fileWith creates a store with the rows that statements insert.
func fileWith(t *testing.T, path string, statements ...string) {
	t.Helper()
	s := openAt(t, path)
	change(t, s, statements...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// content returns the rows of the tables that Merge copies.
func content(t *testing.T, path string) (rows []string) {
	t.Helper()
	s := openAt(t, path)
	defer s.Close()
	err := s.engine.Read(t.Context(), func(tx sqlstore.Tx) error {
		rows = nil
		for _, columns := range []string{
			"repo || '#' || issue || ' ' || revision || ' ' || coalesce(due, '-') || ' ' || hex(data) FROM memory_record",
			"path || ' ' || at || ' ' || hex(data) FROM memory_ledger", "repo || ' ' || at || ' ' || hex(data) FROM poll_cursor",
			"path || ' ' || at || ' ' || hex(data) FROM memory_aside",
		} {
			list, err := sqlstore.All(tx, "SELECT "+columns+" ORDER BY 1", sqlstore.Column[string])
			if err != nil {
				return err
			}
			rows = append(rows, list...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// filesOf returns the content of the files in a folder by name.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		data, failed := os.ReadFile(filepath.Join(dir, e.Name()))
		err = errors.Join(err, failed)
		all[e.Name()] = string(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// abandon copies a store that is in use, as a process that was killed leaves it: with a write-ahead
// log.
func abandon(t *testing.T, from, to string, statements ...string) {
	t.Helper()
	s := openAt(t, from)
	change(t, s, statements...)
	for _, suffix := range suffixes {
		data, err := os.ReadFile(from + suffix)
		if err == nil {
			err = os.WriteFile(to+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	into, from := filepath.Join(dir, "queue.db"), filepath.Join(dir, "memory.db")
	abandon(t, filepath.Join(t.TempDir(), "memory.db"), from, sample(300)...)
	want := content(t, copyOf(t, from))
	if len(want) != 306 {
		t.Fatalf("the sample has %d rows", len(want))
	}
	if err := os.WriteFile(from+"-merge", []byte("of a process that was killed"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := Merge(t.Context(), into, from)
	if err != nil {
		t.Fatal(err)
	}
	if m.Records != 300 || m.Ledgers != 2 || m.Cursors != 2 {
		t.Errorf("got %+v", m)
	}
	if diff := cmp.Diff(want, content(t, into)); diff != "" {
		t.Errorf("the merged rows (-want +got):\n%s", diff)
	}
	names := slices.Sorted(maps.Keys(filesOf(t, dir)))
	if want := []string{filepath.Base(m.Kept), "queue.db"}; !slices.Equal(names, want) || !IsSaveTime(strings.TrimPrefix(m.Kept, from+Merged)) {
		t.Errorf("got the files %v, want %v", names, want)
	}
	// With its old name, the file is what it was.
	if err := os.Rename(m.Kept, from); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, content(t, from)); diff != "" {
		t.Errorf("the rows of the kept file (-want +got):\n%s", diff)
	}
	if m, err := Merge(t.Context(), into, from); err != nil || m.Kept == "" || m.Records+m.Ledgers+m.Cursors != 0 {
		t.Errorf("again: got %+v and %v, want no copied row", m, err)
	}
	if m, err := Merge(t.Context(), into, from); err != nil || m != (MergeResult{}) {
		t.Errorf("without a file: got %+v and %v", m, err)
	}
	if diff := cmp.Diff(want, content(t, into)); diff != "" {
		t.Errorf("the rows after all (-want +got):\n%s", diff)
	}
}

// copyOf copies the three files of a store.
func copyOf(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	for _, suffix := range suffixes {
		data, err := os.ReadFile(path + suffix)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestMergeKeepsNewer merges files that have rows in common.
func TestMergeKeepsNewer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	into, from := filepath.Join(dir, "queue.db"), filepath.Join(dir, "memory.db")
	fileWith(t, from,
		"INSERT INTO memory_record (repo, issue, revision, due, data) VALUES ('o/r', 1, 2, NULL, 'old'), ('o/r', 2, 7, 5, 'old'), ('o/r', 3, 2, 5, 'old')",
		"INSERT INTO memory_ledger (path, at, data) VALUES ('p/1', 10, 'old'), ('p/2', 30, 'old')",
		"INSERT INTO poll_cursor (repo, at, data) VALUES ('o/r', 30, 'old'), ('o/s', 30, 'old')",
		"INSERT INTO memory_aside (path, at, data) VALUES ('p/1', 30, 'old')")
	fileWith(t, into,
		"INSERT INTO memory_record (repo, issue, revision, due, data) VALUES ('o/r', 1, 3, NULL, 'new'), ('o/r', 2, 6, 4, 'new'), ('o/r', 3, 2, 4, 'new')",
		"INSERT INTO memory_ledger (path, at, data) VALUES ('p/1', 20, 'new'), ('p/2', 20, 'new')",
		"INSERT INTO poll_cursor (repo, at, data) VALUES ('o/r', 20, 'new'), ('?presence', 20, 'new')",
		"INSERT INTO memory_aside (path, at, data) VALUES ('p/1', 30, 'old'), ('p/1', 20, 'new')")
	if _, err := Merge(t.Context(), into, from); err != nil {
		t.Fatal(err)
	}
	older, newer := fmt.Sprintf("%X", "old"), fmt.Sprintf("%X", "new")
	want := []string{
		"o/r#1 3 - " + newer, "o/r#2 7 5 " + older, "o/r#3 2 4 " + newer, "p/1 20 " + newer, "p/2 30 " + older,
		"?presence 20 " + newer, "o/r 20 " + newer, "o/s 30 " + older, "p/1 20 " + newer, "p/1 30 " + older,
	}
	if diff := cmp.Diff(want, content(t, into)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMergePublished merges the memory of the published harness.
func TestMergePublished(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	into, from := filepath.Join(dir, "queue.db"), filepath.Join(dir, "memory.db")
	text, err := os.ReadFile("testdata/published_memory.sql")
	if err != nil {
		t.Fatal(err)
	}
	runSQL(t, from, string(text))
	m, err := Merge(t.Context(), into, from)
	if err != nil || m.Records != 5 || m.Cursors != 1 {
		t.Fatalf("got %+v and %v", m, err)
	}
	s := openAt(t, into)
	if r, err := s.Memory().Load(t.Context(), "org/repo", 7); err != nil || len(r.Tasks) != 2 {
		t.Errorf("got %+v and %v", r, err)
	}
	// The kept file is still one of the published harness.
	runSQL(t, m.Kept, "INSERT INTO memory_summary (repo, issue_id, summary) VALUES ('org/repo', 12, 'text')")
}

// TestMergeEarlier merges a file that an earlier version wrote.
func TestMergeEarlier(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	into, from := filepath.Join(dir, "queue.db"), filepath.Join(dir, "memory.db")
	text, err := os.ReadFile("testdata/earlier_memory.sql")
	if err != nil {
		t.Fatal(err)
	}
	runSQL(t, from, "PRAGMA journal_mode = WAL; "+string(text))
	if m, err := Merge(t.Context(), into, from); err != nil || m.Records != 1 || m.Ledgers != 2 || m.Cursors != 1 {
		t.Fatalf("got %+v and %v", m, err)
	}
	s := openAt(t, into)
	const repo = "codertocat/hello-world"
	r, err := s.Memory().Load(t.Context(), repo, 1)
	if err != nil || r.Revision != 2 || len(r.Tasks) != 2 {
		t.Fatalf("got %+v and %v", r, err)
	}
	for _, task := range r.Tasks {
		l, err := s.Journal().Ledger(t.Context(), memory.LedgerKey{Repo: repo, Issue: 1, Task: task.ID})
		if err != nil || len(l.Entries) != 2 {
			t.Errorf("task %s: got %+v and %v", task.ID, l, err)
		}
	}
	if got, err := s.Cursor(t.Context(), repo); err != nil || string(got) != `{"version":1,"at":0,"base":0}` {
		t.Errorf("the cursor: got %s and %v", got, err)
	}
}

// runSQL runs statements on a file, as another program would.
func runSQL(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.ExecContext(t.Context(), statements)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestMergeRefuses checks that Merge changes nothing if it cannot read a file.
func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, from string)
		is      error
		want    string
	}{
		{"newer", func(t *testing.T, from string) {
			fileWith(t, from, "UPDATE foreman_schema SET version = 99")
		}, queue.ErrNewer, "version 99"},
		{"a queue", func(t *testing.T, from string) {
			fileWith(t, from, "INSERT INTO task (task_id, agent, repo, issue, lane, state, priority, joinable, created_at) VALUES ('1', 'a', 'o/r', 1, 'l', 0, 0, 0, 1)")
		}, ErrTasks, "another server"},
		{"no database", func(t *testing.T, from string) {
			if err := os.WriteFile(from, []byte(strings.Repeat("no database at all ", 500)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, nil, "restore a backup of the file, or move it"},
		{"damaged", func(t *testing.T, from string) {
			fileWith(t, from, sample(300)...)
			data, err := os.ReadFile(from)
			if err == nil {
				copy(data[len(data)/2:], strings.Repeat("damaged!", 4096/8*20))
				err = os.WriteFile(from, data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, nil, "restore a backup of the file, or move it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			into, from := filepath.Join(dir, "queue.db"), filepath.Join(dir, "memory.db")
			tt.prepare(t, from)
			fileWith(t, into, sample(1)...)
			before := filesOf(t, dir)
			_, err := Merge(t.Context(), into, from)
			if err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), from) || strings.Contains(err.Error(), "-merge") {
				t.Errorf("got %v", err)
			}
			for name, text := range filesOf(t, dir) {
				if was, ok := before[name]; !ok || name == "queue.db" && was != text {
					t.Errorf("%s was changed or is new", name)
				}
			}
		})
	}
}

// TestMergeInUse merges a file that is in use, and then no longer.
func TestMergeInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	into, from := filepath.Join(dir, "queue.db"), filepath.Join(dir, "memory.db")
	s := openAt(t, from)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it does not wait
	if _, err := Merge(ctx, into, from); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
	if _, err := os.Stat(into); err == nil {
		t.Error("the other file was opened")
	}
	if err := s.Memory().Save(t.Context(), memory.Record{Repo: "o/r", Issue: 1}); err != nil {
		t.Errorf("the program that uses the file: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if m, err := Merge(t.Context(), into, from); err != nil || m.Records != 1 {
		t.Errorf("got %+v and %v", m, err)
	}
}

// TestMergeSame merges a file into itself.
func TestMergeSame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	into, link := filepath.Join(dir, "queue.db"), filepath.Join(dir, "memory.db")
	fileWith(t, into, sample(1)...)
	if err := os.Link(into, link); err != nil {
		t.Skip(err)
	}
	for _, from := range []string{into, link, filepath.Join(dir, "..", filepath.Base(dir), "queue.db")} {
		if m, err := Merge(t.Context(), into, from); err != nil || m != (MergeResult{}) {
			t.Errorf("%s: got %+v and %v", from, m, err)
		}
	}
}

// TestMergeFails fails each statement of a merge in turn, as a crash or the medium would, and then
// merges again. In between the rows are all in one file or all in both.
func TestMergeFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from := filepath.Join(dir, "memory.db")
	fileWith(t, from, sample(3)...)
	want := content(t, from)
	failures := 0
	for n := 1; ; n++ {
		into := filepath.Join(t.TempDir(), "queue.db")
		left := n
		by := &faulty{registered(), func(string) error {
			if left--; left == 0 {
				return errStatement
			}
			return nil
		}}
		_, err := merge(t.Context(), by, into, from)
		if left > 0 {
			break // there is no such statement
		}
		if err != nil && !errors.Is(err, errStatement) {
			t.Fatalf("statement %d: %v", n, err)
		}
		if got := content(t, into); len(got) != 0 && !slices.Equal(got, want) {
			t.Errorf("statement %d: the file has %d of %d rows", n, len(got), len(want))
		}
		if names := slices.Collect(maps.Keys(filesOf(t, dir))); !slices.Equal(names, []string{"memory.db"}) {
			t.Errorf("statement %d left %v", n, names)
		}
		if _, err := merge(t.Context(), registered(), into, from); err != nil {
			t.Errorf("after statement %d: %v", n, err)
		}
		if diff := cmp.Diff(want, content(t, into)); diff != "" {
			t.Errorf("after statement %d (-want +got):\n%s", n, diff)
		}
		if err != nil {
			failures++
		}
	}
	if failures < 40 {
		t.Errorf("only %d statements failed", failures)
	}
}

var errStatement = errors.New("a statement that fails")

// A smallDisk is a driver whose files of one name have a largest size.
type smallDisk struct {
	driver.Driver

	pages int
	name  string
}

func (d smallDisk) Open(name string) (driver.Conn, error) {
	c, err := d.Driver.Open(name)
	if err != nil || !strings.Contains(name, d.name) {
		return c, err
	}
	s, err := c.Prepare(fmt.Sprint("PRAGMA max_page_count = ", d.pages))
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	rows, err := s.(statement).QueryContext(context.Background(), nil)
	if err == nil {
		err = rows.Close()
	}
	return c, errors.Join(err, s.Close())
}

// TestMergeFull merges into a full disk.
func TestMergeFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	into, from := filepath.Join(dir, "queue.db"), filepath.Join(dir, "memory.db")
	fileWith(t, from, sample(2000)...)
	fileWith(t, into)
	_, err := merge(t.Context(), smallDisk{registered(), 200, "queue.db"}, into, from)
	if !errors.Is(err, queue.ErrUnavailable) || !strings.Contains(err.Error(), "free up to ") {
		t.Errorf("got %v", err)
	}
	if got := content(t, into); len(got) != 0 {
		t.Errorf("%d rows were copied", len(got))
	}
	if m, err := Merge(t.Context(), into, from); err != nil || m.Records != 2000 {
		t.Errorf("with room again: got %+v and %v", m, err)
	}
}

// TestMergeAtOnce merges a file several times at the same time, as servers do that share a file.
func TestMergeAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	into, from := filepath.Join(dir, "queue.db"), filepath.Join(dir, "memory.db")
	fileWith(t, from, sample(100)...)
	want := content(t, from)
	const servers = 4
	results, errs := make(chan MergeResult, servers), make(chan error, servers)
	for range servers {
		go func() {
			m, err := Merge(t.Context(), into, from)
			results <- m
			errs <- err
		}()
	}
	kept := 0
	for range servers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
		if m := <-results; m.Kept != "" {
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("%d of %d renamed the file", kept, servers)
	}
	if diff := cmp.Diff(want, content(t, into)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
