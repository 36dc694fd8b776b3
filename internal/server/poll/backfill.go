package poll

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/triage"
)

// A backfill is the first poll of a repository: it finds where the cursor begins, and hands
// on the open issues, the newest first, up to a limit. It may take several polls.
type backfill struct {
	limit   int
	reader  *reader
	store   *checkpoints
	handler *handler
	log     *slog.Logger
}

func (b *backfill) run(ctx context.Context, c *cursor) error {
	var all []triage.Snapshot
	var err error
	if !c.Backfill.Begun {
		if all, err = b.begin(ctx, c); err != nil {
			return err
		}
	}
	if all != nil {
		slices.SortStableFunc(all, func(a, b triage.Snapshot) int { return b.CreatedAt.Compare(a.CreatedAt) })
		_, err = b.handle(ctx, c, all)
	} else {
		err = b.pages(ctx, c)
	}
	if err != nil {
		return errors.Join(err, b.store.save(ctx, c))
	}
	b.log.InfoContext(ctx, "first poll is over", "tasks", len(c.Backfill.Taken), "limit", b.limit)
	c.Backfill = nil
	return b.store.save(ctx, c)
}

// begin sets the cursor to the newest change. It lists back to where the overlap begins, so
// that issues which are not handed on are known as seen. It returns all open issues if it
// listed them all.
func (b *backfill) begin(ctx context.Context, c *cursor) ([]triage.Snapshot, error) {
	all := []triage.Snapshot{}
	for n := 1; ; n++ {
		list, err := b.reader.fetch(ctx, github.ListQuery{Updated: true, Page: n})
		if err != nil {
			return nil, err
		}
		for _, i := range list.Issues {
			if !b.reader.settled(i) {
				continue // the next poll finds it as a change
			}
			c.advance(i.Number, i.UpdatedAt.Unix())
			all = append(all, i)
		}
		oldest := int64(0)
		if len(list.Issues) > 0 {
			oldest = list.Issues[len(list.Issues)-1].UpdatedAt.Unix()
		}
		whole := !list.More || n == maxWindows
		if whole || oldest < c.since() {
			if list.More {
				all = nil
			}
			if list.More && oldest >= c.since() {
				c.Start = oldest // older changes were not listed
			}
			break
		}
	}
	c.Backfill.Begun = true
	if !b.reader.recent {
		c.Checkpoint = c.At
	}
	return all, b.store.save(ctx, c)
}

// pages hands on the open issues page by page, up to the limit. An issue that is closed
// meanwhile moves others to the page before, so the pages are read until a round finds
// nothing new.
func (b *backfill) pages(ctx context.Context, c *cursor) error {
	for range maxRounds {
		again, err := b.round(ctx, c)
		if err != nil || !again {
			return err
		}
	}
	return b.reader.errUnstable()
}

// round reads all pages once, and reports whether another round is needed.
func (b *backfill) round(ctx context.Context, c *cursor) (again bool, err error) {
	fresh := false
	for n := 1; len(c.Backfill.Taken) < b.limit; n++ {
		q := github.ListQuery{Page: n}
		list, err := b.reader.list(ctx, q)
		if err != nil {
			return false, err
		}
		if !list.Same {
			handed, err := b.handle(ctx, c, list.Issues)
			if err != nil {
				return false, err
			}
			if err := b.store.save(ctx, c); err != nil {
				return false, err
			}
			fresh = fresh || handed
			b.reader.keep(q, answer{etag: list.ETag, more: list.More})
		}
		if !b.reader.answers[q].more {
			return fresh && n > 1, nil
		}
	}
	return false, nil
}

// handle hands on issues up to the limit, and reports whether there was one that was not
// handed on before.
func (b *backfill) handle(ctx context.Context, c *cursor, list []triage.Snapshot) (fresh bool, err error) {
	for _, i := range list {
		if len(c.Backfill.Taken) >= b.limit {
			return fresh, nil
		}
		if !b.reader.settled(i) || slices.Contains(c.Backfill.Taken, i.Number) {
			continue
		}
		task, err := b.handler.handle(ctx, c, i, postponed{Opened: true})
		if err != nil {
			return fresh, err
		}
		if task {
			c.Backfill.Taken, fresh = append(c.Backfill.Taken, i.Number), true
		}
	}
	return fresh, nil
}
