package memory

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/protocol"
)

// MaxLedger is the most bytes of an encoded [Ledger].
const MaxLedger = 4 << 20

// LedgerAge is how long a journal keeps a ledger after its last change. It exceeds the 30 days in
// which GitHub allows a workflow run to be repeated.
const LedgerAge = 35 * 24 * time.Hour

// ledgerSchema is the version of the encoded form of a Ledger.
const ledgerSchema = 1

// A storedLedger is the encoded form of a [Ledger].
type storedLedger struct {
	Schema int `json:"schema"`
	Ledger
}

// EncodeLedger returns the stored form of l: one line of JSON that ends with a newline. Errors: a
// bad key, a decision on another task, entries that do not match the decision's actions, or more
// than [MaxLedger] bytes. Journals call it; callers of a journal do not need it.
func EncodeLedger(l Ledger) ([]byte, error) {
	if _, err := l.Path(); err != nil {
		return nil, err
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	if l.Entries == nil {
		l.Entries = []Entry{}
	}
	data, err := protocol.Encode(storedLedger{Schema: ledgerSchema, Ledger: l})
	if err != nil {
		return nil, fmt.Errorf("encode the ledger of task %s: %w", l.Task, err)
	}
	if len(data) >= MaxLedger {
		return nil, errLedgerTooLarge
	}
	return append(data, '\n'), nil
}

// errLedgerTooLarge means that an encoded ledger is larger than MaxLedger.
var errLedgerTooLarge = fmt.Errorf("the ledger is larger than %d bytes", MaxLedger)

// DecodeLedger reads the stored form of the ledger with the given key. It returns [ErrBroken],
// with the reason, or [ErrNewer].
func DecodeLedger(data []byte, key LedgerKey) (Ledger, error) {
	if len(data) > MaxLedger {
		return Ledger{}, broken(errLedgerTooLarge)
	}
	if err := checkSchema(data, ledgerSchema, ledgerSchema); err != nil {
		return Ledger{}, err
	}
	var s storedLedger
	if err := unmarshal(data, &s); err != nil {
		return Ledger{}, err
	}
	if err := s.identity(key); err != nil {
		return Ledger{}, broken(err)
	}
	if err := s.check(); err != nil {
		return Ledger{}, broken(err)
	}
	return s.Ledger, nil
}

// DecodeEntry reads the stored form of an [Entry], which is its JSON. It does not check whether
// the entry belongs to an action; [Ledger.Mark] does. Its error is [ErrBroken], with the reason.
func DecodeEntry(data []byte) (Entry, error) {
	var e Entry
	if err := unmarshal(data, &e); err != nil {
		return Entry{}, err
	}
	return e, nil
}

// identity verifies that k and want name the same ledger.
func (k LedgerKey) identity(want LedgerKey) error {
	got, err := k.Path()
	if err != nil {
		return err
	}
	path, err := want.Path()
	if err != nil {
		return err
	}
	if got != path {
		return fmt.Errorf("it is the ledger %s, not %s", got, path)
	}
	return nil
}

// check verifies that the decision is on the key's task and that the entries match the decision's
// actions.
func (l Ledger) check() error {
	if !slices.Contains(protocol.DecisionTypes(), l.Decision.Decision) {
		return errors.New("it has no decision")
	}
	if l.Decision.TaskID != l.Task {
		return fmt.Errorf("its decision is for the task %q", clip(l.Decision.TaskID, 60))
	}
	if len(l.Entries) != len(l.Decision.Actions) {
		return fmt.Errorf("it has %d entries for %d actions", len(l.Entries), len(l.Decision.Actions))
	}
	for i, e := range l.Entries {
		if err := e.check(i, HashAction(l.Decision.Actions[i])); err != nil {
			return err
		}
	}
	return nil
}
