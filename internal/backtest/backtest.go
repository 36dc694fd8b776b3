// Package backtest replays rules over the history of a repository and compares their decisions with
// those of people. It writes nothing to GitHub.
//
// Each issue is replayed as it was when it was opened, as far as its timeline shows: with its first
// title, and with the labels, assignees and milestone that it had from the start. Only its body is
// the current one. Then the rules decide on the event issues.opened.
//
// # What counts as agreement
//
// A rule that adds a label agrees with people when the issue has the label today and a person added
// it last. A label from the issue's form counts as added by a person. A label that a program added
// counts if no person removed it for [KeptAfter]; until then it is undecided.
//
// A rule that closes agrees when people closed the issue for the same reason. An open issue on
// which only its author did anything is undecided. Everything else is disagreement. A rule agrees
// on an issue when all of its labels and its closing agree.
//
// Precision is the share of agreement in the decided cases. Recall is a share of the issues that
// have a label as people left it: those on which the rule adds the label. Rules that neither add
// labels nor close are counted, but not judged.
package backtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// Run replays the rules. When the Source stops it or the context ends, the report covers the issues
// replayed so far and contains the reason. After any other failure Run returns an error and no
// usable report.
func Run(ctx context.Context, src Source, o Options) (Report, error) {
	owner, name, ok := protocol.SplitRepo(o.Repo)
	switch {
	case !ok:
		return Report{}, fmt.Errorf("replay the rules: %q is not OWNER/REPO", o.Repo)
	case o.Config == nil:
		return Report{}, errors.New("replay the rules: no configuration")
	}
	if o.Links == 0 {
		o.Links = 10
	}
	if o.Bot == "" {
		o.Bot = runner.DefaultBot
	}
	r := &replay{Options: o, src: src, repo: triage.Repo{Owner: owner, Name: name}, engines: []*engine{newEngine(o.Config)}}
	if o.Old != nil {
		r.engines = append(r.engines, newEngine(o.Old))
	}
	r.counts = newCounts(r.engines)
	err := r.all(ctx)
	var stopped *Stopped
	stop, wished := errors.AsType[*StopError](err)
	switch {
	case wished:
		stopped = &Stopped{After: r.counts.replayed, About: r.about(), Reason: stop.Error(), RunAgain: utc(stop.Until)}
	case err != nil && ctx.Err() != nil:
		stopped = &Stopped{After: r.counts.replayed, About: r.about(), Reason: "interrupted"}
	case err != nil:
		return Report{}, fmt.Errorf("replay the rules over %s: %w", o.Repo, err)
	}
	return summarize(o, r.counts, r.engines, stopped), nil
}

// A replay is one run over the pages of a source. It keeps counters and a few links, but no issues.
type replay struct {
	Options
	src     Source
	repo    triage.Repo
	engines []*engine // for the new rules, and for the old ones
	counts  counts

	seen   []int // issue numbers of the previous page
	oldest time.Time
	listed int // estimated number of issues in the source
}

// all replays the issues of all pages.
func (r *replay) all(ctx context.Context) error {
	for n := 1; ; n++ {
		page, err := r.src.Issues(ctx, n)
		if err != nil {
			return err
		}
		r.listed = max(page.About, len(page.Issues))
		done, err := r.page(ctx, page)
		r.reportProgress()
		if done || err != nil || !page.More {
			return err
		}
	}
}

func (r *replay) reportProgress() {
	if r.Progress != nil {
		r.Progress(Progress{Replayed: r.counts.replayed, About: r.about(), Timelines: r.counts.timelines})
	}
}

// page replays the issues of a page. It skips issues of the previous page, because a newly opened
// issue moves the last ones of a page to the next page.
func (r *replay) page(ctx context.Context, page Page) (done bool, err error) {
	numbers := make([]int, 0, len(page.Issues))
	for _, i := range page.Issues {
		numbers = append(numbers, i.Number)
		switch {
		case slices.Contains(r.seen, i.Number):
			continue
		case !r.Since.IsZero() && i.CreatedAt.Before(r.Since), r.Limit > 0 && r.counts.replayed == r.Limit:
			return true, nil
		case i.PullRequest:
			r.counts.pulls++
			continue
		case i.Author == r.Bot:
			r.counts.ours++
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

// about estimates the number of issues to replay. With Since set, it assumes a constant rate of new
// issues.
func (r *replay) about() int {
	n := r.listed
	if elapsed := r.Now.Sub(r.oldest); r.counts.replayed > 0 && !r.Since.IsZero() && elapsed > 0 {
		n = min(n, int(float64(r.counts.replayed)*float64(r.Now.Sub(r.Since))/float64(elapsed)))
	}
	if r.Limit > 0 {
		n = min(n, r.Limit)
	}
	return max(n, r.counts.replayed)
}

// issue replays one issue. It reads the timeline only if it may matter: if the issue has a label
// that a rule adds, or if a rule fires even without the timeline.
func (r *replay) issue(ctx context.Context, i triage.Issue) error {
	h := history{issue: i, bot: r.Bot, now: r.Now}
	wanted := slices.ContainsFunc(r.engines, func(e *engine) bool {
		return e.adds(i.Labels) || r.fires(ctx, e, h.opening(), nil) || len(i.Labels) > 0 && r.fires(ctx, e, h.opening(), i.Labels)
	})
	if !wanted {
		r.counts.add(h, nil, r.Links)
		return nil
	}
	t, err := r.src.Timeline(ctx, i)
	if err != nil && !errors.Is(err, triage.ErrGone) {
		return err
	}
	r.counts.timelines++
	h.Timeline = t
	r.reportProgress()
	event := r.event(h.opening())
	decisions := make([]decision, len(r.engines))
	for k, e := range r.engines {
		decisions[k] = e.decide(ctx, event, h.timeline())
	}
	r.counts.add(h, decisions, r.Links)
	return nil
}

// fires reports whether a rule fires on an issue with these labels, or cannot be judged.
func (r *replay) fires(ctx context.Context, e *engine, i triage.Issue, labels []string) bool {
	i.Labels = labels
	return e.decide(ctx, r.event(i), facts.Opening(i)).matters()
}

// event returns the event that opened an issue.
func (r *replay) event(i triage.Issue) triage.Delivery {
	return triage.Delivery{
		Event: triage.Event{Name: triage.EventIssues, Action: opened},
		Repo:  r.repo, Number: i.Number, Issue: &i,
		Sender: triage.Actor{Login: i.Author, Type: i.AuthorType},
	}
}
