package file_test

import (
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/memory/memorytest"
	"github.com/org/foreman-action/triage"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// ledgerFile is the file of the key that memorytest.SampleKey("org/repo", 42) returns.
const ledgerFile = "org/repo/42.journal/a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d.jsonl"

var sampleKey = memorytest.SampleKey("org/repo", 42)

// durable is a file journal that can be opened again.
type durable struct {
	*file.Store
	dir string
}

func (d durable) Reopen(t *testing.T) memory.Journal { return open(t, d.dir) }

func TestFileJournal(t *testing.T) {
	t.Parallel()
	memorytest.RunJournal(t, func(t *testing.T) memory.Journal {
		dir := filepath.Join(t.TempDir(), "deep", "memory")
		return durable{open(t, dir), dir}
	})
}

// begun returns a journal in which the sample ledger was begun and some of its
// actions were marked, with its directory.
func begun(t testing.TB, marks ...triage.State) (j *file.Store, dir string) {
	t.Helper()
	dir = t.TempDir()
	j = open(t, dir)
	l := memorytest.SampleLedger(sampleKey)
	if err := j.Begin(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	for i, s := range marks {
		mark(t, j, i, s)
	}
	return j, dir
}

func mark(t testing.TB, j memory.Journal, index int, s triage.State) {
	t.Helper()
	if err := j.Mark(t.Context(), sampleKey, entry(index, s)); err != nil {
		t.Fatal(err)
	}
}

func entry(index int, s triage.State) memory.Entry {
	e := memorytest.SampleLedger(sampleKey).Entries[index]
	e.State = s
	return e
}

// states returns the states of the sample ledger's entries in a journal.
func states(t testing.TB, j memory.Journal) string {
	t.Helper()
	l, err := j.Ledger(t.Context(), sampleKey)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range l.Entries {
		list = append(list, string(e.State))
	}
	return strings.Join(list, " ")
}

// TestFileJournalForm pins the format of the files, because stored ledgers must stay readable.
func TestFileJournalForm(t *testing.T) {
	t.Parallel()
	j, dir := begun(t, triage.Done, triage.Trying)
	scoped := memorytest.SampleLedger(sampleKey)
	scoped.Repo, scoped.Scope = "Org/Repo", "Agent.1"
	if err := j.Begin(t.Context(), scoped); err != nil {
		t.Fatal(err)
	}
	want := []string{".lock", strings.Replace(ledgerFile, ".jsonl", ".agent.1.jsonl", 1), ledgerFile}
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	const golden = "../testdata/ledger.jsonl"
	got := read(t, filepath.Join(dir, ledgerFile))
	if *update {
		write(t, golden, string(got))
	}
	if diff := cmp.Diff(string(read(t, golden)), string(got)); diff != "" {
		t.Errorf("stored form (-want +got):\n%s", diff)
	}
}

// TestFileJournalTorn truncates the last line at every byte. The mark in this line is ignored,
// and the next mark succeeds.
func TestFileJournalTorn(t *testing.T) {
	t.Parallel()
	j, dir := begun(t, triage.Done)
	ledger := filepath.Join(dir, ledgerFile)
	before := string(read(t, ledger))
	mark(t, j, 1, triage.Trying)
	last := strings.TrimPrefix(string(read(t, ledger)), before)
	tails := []string{"\n", "\x00\x00\x00", "\x00\x00\n", last[:5] + "\x00\n", "not JSON\n", last[:len(last)-1] + last[:len(last)-1]}
	for n := range len(last) {
		tails = append(tails, last[:n])
	}
	for _, tail := range tails {
		write(t, ledger, before+tail)
		if got := states(t, j); got != "done planned planned planned" {
			t.Fatalf("with the tail %q: got %s", tail, got)
		}
		if got := string(read(t, ledger)); got != before+tail {
			t.Fatalf("reading changed the tail %q to %q", tail, strings.TrimPrefix(got, before))
		}
		if err := j.Begin(t.Context(), memorytest.SampleLedger(sampleKey)); !errors.Is(err, memory.ErrConflict) {
			t.Fatalf("Begin with the tail %q: got %v, want ErrConflict", tail, err)
		}
		mark(t, j, 2, triage.Failed)
		mark(t, j, 3, triage.Skipped)
		if got := states(t, j); got != "done planned failed skipped" {
			t.Fatalf("after the tail %q: got %s", tail, got)
		}
		if _, torn, err := file.DecodeLines(read(t, ledger), sampleKey); torn || err != nil {
			t.Fatalf("after the tail %q: torn %v, %v", tail, torn, err)
		}
	}
	write(t, ledger, before+last)
	if got := states(t, j); got != "done trying planned planned" {
		t.Errorf("whole: got %s", got)
	}
}

// TestFileJournalBroken damages the lines of a ledger. Ledger and Mark return ErrBroken and leave
// the file unchanged, and Begin replaces it.
func TestFileJournalBroken(t *testing.T) {
	t.Parallel()
	_, dir := begun(t, triage.Done, triage.Done, triage.Done)
	lines := strings.SplitAfter(string(read(t, filepath.Join(dir, ledgerFile))), "\n")
	tests := map[string]string{
		"empty":               "",
		"no end of the first": strings.TrimSuffix(lines[0], "\n"),
		"first line":          "{}\n" + lines[1],
		"second line":         lines[0] + lines[1][:20] + "\n" + lines[2],
		"empty line":          lines[0] + "\n" + lines[1],
		"two torn lines":      lines[0] + lines[1][:20] + lines[2] + lines[3],
		"ledger twice":        lines[0] + lines[0],
		"another action":      lines[0] + strings.Replace(lines[1], `"index":0`, `"index":1`, 1),
		"no such action":      lines[0] + strings.Replace(lines[1], `"index":0`, `"index":9`, 1),
		"no such state":       lines[0] + strings.Replace(lines[1], `"done"`, `"launched"`, 1),
		"null":                lines[0] + "null\n",
		"too large":           lines[0] + strings.Repeat(lines[1], memory.MaxLedger/len(lines[1])),
	}
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, ledgerFile)
			write(t, file, content)
			j := open(t, dir)
			_, err := j.Ledger(t.Context(), sampleKey)
			if !errors.Is(err, memory.ErrBroken) || errors.Is(err, memory.ErrNotFound) || !strings.Contains(err.Error(), ledgerFile) {
				t.Errorf("Ledger: got %v, want ErrBroken and the file's name", err)
			}
			if err := j.Mark(t.Context(), sampleKey, entry(0, triage.Trying)); !errors.Is(err, memory.ErrBroken) {
				t.Errorf("Mark: got %v, want ErrBroken", err)
			}
			if string(read(t, file)) != content {
				t.Error("the broken file changed without a ledger")
			}
			if err := j.Begin(t.Context(), memorytest.SampleLedger(sampleKey)); err != nil {
				t.Fatalf("Begin: %v", err)
			}
			if got := states(t, j); got != "planned planned planned planned" {
				t.Errorf("after Begin: got %s", got)
			}
			kept, err := filepath.Glob(file + ".broken-*")
			if err != nil || len(kept) != 1 || string(read(t, kept[0])) != content {
				t.Errorf("kept aside: got %q and %v, want one file with what was there", kept, err)
			}
		})
	}
}

func TestFileJournalNewer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, ledgerFile)
	const content = `{"schema":2,"repo":{"new":"shape"}}` + "\nnew\nlines"
	write(t, file, content)
	j := open(t, dir)
	_, err := j.Ledger(t.Context(), sampleKey)
	for name, err := range map[string]error{
		"Ledger": err,
		"Begin":  j.Begin(t.Context(), memorytest.SampleLedger(sampleKey)),
		"Mark":   j.Mark(t.Context(), sampleKey, entry(0, triage.Done)),
	} {
		if !errors.Is(err, memory.ErrNewer) {
			t.Errorf("%s: got %v, want ErrNewer", name, err)
		}
	}
	if got := string(read(t, file)); got != content {
		t.Errorf("the newer file was touched: %q", got)
	}
}

// TestFileJournalLeftover begins a ledger where a killed process left a temporary file.
func TestFileJournalLeftover(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, ledgerFile+".tmp"), `{"schema":1,"repo":"org/re`)
	j := open(t, dir)
	if _, err := j.Ledger(t.Context(), sampleKey); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("Ledger: got %v, want ErrNotFound", err)
	}
	if err := j.Begin(t.Context(), memorytest.SampleLedger(sampleKey)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{".lock", ledgerFile}, tree(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestFileJournalFull makes a write fail, by an obstacle in the place of the file.
func TestFileJournalFull(t *testing.T) {
	t.Parallel()
	l := memorytest.SampleLedger(sampleKey)
	for name, plant := range map[string]func(t *testing.T, dir string){
		"temporary file": func(t *testing.T, dir string) { mkdir(t, filepath.Join(dir, ledgerFile+".tmp/x")) },
		"folder":         func(t *testing.T, dir string) { write(t, filepath.Join(dir, "org/repo"), "") },
	} {
		dir := t.TempDir()
		plant(t, dir)
		err := open(t, dir).Begin(t.Context(), l)
		if err == nil || !strings.HasPrefix(err.Error(), "begin journal "+ledgerFile+": ") {
			t.Errorf("%s: got %v, want an error that names the file", name, err)
		}
	}
	j, dir := begun(t)
	// A torn line makes Mark write a new file.
	file := filepath.Join(dir, ledgerFile)
	write(t, file, string(read(t, file))+"torn")
	mkdir(t, file+".tmp/x")
	err := j.Mark(t.Context(), sampleKey, entry(0, triage.Done))
	if err == nil || !strings.HasPrefix(err.Error(), "mark journal "+ledgerFile+": ") {
		t.Errorf("Mark: got %v, want an error that names the file", err)
	}
	if got := states(t, j); got != "planned planned planned planned" {
		t.Errorf("after it: got %s", got)
	}
}
