package memorytest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// A Reopener is a journal that can be opened again over the same medium.
type Reopener interface {
	memory.Journal
	// Reopen returns another journal over the same medium, as after a restart of the process.
	Reopen(t *testing.T) memory.Journal
}

// RunJournal runs the tests that every memory.Journal must pass. open returns an empty journal,
// which may be a [Reopener]. It is called once per subtest and may use t.Cleanup to close the
// journal.
func RunJournal(t *testing.T, open func(t *testing.T) memory.Journal) {
	t.Helper()
	runSuite(t, open, []subtest[memory.Journal]{
		{"nothing kept", nothingKept},
		{"ledger round trip", ledgerRoundTrip},
		{"begin twice", beginTwice},
		{"marks", marks},
		{"wrong marks", wrongMarks},
		{"long marks", longMarks},
		{"ledgers apart", ledgersApart},
		{"case of the key", keyCase},
		{"ledger not shared", ledgerNotShared},
		{"concurrent marks", concurrentMarks},
		{"concurrent begins", concurrentBegins},
		{"journal cancelled", journalCancelled},
		{"hostile keys", hostileKeys},
		{"hostile ledgers", hostileLedgers},
	})
}

// SampleKey returns a key for [SampleLedger].
func SampleKey(repo string, issue int) memory.LedgerKey {
	return memory.LedgerKey{Repo: repo, Issue: issue, Task: "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d"}
}

// SampleLedger returns a new ledger of four actions. Some actions have fields that no executor
// knows.
func SampleLedger(key memory.LedgerKey) memory.Ledger {
	decision, err := protocol.ParseDecision([]byte(`{"task_id":"` + key.Task + `","decision":"label_and_respond","rationale":"a <crash> & more","actions":[
		{"type":"add_label","label":"bug","because":{"b":1.50,"a":[null,1e400]}},
		{"x-first":true,"type":"comment","body":"Thanks!\u2028<b>\u0000\ud800"},
		{"type":"launch_rocket","to":"moon","to":"mars"},
		{"type":"add_labels","labels":["a","b"]}]}`))
	if err != nil {
		panic(err)
	}
	l := memory.NewLedger(key, decision, time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC))
	l.Event, l.By = "issues.opened", "rules"
	l.Entries[0].Rule = "crash"
	return l
}

func nothingKept(t *testing.T, j memory.Journal) {
	key := SampleKey("org/repo", 7)
	if _, err := j.Ledger(t.Context(), key); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("Ledger: got %v, want ErrNotFound", err)
	}
	wantError(t, "Mark", j.Mark(t.Context(), key, SampleLedger(key).Entries[0]), memory.ErrNotFound)
	if _, err := j.Ledger(t.Context(), key); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("Ledger after Mark: got %v, want ErrNotFound", err)
	}
}

func ledgerRoundTrip(t *testing.T, j memory.Journal) {
	key := SampleKey("org/repo", 8)
	skip := protocol.DecisionMessage{TaskID: key.Task, Decision: protocol.Skip, Actions: []protocol.ActionItem{}}
	empty := memory.NewLedger(key, skip, time.Time{})
	for _, want := range []memory.Ledger{SampleLedger(SampleKey("org/repo", 7)), empty} {
		begin(t, j, want)
		checkLedger(t, j, want)
	}
}

func beginTwice(t *testing.T, j memory.Journal) {
	want := SampleLedger(SampleKey("org/repo", 7))
	begin(t, j, want)
	other := want
	other.Event, other.Decision.Rationale = "issues.edited", "another"
	wantError(t, "Begin again", j.Begin(t.Context(), other), memory.ErrConflict)
	mark(t, j, &want, 1, triage.Trying)
	wantError(t, "Begin after a mark", j.Begin(t.Context(), other), memory.ErrConflict)
	checkLedger(t, j, want)
}

// marks moves the actions of a task through their states, out of order and repeatedly.
func marks(t *testing.T, j memory.Journal) {
	want := SampleLedger(SampleKey("org/repo", 7))
	begin(t, j, want)
	steps := []struct {
		index int
		state triage.State
	}{
		{0, triage.Trying}, {0, triage.Done}, {0, triage.Done}, {1, triage.Trying}, {1, triage.Failed},
		{3, triage.Skipped}, {1, triage.Trying}, {1, triage.Done}, {2, triage.Failed}, {3, triage.Planned},
	}
	for i, s := range steps {
		want.Entries[s.index].At = want.At.Add(time.Duration(i) * time.Second)
		want.Entries[s.index].Reason = fmt.Sprint("step ", i, "\n<&>")
		want.Entries[s.index].URL = fmt.Sprint("https://github.com/org/repo/issues/7#", i)
		mark(t, j, &want, s.index, s.state)
		checkLedger(t, j, want)
	}
}

func wrongMarks(t *testing.T, j memory.Journal) {
	want := SampleLedger(SampleKey("org/repo", 7))
	begin(t, j, want)
	good := want.Entries[1]
	good.State = triage.Done
	for name, change := range map[string]func(*memory.Entry){
		"no such entry": func(e *memory.Entry) { e.Index = len(want.Entries) },
		"below":         func(e *memory.Entry) { e.Index = -1 },
		"another hash":  func(e *memory.Entry) { e.Hash = want.Entries[0].Hash },
		"no hash":       func(e *memory.Entry) { e.Hash = "" },
		"no state":      func(e *memory.Entry) { e.State = "" },
		"unknown state": func(e *memory.Entry) { e.State = "launched" },
	} {
		bad := good
		change(&bad)
		err := j.Mark(t.Context(), want.LedgerKey, bad)
		if missing := bad.Index != good.Index; err == nil || errors.Is(err, memory.ErrNotFound) != missing {
			t.Errorf("%s: got %v, want an error, ErrNotFound %v", name, err, missing)
		}
	}
	checkLedger(t, j, want)
}

// longMarks marks an entry with texts that are too long: the journal shortens them, and the entry
// stays readable.
func longMarks(t *testing.T, j memory.Journal) {
	want := SampleLedger(SampleKey("org/repo", 7))
	begin(t, j, want)
	e := want.Entries[1]
	e.State, e.Reason, e.URL = triage.Failed, strings.Repeat("no\x00", 10_000), strings.Repeat("é", 1_000)
	for range 1_000 {
		e.Values = append(e.Values, strings.Repeat("v", 1_000))
	}
	for range 3 {
		if err := j.Mark(t.Context(), want.LedgerKey, e); err != nil {
			t.Fatalf("Mark: %v", err)
		}
	}
	got := ledger(t, j, want.LedgerKey).Entries[1]
	if got.State != e.State || len(got.Reason) > 1_000 || len(got.URL) > 1_000 || len(got.Values) > 100 || !strings.HasPrefix(got.Reason, "no\x00no") {
		t.Errorf("got %s with %d bytes of reason, %d of URL, %d values", got.State, len(got.Reason), len(got.URL), len(got.Values))
	}
}

func ledgersApart(t *testing.T, j memory.Journal) {
	first := SampleKey("org/repo", 7)
	keys := []memory.LedgerKey{
		first, SampleKey("org/repo", 71), SampleKey("org/repo", 1), SampleKey("org/repo7", 1), SampleKey("org-repo/x", 7), SampleKey("o/rg.repo", 7),
	}
	for _, scope := range []string{"rules", "agent", "agent.2", "jsonl", "-", "_", "...", "broken-0"} {
		scoped := first
		scoped.Scope = scope
		keys = append(keys, scoped)
	}
	other := first
	other.Task = "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5e"
	keys = append(keys, other)
	list := make([]memory.Ledger, len(keys))
	for i, key := range keys {
		list[i] = SampleLedger(key)
		list[i].Event = fmt.Sprint("ledger ", i)
		begin(t, j, list[i])
	}
	for i := range list {
		mark(t, j, &list[i], i%4, triage.Trying)
	}
	for _, want := range list {
		checkLedger(t, j, want)
	}
}

func keyCase(t *testing.T, j memory.Journal) {
	want := SampleLedger(SampleKey("Org/Repo", 7))
	want.Scope = "Agent"
	begin(t, j, want)
	same := want
	same.Repo, same.Scope = "org/repo", "aGENT"
	if got := ledger(t, j, same.LedgerKey); got.Event != want.Event {
		t.Errorf("%v: got %+v, want the ledger of %v", same.LedgerKey, got, want.LedgerKey)
	}
	if err := j.Begin(t.Context(), same); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("Begin of %v: got %v, want ErrConflict", same.LedgerKey, err)
	}
	mark(t, j, &want, 0, triage.Done)
	checkLedger(t, j, want)
}

func ledgerNotShared(t *testing.T, j memory.Journal) {
	l, want := SampleLedger(SampleKey("org/repo", 7)), SampleLedger(SampleKey("org/repo", 7))
	begin(t, j, l)
	l.Entries[0].State, l.Decision.Actions[0].Type = "changed", "changed after Begin"
	got := ledger(t, j, want.LedgerKey)
	got.Entries[0].State, got.Entries[3].Values[0], got.Decision.Actions[1] = "changed", "changed", protocol.ActionItem{Type: "changed after Ledger"}
	checkLedger(t, j, want)
	e := want.Entries[3]
	e.Values = []string{"marked"}
	if err := j.Mark(t.Context(), want.LedgerKey, e); err != nil {
		t.Fatal(err)
	}
	e.Values[0] = "changed after Mark"
	want.Entries[3].Values = []string{"marked"}
	checkLedger(t, j, want)
}

func concurrentMarks(t *testing.T, j memory.Journal) {
	want := SampleLedger(SampleKey("org/repo", 7))
	begin(t, j, want)
	var wg sync.WaitGroup
	errs := make([]error, len(want.Entries))
	for i := range want.Entries {
		e := want.Entries[i]
		wg.Go(func() {
			for _, s := range []triage.State{triage.Trying, triage.Failed, triage.Trying, triage.Done} {
				e.State = s
				errs[i] = errors.Join(errs[i], j.Mark(t.Context(), want.LedgerKey, e))
			}
		})
		want.Entries[i].State = triage.Done
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Errorf("Mark: %v", err)
	}
	checkLedger(t, j, want)
}

// concurrentBegins begins the same ledger several times at once: one call succeeds.
func concurrentBegins(t *testing.T, j memory.Journal) {
	const many = 8
	var wg sync.WaitGroup
	errs := make([]error, many)
	for i := range many {
		l := SampleLedger(SampleKey("org/repo", 7))
		l.Event = fmt.Sprint("ledger ", i)
		wg.Go(func() { errs[i] = j.Begin(t.Context(), l) })
	}
	wg.Wait()
	got, begun := ledger(t, j, SampleKey("org/repo", 7)), 0
	for i, err := range errs {
		if err == nil {
			begun++
			if want := fmt.Sprint("ledger ", i); got.Event != want {
				t.Errorf("kept is %s, begun was %s", got.Event, want)
			}
		} else if !errors.Is(err, memory.ErrConflict) {
			t.Errorf("Begin: got %v, want ErrConflict", err)
		}
	}
	if begun != 1 {
		t.Errorf("%d were begun, want 1", begun)
	}
}
