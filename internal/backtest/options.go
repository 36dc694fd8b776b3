package backtest

import (
	"context"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/triage"
)

// A Source reads a repository's history.
type Source interface {
	// Issues returns a page of all issues and pull requests, open and closed, the newest first.
	// Pages count from 1.
	Issues(ctx context.Context, page int) (Page, error)
	// Timeline returns the timeline of an issue that Issues returned.
	Timeline(ctx context.Context, issue triage.Issue) (triage.Timeline, error)
}

// A Page is a part of a repository's issues.
type Page struct {
	Issues []triage.Issue
	More   bool // there is a page after this one
	About  int  // estimated number of issues on all pages; 0: unknown
}

// A StopError asks Run to stop reading for now. The report covers the issues replayed so far.
type StopError struct {
	Until time.Time // when to try again; zero: at once
	Err   error     // the reason
}

// Error returns the reason.
func (e *StopError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StopError) Unwrap() error { return e.Err }

// Options configures [Run]. Repo and Config must be set.
type Options struct {
	Repo   string // "owner/name"
	Config *config.Config
	// Old is compared with Config; nil: no comparison. OldName describes Old in the report. If the
	// name is empty after sanitizing, it becomes "other rules".
	Old     *config.Config
	OldName string
	Since   time.Time // older issues are left out; zero: none
	Limit   int       // largest number of issues; 0: all
	Links   int       // issues named per rule; 0: 10
	Bot     string    // Foreman's login; empty: runner.DefaultBot
	Now     time.Time // of the report
	// Progress is called after every page and timeline; nil: not called.
	Progress func(Progress)
}

// A Progress is the state of a running replay.
type Progress struct {
	Replayed  int // issues so far
	About     int // estimated number of all issues; 0: unknown
	Timelines int // timelines read so far
}
