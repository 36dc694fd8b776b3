package file_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

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

// FuzzLines decodes a ledger followed by any bytes. It never panics, and every error is
// ErrBroken. If the last line is complete, another line can be appended.
func FuzzLines(f *testing.F) {
	memorytest.AddLedgers(f, "../testdata")
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
		memorytest.CheckLedger(t, l, sampleKey)
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
