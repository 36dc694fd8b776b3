package file_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/memory/memorytest"
	"github.com/org/foreman-action/triage"
)

// TestFileJournalLong marks entries until the file would be too large. Then Mark writes a new,
// shorter file.
func TestFileJournalLong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, ledgerFile)
	j := open(t, dir)
	l := memorytest.SampleLedger(sampleKey)
	l.Decision.Rationale = strings.Repeat("x", memory.MaxLedger-4_000)
	if err := j.Begin(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	e := entry(1, triage.Failed)
	for i := range 7 {
		e.Reason = fmt.Sprint(i, strings.Repeat("because ", 60))
		if err := j.Mark(t.Context(), sampleKey, e); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil || info.Size() > memory.MaxLedger {
			t.Fatalf("mark %d: %d bytes, %v", i, info.Size(), err)
		}
	}
	e.Values = strings.Fields(strings.Repeat(strings.Repeat("v", 500)+" ", 50))
	if err := j.Mark(t.Context(), sampleKey, e); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("what does not fit: got %v", err)
	}
	got, err := j.Ledger(t.Context(), sampleKey)
	if err != nil || !strings.HasPrefix(got.Entries[1].Reason, "6because") || got.Entries[1].Values != nil {
		t.Errorf("got %+v, %v; want the last mark that fitted", got.Entries, err)
	}
}

// TestFileJournalPrune begins ledgers before and after other files become older than
// memory.LedgerAge.
func TestFileJournalPrune(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := []string{ledgerFile, ledgerFile + ".tmp", ledgerFile + ".broken-0123456789ab", "org/repo/42.json", "org/repo/4.journal/x.jsonl"}
	for _, name := range old {
		write(t, filepath.Join(dir, name), "")
	}
	mkdir(t, filepath.Join(dir, filepath.Dir(ledgerFile), "folder"))
	info, err := os.Stat(filepath.Join(dir, ledgerFile))
	if err != nil {
		t.Fatal(err)
	}
	j := open(t, dir)
	now := info.ModTime()
	j.Now = func() time.Time { return now }
	other := memorytest.SampleLedger(sampleKey)
	other.Scope = "other"
	otherFile := strings.Replace(ledgerFile, ".jsonl", ".other.jsonl", 1)
	for _, tt := range []struct {
		age  time.Duration
		want []string
	}{
		{memory.LedgerAge - time.Hour, append([]string{".lock", otherFile}, old...)},
		{memory.LedgerAge + time.Hour, []string{".lock", otherFile, "org/repo/42.json", "org/repo/4.journal/x.jsonl"}},
	} {
		now = info.ModTime().Add(tt.age)
		if err := j.Begin(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		// Give the file the time of the test's clock.
		touch(t, filepath.Join(dir, otherFile), now)
		got := tree(t, dir)
		if diff := cmp.Diff(slices.Sorted(slices.Values(tt.want)), got); diff != "" {
			t.Errorf("files after %v (-want +got):\n%s", tt.age, diff)
		}
		if err := os.Remove(filepath.Join(dir, otherFile)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, filepath.Dir(ledgerFile), "folder")); err != nil {
		t.Errorf("a directory was removed: %v", err)
	}
}

func touch(t testing.TB, file string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(file, at, at); err != nil {
		t.Fatal(err)
	}
}

// TestFileJournalNotRegular puts links and directories in the places of files.
func TestFileJournalNotRegular(t *testing.T) {
	t.Parallel()
	_, outside := begun(t)
	whole := string(read(t, filepath.Join(outside, ledgerFile)))
	tests := map[string]func(t *testing.T, dir string){
		"directory": func(t *testing.T, dir string) { mkdir(t, filepath.Join(dir, ledgerFile)) },
		"link to a file": func(t *testing.T, dir string) {
			mkdir(t, filepath.Join(dir, filepath.Dir(ledgerFile)))
			link(t, filepath.Join(outside, ledgerFile), filepath.Join(dir, ledgerFile))
		},
		"link to a file inside": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "inside"), whole)
			mkdir(t, filepath.Join(dir, filepath.Dir(ledgerFile)))
			link(t, "../../../inside", filepath.Join(dir, ledgerFile))
		},
		"link to the journal": func(t *testing.T, dir string) {
			mkdir(t, filepath.Join(dir, "org/repo"))
			link(t, filepath.Join(outside, filepath.Dir(ledgerFile)), filepath.Join(dir, filepath.Dir(ledgerFile)))
		},
		"link for the temporary file": func(t *testing.T, dir string) {
			mkdir(t, filepath.Join(dir, filepath.Dir(ledgerFile)))
			link(t, filepath.Join(outside, "new"), filepath.Join(dir, ledgerFile+".tmp"))
		},
	}
	before := tree(t, outside)
	for name, plant := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			plant(t, dir)
			j := open(t, dir)
			j.Now = func() time.Time { return time.Now().Add(2 * memory.LedgerAge) }
			if l, err := j.Ledger(t.Context(), sampleKey); err == nil {
				t.Errorf("Ledger: got one of %d entries from there", len(l.Entries))
			}
			if err := j.Mark(t.Context(), sampleKey, entry(0, triage.Done)); err == nil {
				t.Error("Mark: got no error")
			}
			// These calls may fail, but must not write outside of the folder.
			_ = j.Begin(t.Context(), memorytest.SampleLedger(sampleKey))
			_ = j.Mark(t.Context(), sampleKey, entry(0, triage.Done))
			if diff := cmp.Diff(before, tree(t, outside)); diff != "" {
				t.Errorf("files outside (-before +after):\n%s", diff)
			}
			if string(read(t, filepath.Join(outside, ledgerFile))) != whole {
				t.Error("the file outside changed")
			}
			if inside, err := os.ReadFile(filepath.Join(dir, "inside")); !errors.Is(err, fs.ErrNotExist) && string(inside) != whole {
				t.Errorf("the file that the link names changed: %v", err)
			}
		})
	}
}

// TestFileJournalTogether lets four stores on one folder mark and read at the same time. None
// reads an incomplete line.
func TestFileJournalTogether(t *testing.T) {
	t.Parallel()
	j, dir := begun(t)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			own := open(t, dir)
			for _, s := range []triage.State{triage.Trying, triage.Failed, triage.Trying, triage.Done} {
				if err := own.Mark(t.Context(), sampleKey, entry(i, s)); err != nil {
					t.Errorf("Mark: %v", err)
				}
				l, err := own.Ledger(t.Context(), sampleKey)
				if err != nil {
					t.Errorf("Ledger: %v", err)
				} else if l.Entries[i].State != s {
					t.Errorf("entry %d: got %s, want %s", i, l.Entries[i].State, s)
				}
			}
		})
	}
	wg.Wait()
	if got := states(t, j); got != "done done done done" {
		t.Errorf("got %s", got)
	}
	if n := bytes.Count(read(t, filepath.Join(dir, ledgerFile)), []byte("\n")); n != 1+4*4 {
		t.Errorf("got %d lines, want one for each mark", n)
	}
}

// TestFileJournalLock acquires the lock: writers wait, but readers do not.
func TestFileJournalLock(t *testing.T) {
	t.Parallel()
	j, dir := begun(t)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	unlock, err := file.Lock(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	scoped := memorytest.SampleLedger(sampleKey)
	scoped.Scope = "scope"
	for name, write := range map[string]func(context.Context) error{
		"Begin": func(ctx context.Context) error { return j.Begin(ctx, scoped) },
		"Mark":  func(ctx context.Context) error { return j.Mark(ctx, sampleKey, entry(0, triage.Done)) },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := write(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v, want the deadline", name, err)
		}
		cancel()
	}
	if got := states(t, j); got != "planned planned planned planned" {
		t.Errorf("got %s", got)
	}
	unlock()
	mark(t, j, 0, triage.Done)
}
