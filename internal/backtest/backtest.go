// Package backtest replays rules over what happened in a repository, and compares what
// they would have done with what people did. It writes nothing to GitHub.
//
// Each issue is taken as it was when it was opened, as far as its timeline tells: with
// the labels, assignees and milestone that came with it, and its first title. Only its
// body is the one of today. Then the rules decide on the event issues.opened.
//
// # What counts as agreement
//
// A rule that adds a label agrees with people when the label is on the issue today and
// a person, the issue's form included, put it there last. A label that a program put
// there counts when no person took it off for [KeptAfter]; before, it is undecided. A
// rule that closes agrees when people closed the issue for the same reason. An open
// issue on which nobody but its author did anything is undecided. Everything else is
// disagreement. A rule agrees on an issue when all of its labels and its closing do.
//
// Precision is the share of agreement in what is decided; recall is the share, of the
// issues that bear a label as people left it, on which the rule adds it. Rules that
// neither add labels nor close are counted, and not judged.
package backtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// KeptAfter is how long a label or a closing of a program's must have been left alone
// by people to count as theirs.
const KeptAfter = 30 * 24 * time.Hour

// A Source is where a repository's past is read.
type Source interface {
	// Issues returns a page of the issues and pull requests, open or not, those created
	// last first. Pages count from 1.
	Issues(ctx context.Context, page int) (Page, error)
	// Timeline returns what happened on an issue that a page had.
	Timeline(ctx context.Context, issue triage.Issue) (triage.Timeline, error)
}

// A Page is a part of a repository's issues.
type Page struct {
	Issues []triage.Issue
	More   bool // there is a page after this one
	About  int  // how many issues all pages have, roughly; 0: not known
}

// A StopError is a Source's wish that nothing more be read for now. What was replayed
// is reported.
type StopError struct {
	Until time.Time // when it makes sense to go on; zero: at once
	Err   error     // why
}

// Error says why.
func (e *StopError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StopError) Unwrap() error { return e.Err }

// Options say what is replayed. Repo and Config must be set.
type Options struct {
	Repo   string // "owner/name"
	Config *config.Config
	// Old is compared with Config; nil: nothing is. OldName says what it is;
	// a name of which nothing is left once it is made harmless is told as "other rules".
	Old     *config.Config
	OldName string
	Since   time.Time // issues created before are left out; zero: none
	Limit   int       // most issues; 0: all
	Links   int       // most issues that are named per rule; 0: 10
	Bot     string    // our login; empty: runner.DefaultBot
	Now     time.Time // of the report
	// Progress is told how far it is, after every page and timeline; nil: nobody is.
	Progress func(Progress)
}

// A Progress tells how far a replay is.
type Progress struct {
	Replayed  int // issues
	About     int // issues in all, roughly; 0: not known
	Timelines int // that were read
}

// Run replays the rules. When the Source stops it, or the context ends, the report tells
// of what was replayed until then and says so; the error is of other failures, and the
// report is then of no use.
func Run(ctx context.Context, src Source, o Options) (Report, error) {
	owner, name, ok := protocol.SplitRepo(o.Repo)
	if !ok || o.Config == nil {
		return Report{}, fmt.Errorf("replay the rules: want a repository and a configuration, got %q", o.Repo)
	}
	if o.Links == 0 {
		o.Links = 10
	}
	if o.Bot == "" {
		o.Bot = runner.DefaultBot
	}
	r := &replay{Options: o, src: src, owner: owner, name: name, carried: map[string]int{}, months: map[string]*Month{}}
	r.engines = []*engine{newEngine(o.Config)}
	if o.Old != nil {
		r.engines = append(r.engines, newEngine(o.Old))
	}
	err := r.all(ctx)
	stop, stopped := errors.AsType[*StopError](err)
	switch {
	case stopped:
		r.stopped = &Stopped{After: r.replayed, About: r.about(), Reason: stop.Error(), again: stop.Until}
	case err != nil && ctx.Err() != nil:
		r.stopped = &Stopped{After: r.replayed, About: r.about(), Reason: "interrupted"}
	case err != nil:
		return Report{}, fmt.Errorf("replay the rules over %s: %w", o.Repo, err)
	}
	return r.report(), nil
}

// A replay is one run. It keeps counters and a few links, and no issues.
type replay struct {
	Options
	src         Source
	owner, name string
	engines     []*engine // the new rules, and the old ones

	replayed, pulls, ours, timelines int
	seen                             []int // numbers of the page before
	oldest                           time.Time
	listed                           int // about how many the source has
	carried                          map[string]int
	months                           map[string]*Month
	stopped                          *Stopped
}

// all goes through the pages.
func (r *replay) all(ctx context.Context) error {
	for n := 1; ; n++ {
		page, err := r.src.Issues(ctx, n)
		if err != nil {
			return err
		}
		r.listed = max(page.About, len(page.Issues))
		done, err := r.page(ctx, page)
		r.tell()
		if done || err != nil || !page.More {
			return err
		}
	}
}

// tell tells how far it is.
func (r *replay) tell() {
	if r.Progress != nil {
		r.Progress(Progress{Replayed: r.replayed, About: r.about(), Timelines: r.timelines})
	}
}

// page replays the issues of a page. An issue that is opened meanwhile moves the last
// ones of a page to the next.
func (r *replay) page(ctx context.Context, page Page) (done bool, err error) {
	numbers := make([]int, 0, len(page.Issues))
	for _, i := range page.Issues {
		numbers = append(numbers, i.Number)
		switch {
		case slices.Contains(r.seen, i.Number):
			continue
		case !r.Since.IsZero() && i.CreatedAt.Before(r.Since), r.Limit > 0 && r.replayed == r.Limit:
			return true, nil
		case i.PullRequest:
			r.pulls++
			continue
		case i.Author == r.Bot:
			r.ours++
			continue
		}
		if err := r.issue(ctx, i); err != nil {
			return false, err
		}
		r.oldest = i.CreatedAt
	}
	r.seen = numbers
	return false, nil
}

// about estimates how many issues there are to replay, by the time that is left.
func (r *replay) about() int {
	n := r.listed
	if elapsed := r.Now.Sub(r.oldest); r.replayed > 0 && !r.Since.IsZero() && elapsed > 0 {
		n = min(n, int(float64(r.replayed)*float64(r.Now.Sub(r.Since))/float64(elapsed)))
	}
	if r.Limit > 0 {
		n = min(n, r.Limit)
	}
	return max(n, r.replayed)
}

// issue replays one issue. Its timeline is read only when it may matter: when a rule
// fires on what is known without, or when it bears a label that a rule adds.
func (r *replay) issue(ctx context.Context, i triage.Issue) error {
	h := history{issue: i, bot: r.Bot, now: r.Now}
	wanted := slices.ContainsFunc(r.engines, func(e *engine) bool {
		return e.adds(i.Labels) || r.fires(e, h.opening(), nil) || len(i.Labels) > 0 && r.fires(e, h.opening(), i.Labels)
	})
	if wanted {
		t, err := r.src.Timeline(ctx, i)
		if err != nil && !errors.Is(err, triage.ErrGone) {
			return err
		}
		r.timelines++
		h.Timeline = t
		r.tell()
	}
	r.count(h, wanted)
	return nil
}

// fires reports whether the rules have anything to say to an issue with these labels.
func (r *replay) fires(e *engine, i triage.Issue, labels []string) bool {
	i.Labels = labels
	return e.decide(r.event(i), nil).matters()
}

// event is the opening of an issue as an event.
func (r *replay) event(i triage.Issue) triage.Delivery {
	return triage.Delivery{
		Event: triage.Event{Name: triage.EventIssues, Action: opened},
		Repo:  triage.Repo{Owner: r.owner, Name: r.name}, Number: i.Number, Issue: &i,
		Sender: triage.Actor{Login: i.Author, Type: i.AuthorType},
	}
}

// opened is the activity that is replayed.
const opened = "opened"
