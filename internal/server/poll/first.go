package poll

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/triage"
)

const byCreation = -1 // as the time of a question

// first is the first poll of a repository: it finds the place from which on changes
// count, and hands on the open issues, the newest first.
func (f *follower) first(ctx context.Context, c *cursor) error {
	var all []triage.Snapshot
	if !c.First.Begun {
		var err error
		if all, err = f.begin(ctx, c); err != nil {
			return err
		}
	}
	var err error
	if all != nil {
		slices.SortStableFunc(all, func(a, b triage.Snapshot) int { return b.CreatedAt.Compare(a.CreatedAt) })
		_, err = f.open(ctx, c, all)
	} else {
		err = f.creations(ctx, c)
	}
	if err != nil {
		return errors.Join(err, f.save(ctx, c))
	}
	f.log.InfoContext(ctx, "first poll is over", "tasks", len(c.First.Taken), "limit", f.o.FirstRun)
	c.First = nil
	return f.save(ctx, c)
}

// begin finds the place: the last change that there is. It reads on to where the overlap
// begins, so that issues which are not handed on are known not to be. It returns all open
// issues if it came to see them.
func (f *follower) begin(ctx context.Context, c *cursor) ([]triage.Snapshot, error) {
	all := []triage.Snapshot{}
	for n := 1; ; n++ {
		list, err := f.source.ListIssues(ctx, f.ref.Owner, f.ref.Repo, github.ListQuery{Updated: true, Page: n})
		if err != nil {
			return nil, err
		}
		f.date = list.Date
		for _, i := range list.Issues {
			at := i.UpdatedAt.Unix()
			if !f.settled(i) {
				continue // it is found again as a change
			}
			c.see(i.Number, at)
			all = append(all, i)
		}
		oldest := int64(0)
		if len(list.Issues) > 0 {
			oldest = list.Issues[len(list.Issues)-1].UpdatedAt.Unix()
		}
		whole := !list.More || n == maxParts
		if whole || oldest < c.since() {
			if list.More {
				all = nil
			}
			if list.More && oldest >= c.since() {
				c.From = oldest // beyond it nobody knows
			}
			break
		}
	}
	c.First.Begun = true
	if !f.recent {
		c.Base = c.At
	}
	return all, f.save(ctx, c)
}

// creations hands on the open issues page by page, until there are enough. Issues that
// are closed meanwhile let others slip to the page before, so it is done until a round
// brings nothing new.
func (f *follower) creations(ctx context.Context, c *cursor) error {
	for range maxRounds {
		again, err := f.round(ctx, c)
		if err != nil || !again {
			return err
		}
	}
	return fmt.Errorf("list the issues of %s: the list does not stand still", f.name)
}

// round reads all pages once, and reports whether it has to be done again.
func (f *follower) round(ctx context.Context, c *cursor) (again bool, err error) {
	fresh := false
	for n := 1; len(c.First.Taken) < f.o.FirstRun; n++ {
		q := question{byCreation, n}
		list, same, err := f.ask(ctx, q, github.ListQuery{})
		if err != nil {
			return false, err
		}
		if !same {
			got, err := f.open(ctx, c, list.Issues)
			if err != nil {
				return false, err
			}
			if err := f.save(ctx, c); err != nil {
				return false, err
			}
			fresh = fresh || got
			f.keep(q, answer{etag: list.ETag, more: list.More})
		}
		if !f.asked[q].more {
			return fresh && n > 1, nil
		}
	}
	return false, nil
}

// open hands on issues of the first poll, up to its limit, and reports whether there was
// one that was not handed on before.
func (f *follower) open(ctx context.Context, c *cursor, list []triage.Snapshot) (fresh bool, err error) {
	for _, i := range list {
		if len(c.First.Taken) >= f.o.FirstRun {
			return fresh, nil
		}
		if !f.settled(i) || slices.Contains(c.First.Taken, i.Number) {
			continue
		}
		made, err := f.judge(ctx, c, i, waiting{Opened: true})
		if err != nil {
			return fresh, err
		}
		if made {
			c.First.Taken, fresh = append(c.First.Taken, i.Number), true
		}
	}
	return fresh, nil
}
