package file_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/memory/memorytest"
	"github.com/org/foreman-action/triage"
)

// TestLines reads the stored form of a ledger with its marks.
func TestLines(t *testing.T) {
	t.Parallel()
	l, torn, err := file.DecodeLines(read(t, "../testdata/ledger.jsonl"), sampleKey)
	if err != nil || torn {
		t.Fatalf("torn %v, %v", torn, err)
	}
	if l.Entries[0].State != triage.Done || l.Entries[1].State != triage.Trying || l.Entries[2].State != triage.Planned {
		t.Errorf("got %+v, want what was marked", l.Entries)
	}
}

// seeds adds every ledger of testdata.
func seeds(f *testing.F) {
	f.Helper()
	f.Add(read(f, "../testdata/ledger.jsonl"))
	list, err := filepath.Glob("../testdata/ledger/*.txtar")
	if err != nil || len(list) == 0 {
		f.Fatalf("no ledgers: %v", err)
	}
	for _, file := range list {
		f.Add(txtar.Parse(read(f, file)).Files[0].Data)
	}
}

// checkDecoded checks what holds of every ledger that was read.
func checkDecoded(t *testing.T, l memory.Ledger) {
	t.Helper()
	stored, err := memory.EncodeLedger(l)
	if err != nil {
		// Only its size can stand in the way: what was read is sound.
		if len(stored) == 0 && !strings.Contains(err.Error(), "larger than") && !strings.Contains(err.Error(), "year outside") {
			t.Fatalf("encode what was decoded: %v", err)
		}
		return
	}
	again, err := memory.DecodeLedger(stored, sampleKey)
	if err != nil {
		t.Fatalf("decode what was encoded: %v", err)
	}
	if got, _ := memory.EncodeLedger(again); !bytes.Equal(got, stored) {
		t.Fatalf("second round:\n%s", cmp.Diff(string(stored), string(got)))
	}
	if bytes.Count(stored, []byte("\n")) != 1 {
		t.Fatalf("more than one line: %q", stored)
	}
}

// FuzzLines reads any bytes behind a ledger: no panic, one error, and a file that was
// read takes another line.
func FuzzLines(f *testing.F) {
	seeds(f)
	first, err := memory.EncodeLedger(memorytest.SampleLedger(sampleKey))
	if err != nil {
		f.Fatal(err)
	}
	all := read(f, "../testdata/ledger.jsonl")
	_, marks, _ := bytes.Cut(all, []byte("\n"))
	f.Add(marks)
	f.Add(marks[:len(marks)-20])
	f.Add(slices.Concat(marks, []byte("{}\n")))
	f.Fuzz(func(t *testing.T, data []byte) {
		ledger := slices.Concat(first, data)
		l, torn, err := file.DecodeLines(ledger, sampleKey)
		if err != nil {
			if !errors.Is(err, memory.ErrBroken) || errors.Is(err, memory.ErrNotFound) {
				t.Fatalf("got %v, want ErrBroken", err)
			}
			return
		}
		checkDecoded(t, l)
		if torn {
			return
		}
		line, _, _ := bytes.Cut(marks, []byte("\n"))
		next, torn, err := file.DecodeLines(slices.Concat(ledger, line, []byte("\n")), sampleKey)
		if err != nil || torn || next.Entries[0].State != triage.Done {
			t.Fatalf("with another line: torn %v, %v", torn, err)
		}
	})
}
