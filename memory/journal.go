package memory

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// A Journal keeps the decision on each task and the progress of its actions. If a run is killed,
// the next run continues with the same decision at the action where it stopped. Implementations
// are safe for concurrent use, also by several processes, and pass the suite
// memorytest.RunJournal.
type Journal interface {
	// Ledger returns the ledger of a task. It changes nothing. Errors:
	// [ErrNotFound], [ErrBroken], [ErrNewer], the context's, or one of the medium.
	Ledger(ctx context.Context, key LedgerKey) (Ledger, error)
	// Begin stores a ledger. It returns [ErrConflict] when the key has a ledger already, and
	// [ErrNewer] for a ledger of a newer version. A broken ledger is replaced; a journal that can
	// do so keeps it under another name. When Begin returns nil, the ledger is as durable as the
	// medium allows.
	Begin(ctx context.Context, l Ledger) error
	// Mark replaces the entry with the index e.Index, as [Ledger.Mark] does. It returns
	// [ErrNotFound] when there is no ledger or no such entry, and another error when the entry's
	// hash differs. When Mark returns nil, the entry is as durable as the medium allows. After an
	// error, either the old entry or the new one is stored.
	Mark(ctx context.Context, key LedgerKey, e Entry) error
}

// A LedgerKey names one execution of one task. Repositories and scopes match
// without regard to case.
type LedgerKey struct {
	Repo  string `json:"repo"`  // "owner/name"
	Issue int    `json:"issue"` // number, from 1
	Task  string `json:"task"`  // a UUID in lower case
	// Scope separates two executors of one task. It contains letters, digits, '.', '_' and '-'.
	Scope string `json:"scope,omitempty"`
}

var (
	taskPattern  = text.Regexp(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	scopePattern = text.Regexp(`^[A-Za-z0-9._-]{0,100}$`)
)

// Path returns the unique name of a ledger in lower case, for use as a path or as a key of a
// table: "owner/name/number.journal/task", followed by ".scope" if there is a scope. It returns
// an error if the key is invalid. A scope has at most 100 bytes.
func (k LedgerKey) Path() (string, error) {
	path, err := Key(k.Repo, k.Issue)
	if err != nil {
		return "", err
	}
	if k.Issue == Repository {
		return "", fmt.Errorf("want an issue number for the task, got %d", k.Issue)
	}
	if !taskPattern().MatchString(k.Task) {
		return "", fmt.Errorf("want a UUID in lower case for the task, got %q", clip(k.Task, 60))
	}
	if !scopePattern().MatchString(k.Scope) {
		return "", fmt.Errorf("want up to 100 letters, digits, '.', '_' and '-' for the scope, got %q", clip(k.Scope, 60))
	}
	path += ".journal/" + k.Task
	if k.Scope != "" {
		path += "." + strings.ToLower(k.Scope)
	}
	return path, nil
}

// A Ledger is the decision on one task and the progress of its actions.
type Ledger struct {
	LedgerKey
	At       time.Time                `json:"at"`       // time of the decision; UTC
	Event    string                   `json:"event"`    // such as "issues.opened"
	Decision protocol.DecisionMessage `json:"decision"` // includes unknown fields of actions
	By       string                   `json:"by"`       // as in Task
	// Entries contains one entry for each action of the decision, in the same order.
	Entries []Entry `json:"entries"`
	// LocksLast means that the actions that lock the issue are carried out after the others. Without
	// it, as in ledgers of earlier versions, the order is that of the decision.
	LocksLast bool `json:"locks_last,omitempty"`
}

// An Entry is the progress of one action.
type Entry struct {
	Index int    `json:"index"`          // in the decision, from 0
	Hash  string `json:"hash"`           // of the action, by HashAction
	Rule  string `json:"rule,omitempty"` // as in Action
	Pair  string `json:"pair,omitempty"` // as in Action
	// Refused means that the host refused the action for good; State is skipped.
	Refused bool `json:"refused,omitempty"`
	// State is planned, trying, done (also for already and noted), skipped (also for
	// refused) or failed. Any other is an error when the entry is marked, encoded or decoded.
	State triage.State `json:"state"`
	// Values, Reason and URL are as in [Action].
	Values []string  `json:"values,omitempty"`
	Reason string    `json:"reason,omitempty"`
	URL    string    `json:"url,omitempty"`
	At     time.Time `json:"at"` // of the last change of state; UTC
	// Labels are the ids of labels that the host remembered when it began to add them, by their folded
	// names; empty unless State is trying or failed. If the issue has such a label with another id, the
	// write may have created it.
	Labels map[string]string `json:"labels,omitempty"`
}

// isEntryState reports whether an [Entry] stores the state.
func isEntryState(s triage.State) bool {
	switch s {
	case triage.Planned, triage.Trying, triage.Done, triage.Skipped, triage.Failed:
		return true
	case triage.Noted, triage.Already, triage.Refused, triage.NotRun, triage.Unknown, triage.Suggested:
	}
	return false
}

// NewLedger returns the ledger of a decision made at the time at. Every action is planned, and
// its values are filled in as by [NewAction]. The caller sets Event, By and the rules.
func NewLedger(key LedgerKey, decision protocol.DecisionMessage, at time.Time) Ledger {
	at = clipTime(at)
	l := Ledger{LedgerKey: key, At: at, Decision: decision, Entries: make([]Entry, len(decision.Actions))}
	for i, item := range decision.Actions {
		a := NewAction(i, item)
		l.Entries[i] = clipEntry(Entry{Index: i, Hash: a.Hash, State: triage.Planned, Values: a.Values, At: at})
	}
	return l
}

// Mark replaces the entry with the index e.Index, in place, and cuts texts that are too long. It is
// an error if there is no such entry ([ErrNotFound]), if the hash differs from that of the action,
// or if [Entry] does not store the state. Journals use it.
func (l *Ledger) Mark(e Entry) error {
	if e.Index < 0 || e.Index >= len(l.Entries) {
		return fmt.Errorf("%w: the task has no action %d", ErrNotFound, e.Index)
	}
	if err := e.check(e.Index, l.Entries[e.Index].Hash); err != nil {
		return err
	}
	l.Entries[e.Index] = clipEntry(e)
	return nil
}

// check verifies that e belongs to the action with that index and hash.
func (e Entry) check(index int, hash string) error {
	switch {
	case e.Index != index:
		return fmt.Errorf("entry %d has the index %d", index, e.Index)
	case e.Hash != hash:
		return fmt.Errorf("entry %d is of another action: its hash is %q, not %s", index, clip(e.Hash, 60), hash)
	case !isEntryState(e.State):
		return fmt.Errorf("entry %d has the unknown state %q", index, clip(string(e.State), 60))
	}
	return nil
}

func clipEntry(e Entry) Entry {
	e.At = clipTime(e.At)
	e.Rule, e.Reason, e.URL = clip(e.Rule, maxShort), clip(e.Reason, maxShort), clip(e.URL, maxShort)
	e.Values, e.Pair = clipAll(e.Values), clip(e.Pair, maxPair)
	if len(e.Labels) == 0 {
		e.Labels = nil
	}
	return e
}
