package memorytest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/triage"
)

func journalCancelled(t *testing.T, j memory.Journal) {
	ctx := canceled(t)
	l := SampleLedger(SampleKey("org/repo", 7))
	wantError(t, "Begin", j.Begin(ctx, l), context.Canceled)
	nothingKept(t, j)
	begin(t, j, l)
	e := l.Entries[0]
	e.State = triage.Done
	wantError(t, "Mark", j.Mark(ctx, l.LedgerKey, e), context.Canceled)
	if _, err := j.Ledger(ctx, l.LedgerKey); !errors.Is(err, context.Canceled) {
		t.Errorf("Ledger: got %v, want context.Canceled", err)
	}
	checkLedger(t, j, l)
}

func hostileKeys(t *testing.T, j memory.Journal) {
	good := SampleKey("org/repo", 7)
	var keys []memory.LedgerKey
	for _, repo := range []string{"", "org", "../repo", "org/..", "org/re/po", "org/re po", "org/\x00", "org/" + strings.Repeat("x", 300)} {
		keys = append(keys, memory.LedgerKey{Repo: repo, Issue: 7, Task: good.Task})
	}
	for _, task := range []string{
		"", "task", "..", "../../../etc/passwd", strings.ToUpper(good.Task), good.Task + "\n", good.Task + ".", "/" + good.Task[1:], good.Task[:35], good.Task + "0",
	} {
		keys = append(keys, memory.LedgerKey{Repo: good.Repo, Issue: 7, Task: task})
	}
	for _, scope := range []string{"/", "../x", "a/b", `a\b`, "a b", "a\n", "\x00", "é", "\u212a", strings.Repeat("x", 101)} {
		keys = append(keys, memory.LedgerKey{Repo: good.Repo, Issue: 7, Task: good.Task, Scope: scope})
	}
	keys = append(keys, memory.LedgerKey{Repo: good.Repo, Task: good.Task}, memory.LedgerKey{Repo: good.Repo, Issue: -1, Task: good.Task})
	for _, key := range keys {
		l := SampleLedger(good)
		l.LedgerKey = key
		if err := j.Begin(t.Context(), l); err == nil {
			t.Errorf("Begin of %+v: got no error", key)
		}
		if err := j.Mark(t.Context(), key, l.Entries[0]); err == nil || errors.Is(err, memory.ErrNotFound) {
			t.Errorf("Mark of %+v: got %v, want another error", key, err)
		}
		if _, err := j.Ledger(t.Context(), key); err == nil || errors.Is(err, memory.ErrNotFound) {
			t.Errorf("Ledger of %+v: got %v, want another error", key, err)
		}
	}
	for _, scope := range []string{"..", ".lock", "con", strings.Repeat("x", 100)} {
		l := SampleLedger(good)
		l.Scope = scope
		begin(t, j, l)
		checkLedger(t, j, l)
	}
}

// hostileLedgers calls Begin with ledgers that are invalid.
func hostileLedgers(t *testing.T, j memory.Journal) {
	for name, change := range map[string]func(*memory.Ledger){
		"no task":          func(l *memory.Ledger) { l.Decision.TaskID = "" },
		"another task":     func(l *memory.Ledger) { l.Decision.TaskID = "b3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d" },
		"no decision":      func(l *memory.Ledger) { l.Decision.Decision = "" },
		"too few entries":  func(l *memory.Ledger) { l.Entries = l.Entries[:3] },
		"too many entries": func(l *memory.Ledger) { l.Entries = append(l.Entries, l.Entries[3]) },
		"entries swapped":  func(l *memory.Ledger) { l.Entries[0], l.Entries[1] = l.Entries[1], l.Entries[0] },
		"another action":   func(l *memory.Ledger) { l.Decision.Actions[2].Type = "land_rocket" },
		"unknown state":    func(l *memory.Ledger) { l.Entries[0].State = "launched" },
		"too large":        func(l *memory.Ledger) { l.Decision.Rationale = strings.Repeat("x", memory.MaxLedger) },
	} {
		l := SampleLedger(SampleKey("org/repo", 7))
		change(&l)
		if err := j.Begin(t.Context(), l); err == nil || errors.Is(err, memory.ErrConflict) {
			t.Errorf("%s: got %v, want another error", name, err)
		}
	}
	nothingKept(t, j)
}

func begin(t *testing.T, j memory.Journal, l memory.Ledger) {
	t.Helper()
	if err := j.Begin(t.Context(), l); err != nil {
		t.Fatalf("Begin %s#%d: %v", l.Repo, l.Issue, err)
	}
}

// mark marks an entry in the journal and in want.
func mark(t *testing.T, j memory.Journal, want *memory.Ledger, index int, state triage.State) {
	t.Helper()
	want.Entries[index].State = state
	if err := j.Mark(t.Context(), want.LedgerKey, want.Entries[index]); err != nil {
		t.Fatalf("Mark %d %s of %s#%d: %v", index, state, want.Repo, want.Issue, err)
	}
}

func ledger(t *testing.T, j memory.Journal, key memory.LedgerKey) memory.Ledger {
	t.Helper()
	if r, ok := j.(Reopener); ok {
		j = r.Reopen(t)
	}
	l, err := j.Ledger(t.Context(), key)
	if err != nil {
		t.Fatalf("Ledger %s#%d: %v", key.Repo, key.Issue, err)
	}
	return l
}

// checkLedger compares the stored ledger, before and after the journal is opened again.
func checkLedger(t *testing.T, j memory.Journal, want memory.Ledger) {
	t.Helper()
	got, err := j.Ledger(t.Context(), want.LedgerKey)
	if err != nil {
		t.Fatalf("Ledger %s#%d: %v", want.Repo, want.Issue, err)
	}
	again := ledger(t, j, want.LedgerKey)
	for _, l := range []memory.Ledger{got, again} {
		if diff := cmp.Diff(want, l, equalItems); diff != "" {
			t.Errorf("ledger (-want +got):\n%s", diff)
		}
	}
}
