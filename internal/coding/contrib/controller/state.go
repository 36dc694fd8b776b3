package controller

import (
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
)

// statePath is the file of a [State].
const statePath = Folder + "/state.json"

// A State contains the data that commands store outside their documents. The progress of a
// contribution is not part of it; it is derived from the documents and the workspace.
type State struct {
	Schema      int       `json:"schema"`
	ActiveIssue *string   `json:"activeIssue"` // "owner/repo#1"; nil: no active issue
	History     []Switch  `json:"history"`
	Backoff     []Backoff `json:"backoff"`
}

// A Switch is a time at which an issue became the active one.
type Switch struct {
	Issue string        `json:"issue"`
	At    contract.Time `json:"at"`
}

// A Backoff is a query that GitHub refused, with the time until which it is not repeated.
type Backoff struct {
	Scope      string            `json:"scope"`
	Query      string            `json:"query"`
	Until      contract.Time     `json:"until"`
	RecordedAt contract.Time     `json:"recordedAt"`
	Blocked    contract.Throttle `json:"blocked"`
}

// State reads the state. It is empty if the file does not exist or cannot be read; the second case
// is an error.
func (c Controller) State() (State, error) {
	s := State{Schema: 1}
	_, err := c.Read(statePath, &s)
	if err == nil && s.ActiveIssue != nil {
		if _, wrong := ParseIssue(*s.ActiveIssue); wrong != nil {
			err = invalid(statePath, fmt.Errorf("activeIssue: %w", wrong))
		}
	}
	if err != nil {
		return State{Schema: 1}, err
	}
	return s, nil
}

// SaveState writes the state.
func (c Controller) SaveState(s State) error { return c.Write(statePath, s) }

// Activate makes an issue the active one. A state that cannot be read is replaced.
func (c Controller) Activate(issue string, now time.Time) error {
	s, err := c.State()
	if _, ok := Invalid(err); ok {
		err = nil
	}
	if err != nil || s.ActiveIssue != nil && *s.ActiveIssue == issue {
		return err
	}
	const kept = 100
	s.ActiveIssue = &issue
	s.History = append(s.History, Switch{issue, contract.Time(now)})
	s.History = s.History[max(0, len(s.History)-kept):]
	return c.SaveState(s)
}

// Waiting returns the recorded refusal of a query, if the query must not be repeated yet.
func (s State) Waiting(scope, query string, now time.Time) (contract.Throttle, bool) {
	i := slices.IndexFunc(s.Backoff, func(b Backoff) bool {
		return b.Scope == scope && b.Query == query && now.Before(time.Time(b.Until))
	})
	if i < 0 {
		return contract.Throttle{}, false
	}
	return s.Backoff[i].Blocked, true
}

// Remember records that GitHub refused a query. The query is not repeated before the time that
// GitHub names, or for one minute if it names none. Remember drops expired refusals. It does not
// change a state that cannot be read.
func (c Controller) Remember(blocked contract.Throttle, now time.Time) error {
	s, err := c.State()
	if _, ok := Invalid(err); ok {
		return nil
	}
	if err != nil {
		return err
	}
	until := now.Add(time.Minute)
	if blocked.RetryAfterAt != nil {
		until = time.Time(*blocked.RetryAfterAt)
	}
	s.Backoff = slices.DeleteFunc(s.Backoff, func(b Backoff) bool {
		return !now.Before(time.Time(b.Until)) || b.Scope == blocked.Scope && b.Query == blocked.FailingQuery
	})
	s.Backoff = append(s.Backoff, Backoff{blocked.Scope, blocked.FailingQuery, contract.Time(until), contract.Time(now), blocked})
	return c.SaveState(s)
}
