package app

import (
	"context"
	"errors"
	"strings"

	"github.com/org/foreman-action/internal/backtest"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/triage"
)

// A replay is a backtest over a repository on GitHub. For a comment on a pull request
// that changes the rules: options.Config holds the new ones and options.Old those of the
// base, and [backtest.Markdown] makes the comment of the report.
type replay struct {
	client *github.Client
	tree   github.Tree // its ref does not count
	cache  string      // folder; empty: nothing is kept
	// cacheNamed makes it a failure when the cache cannot be opened.
	cacheNamed bool
	reserve    int // calls to leave to others
	options    backtest.Options
}

// run replays the rules. The report is there without an error, also when it is not
// complete.
func (r replay) run(ctx context.Context) (backtest.Report, github.HistoryCalls, error) {
	o := github.HistoryOptions{Dir: r.cache, Reserve: r.reserve}
	h, err := github.NewHistory(r.client, r.tree.Owner, r.tree.Repo, o)
	if err != nil && !r.cacheNamed {
		o.Dir = ""
		h, err = github.NewHistory(r.client, r.tree.Owner, r.tree.Repo, o)
	}
	if err != nil {
		return backtest.Report{}, github.HistoryCalls{}, err
	}
	report, err := backtest.Run(ctx, past{h}, r.options)
	if err == nil && report.Stopped == nil {
		h.Done()
	}
	return report, h.Calls(), err
}

// A past is the history of a repository on GitHub as a backtest reads it.
type past struct{ *github.History }

func (p past) Issues(ctx context.Context, page int) (backtest.Page, error) {
	list, err := p.History.Issues(ctx, page)
	return backtest.Page(list), stopOf(err)
}

func (p past) Timeline(ctx context.Context, i triage.Issue) (triage.Timeline, error) {
	t, err := p.History.Timeline(ctx, i)
	return t, stopOf(err)
}

// stopOf makes the end of the budget a reason to stop.
func stopOf(err error) error {
	budget, ok := errors.AsType[*github.BudgetError](err)
	if !ok {
		return err
	}
	return &backtest.StopError{Until: budget.Reset, Err: budget}
}

// anyEnv takes variables that are not set here for set.
func (a App) anyEnv(name string) string {
	if v := a.Getenv(name); v != "" {
		return v
	}
	return "https://" + strings.ToLower(name) + ".example.com" // a value that suits everything
}
