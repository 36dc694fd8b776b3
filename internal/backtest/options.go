package backtest

import (
	"context"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/triage"
)

// A Source reads a repository's history.
type Source interface {
	// Issues returns a page of the issues and pull requests, open or not, those created
	// last first. Pages count from 1.
	Issues(ctx context.Context, page int) (Page, error)
	// Timeline returns the timeline of an issue of a page.
	Timeline(ctx context.Context, issue triage.Issue) (triage.Timeline, error)
}

// A Page is a part of a repository's issues.
type Page struct {
	Issues []triage.Issue
	More   bool // there is a page after this one
	About  int  // how many issues all pages have, roughly; 0: not known
}

// A StopError is a Source's wish to stop reading for now. The issues replayed so far are
// reported.
type StopError struct {
	Until time.Time // when it makes sense to go on; zero: at once
	Err   error     // why
}

// Error returns the reason.
func (e *StopError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StopError) Unwrap() error { return e.Err }

// Options configures [Run]. Repo and Config must be set.
type Options struct {
	Repo   string // "owner/name"
	Config *config.Config
	// Old is compared with Config; nil: no comparison. OldName describes it in the
	// report; a name that is empty after sanitizing becomes "other rules".
	Old     *config.Config
	OldName string
	Since   time.Time // issues created before are left out; zero: none
	Limit   int       // most issues; 0: all
	Links   int       // most issues that are named per rule; 0: 10
	Bot     string    // our login; empty: runner.DefaultBot
	Now     time.Time // of the report
	// Progress is called after every page and timeline; nil: not called.
	Progress func(Progress)
}

// A Progress is the state of a running replay.
type Progress struct {
	Replayed  int // issues
	About     int // issues in all, roughly; 0: not known
	Timelines int // that were read
}
