package memory_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/memorytest"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

var sampleKey = memorytest.SampleKey("org/repo", 42)

// TestLedgerForm reads the stored form and writes it again.
func TestLedgerForm(t *testing.T) {
	t.Parallel()
	data := read(t, "testdata/ledger.jsonl")
	l, err := memory.DecodeLedger(data[:bytes.IndexByte(data, '\n')+1], sampleKey)
	if err != nil {
		t.Fatal(err)
	}
	got, err := memory.EncodeLedger(l)
	if diff := cmp.Diff(string(data[:bytes.IndexByte(data, '\n')+1]), string(got)); diff != "" || err != nil {
		t.Errorf("stored form: %v (-want +got):\n%s", err, diff)
	}
}

func TestDecodeLedgerTolerates(t *testing.T) {
	t.Parallel()
	line := string(read(t, "testdata/ledger.jsonl"))
	line = line[:strings.IndexByte(line, '\n')]
	for name, in := range map[string]string{
		"another case of the repository": strings.Replace(line, "org/repo", "ORG/Repo", 1),
		"unknown fields":                 strings.Replace(strings.Replace(line, "{", `{"later":{},`, 1), `{"index"`, `{"later":1,"index"`, 1),
		"another order of the keys":      strings.Replace(line, `"type":"add_label","label":"bug"`, `"label":"bug","type":"add_label"`, 1),
		"space":                          strings.Replace(line, ",", " , ", 3) + " \n",
	} {
		if _, err := memory.DecodeLedger([]byte(in), sampleKey); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBrokenLedger reads testdata/ledger. Each archive has the files "ledger" and "error", the
// error of decoding the ledger with the sample key.
func TestBrokenLedger(t *testing.T) {
	t.Parallel()
	archives(t, "testdata/ledger", func(t *testing.T, in map[string]string) map[string]string {
		_, err := memory.DecodeLedger([]byte(strings.TrimSuffix(in["ledger"], "\n")), sampleKey)
		if err == nil {
			t.Fatal("got no error")
		}
		if broken, newer := errors.Is(err, memory.ErrBroken), errors.Is(err, memory.ErrNewer); broken == newer || errors.Is(err, memory.ErrNotFound) {
			t.Errorf("got %v, want either ErrBroken or ErrNewer", err)
		}
		return map[string]string{"error": err.Error() + "\n"}
	})
}

func TestNewLedger(t *testing.T) {
	t.Parallel()
	decision := protocol.DecisionMessage{Decision: protocol.Close, Actions: []protocol.ActionItem{
		item(t, `{"type":"add_labels","labels":["a","`+strings.Repeat("x", 1_000)+`"]}`), item(t, `{"type":"comment","body":"secret"}`),
	}}
	at := april.In(time.FixedZone("", 3600)).Add(time.Microsecond)
	got := memory.NewLedger(sampleKey, decision, at)
	want := []memory.Entry{
		{Index: 0, Hash: memory.HashAction(decision.Actions[0]), State: triage.Planned, Values: []string{"a", strings.Repeat("x", 509) + "…"}, At: april},
		{Index: 1, Hash: memory.HashAction(decision.Actions[1]), State: triage.Planned, At: april},
	}
	if diff := cmp.Diff(want, got.Entries); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if got.At != april || got.LedgerKey != sampleKey || got.Decision.Decision != protocol.Close {
		t.Errorf("got %+v", got)
	}
}

// TestStates stores each state in an entry and in an action of a record. An entry accepts five
// states, an action accepts any.
func TestStates(t *testing.T) {
	t.Parallel()
	kept := []triage.State{triage.Planned, triage.Trying, triage.Done, triage.Skipped, triage.Failed}
	others := []triage.State{triage.Noted, triage.Already, triage.Refused, triage.NotRun, "", "DONE"}
	for _, s := range slices.Concat(kept, others) {
		want := slices.Contains(kept, s)
		l := memorytest.SampleLedger(sampleKey)
		e := l.Entries[0]
		e.State = s
		if err := l.Mark(e); (err == nil) != want {
			t.Errorf("mark %q: got %v, want it kept: %v", s, err, want)
		}
		l.Entries[0].State = s
		if _, err := memory.EncodeLedger(l); (err == nil) != want {
			t.Errorf("encode a ledger with %q: got %v, want it kept: %v", s, err, want)
		}
		r := memorytest.Sample("org/repo", 42)
		r.Revision, r.Tasks[0].Actions[0].Result = 1, s
		data, err := memory.Encode(r)
		if err == nil {
			r, err = memory.Decode(data, "org/repo", 42)
		}
		if err != nil || r.Tasks[0].Actions[0].Result != s {
			t.Errorf("a record with %q: got %v, %v", s, r.Tasks, err)
		}
	}
}

func TestLedgerKeyPath(t *testing.T) {
	t.Parallel()
	const task = "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d"
	for _, tt := range []struct {
		key       memory.LedgerKey
		want, err string
	}{
		{memory.LedgerKey{Repo: "Org/Re.po", Issue: 7, Task: task}, "org/re.po/7.journal/" + task, ""},
		{memory.LedgerKey{Repo: "Org/Re.po", Issue: 7, Task: task, Scope: "Agent.1"}, "org/re.po/7.journal/" + task + ".agent.1", ""},
		{memory.LedgerKey{Repo: "org", Issue: 7, Task: task}, "", `want owner/name, got "org"`},
		{memory.LedgerKey{Repo: "org/repo", Issue: 7, Task: "../x"}, "", `want a UUID in lower case for the task, got "../x"`},
		{memory.LedgerKey{Repo: "org/repo", Issue: 7, Task: task, Scope: "a/b"}, "", `want up to 100 letters, digits, '.', '_' and '-' for the scope, got "a/b"`},
	} {
		got, err := tt.key.Path()
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != tt.want || text != tt.err {
			t.Errorf("%+v: got %q and %q, want %q and %q", tt.key, got, text, tt.want, tt.err)
		}
	}
}

// FuzzDecodeLedger decodes any bytes as a ledger: it never panics and returns ErrBroken or
// ErrNewer. A decoded ledger does not change when saved.
func FuzzDecodeLedger(f *testing.F) {
	memorytest.AddLedgers(f, "testdata")
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := memory.DecodeLedger(data, sampleKey)
		if err == nil {
			memorytest.CheckLedger(t, l, sampleKey)
		} else if !errors.Is(err, memory.ErrBroken) && !errors.Is(err, memory.ErrNewer) {
			t.Fatalf("got %v, want ErrBroken or ErrNewer", err)
		}
	})
}
