package controller

import (
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/contrib/contract"
)

// statePath is the file of a [State].
const statePath = Folder + "/state.json"

// A State is the data that commands store beside their documents. It does not contain the
// progress of a contribution, which follows from the documents and the workspace.
type State struct {
	Schema      int       `json:"schema"`
	ActiveIssue *string   `json:"activeIssue"` // "owner/repo#1"; nil: none
	History     []Switch  `json:"history"`
	Backoff     []Backoff `json:"backoff"`
}

// A Switch is a time at which an issue became the active one.
type Switch struct {
	Issue string        `json:"issue"`
	At    contract.Time `json:"at"`
}

// A Backoff is a query that GitHub refused, and until when it is not asked again.
type Backoff struct {
	Scope      string            `json:"scope"`
	Query      string            `json:"query"`
	Until      contract.Time     `json:"until"`
	RecordedAt contract.Time     `json:"recordedAt"`
	Blocked    contract.Throttle `json:"blocked"`
}

// State reads the state; without a file it is empty, and with an error too.
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

// Waiting returns the refusal of a query, until the query may be repeated.
func (s State) Waiting(scope, query string, now time.Time) (contract.Throttle, bool) {
	i := slices.IndexFunc(s.Backoff, func(b Backoff) bool {
		return b.Scope == scope && b.Query == query && now.Before(time.Time(b.Until))
	})
	if i < 0 {
		return contract.Throttle{}, false
	}
	return s.Backoff[i].Blocked, true
}

// Remember records that a query was refused: it is not made again before the time that
// GitHub names, or a minute later. Refusals whose time is over are dropped. A state that cannot be
// read is not changed.
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
