package memorytest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/memory"
)

// AddLedgers adds the stored ledgers in dir, the folder testdata of package memory, to the seeds
// of a fuzz target.
func AddLedgers(f *testing.F, dir string) {
	f.Helper()
	whole, err := os.ReadFile(filepath.Join(dir, "ledger.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	list, err := filepath.Glob(filepath.Join(dir, "ledger/*.txtar"))
	if err != nil || len(list) == 0 {
		f.Fatalf("no ledgers: %v", err)
	}
	for _, file := range list {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Files[0].Data)
	}
}

// CheckLedger checks the properties of a decoded ledger. It can be encoded again, unless it is
// too large then or a time is out of range. Decoding and encoding the result changes nothing.
func CheckLedger(t *testing.T, l memory.Ledger, key memory.LedgerKey) {
	t.Helper()
	stored, err := memory.EncodeLedger(l)
	if err != nil {
		if len(stored) == 0 && !strings.Contains(err.Error(), "larger than") && !strings.Contains(err.Error(), "year outside") {
			t.Fatalf("encode the decoded value: %v", err)
		}
		return
	}
	again, err := memory.DecodeLedger(stored, key)
	if err != nil {
		t.Fatalf("decode the encoded value: %v", err)
	}
	if got, _ := memory.EncodeLedger(again); !bytes.Equal(got, stored) {
		t.Fatalf("second round:\n%s", cmp.Diff(string(stored), string(got)))
	}
	if bytes.Count(stored, []byte("\n")) != 1 {
		t.Fatalf("more than one line: %q", stored)
	}
}
