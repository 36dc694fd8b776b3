// Package replay runs a backtest over a repository on GitHub.
package replay

import (
	"context"
	"errors"

	"github.com/org/foreman-action/internal/backtest"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/triage"
)

// Options name the rules to replay and the history to read. To comment on a pull request that
// changes the rules, set Backtest.Config to the new rules and Backtest.Old to those of the base
// branch. [backtest.Markdown] renders the report as a comment.
type Options struct {
	Client *github.Client
	Tree   github.Tree // its ref is ignored
	Cache  string      // folder; empty: nothing is kept
	// CacheNamed makes it a failure when the cache cannot be opened.
	CacheNamed bool
	Reserve    int // calls per hour to leave to others
	Backtest   backtest.Options
}

// Run replays the rules. Without an error it returns a report, which may be incomplete.
func Run(ctx context.Context, r Options) (backtest.Report, github.HistoryCalls, error) {
	o := github.HistoryOptions{Dir: r.Cache, Reserve: r.Reserve}
	h, err := github.NewHistory(r.Client, r.Tree.Owner, r.Tree.Repo, o)
	if err != nil && !r.CacheNamed {
		o.Dir = ""
		h, err = github.NewHistory(r.Client, r.Tree.Owner, r.Tree.Repo, o)
	}
	if err != nil {
		return backtest.Report{}, github.HistoryCalls{}, err
	}
	report, err := backtest.Run(ctx, source{h}, r.Backtest)
	if err == nil && report.Stopped == nil {
		h.Done()
	}
	return report, h.Calls(), err
}

// A source reads the history of a repository on GitHub.
type source struct{ *github.History }

func (p source) Issues(ctx context.Context, page int) (backtest.Page, error) {
	list, err := p.History.Issues(ctx, page)
	return backtest.Page(list), stopOf(err)
}

func (p source) Timeline(ctx context.Context, i triage.Issue) (triage.Timeline, error) {
	t, err := p.History.Timeline(ctx, i)
	return t, stopOf(err)
}

// stopOf turns the end of the call budget into a reason to stop early.
func stopOf(err error) error {
	budget, ok := errors.AsType[*github.BudgetError](err)
	if !ok {
		return err
	}
	return &backtest.StopError{Until: budget.Reset, Err: budget}
}
