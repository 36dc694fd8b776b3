package poll

import (
	"context"
	"errors"
	"slices"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/triage"
)

// runBackfill is the first poll of a repository. It sets the beginning of the cursor, and hands on
// the open issues, the newest first, up to a limit. It may take several polls.
func (s *syncer) runBackfill(ctx context.Context, c *cursor) error {
	var all []triage.Snapshot
	var err error
	if !c.Backfill.Begun {
		if all, err = s.beginBackfill(ctx, c); err != nil {
			return err
		}
	}
	if all != nil {
		slices.SortStableFunc(all, func(a, b triage.Snapshot) int { return b.CreatedAt.Compare(a.CreatedAt) })
		_, err = s.handleOpen(ctx, c, all)
	} else {
		err = s.handleOpenPages(ctx, c)
	}
	if err != nil {
		return errors.Join(err, s.store.save(ctx, c))
	}
	s.log.InfoContext(ctx, "first poll finished", "tasks", len(c.Backfill.Taken), "limit", s.backfillLimit)
	c.Backfill = nil
	return s.store.save(ctx, c)
}

// beginBackfill sets the cursor to the newest change. It lists changes back to the beginning of the
// overlap, so that issues which are not handed on are recorded as seen. If this lists all open
// issues, it returns them.
func (s *syncer) beginBackfill(ctx context.Context, c *cursor) ([]triage.Snapshot, error) {
	all := []triage.Snapshot{}
	for n := 1; ; n++ {
		list, err := s.reader.fetch(ctx, github.ListQuery{Updated: true, Page: n})
		if err != nil {
			return nil, err
		}
		for _, i := range list.Issues {
			if !s.reader.settled(i) {
				continue // the next poll finds this change
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
	if !s.reader.recent {
		c.Checkpoint = c.At
	}
	return all, s.store.save(ctx, c)
}

// handleOpenPages hands on the open issues page by page, up to the limit. If an issue is closed in
// the meantime, other issues move to the previous page. So it reads the pages repeatedly until it
// finds nothing new.
func (s *syncer) handleOpenPages(ctx context.Context, c *cursor) error {
	for range maxRounds {
		again, err := s.readPagesOnce(ctx, c)
		if err != nil || !again {
			return err
		}
	}
	return s.reader.errUnstable()
}

// readPagesOnce reads all pages once, and reports whether another round is needed.
func (s *syncer) readPagesOnce(ctx context.Context, c *cursor) (again bool, err error) {
	fresh := false
	for n := 1; len(c.Backfill.Taken) < s.backfillLimit; n++ {
		q := github.ListQuery{Page: n}
		list, err := s.reader.list(ctx, q)
		if err != nil {
			return false, err
		}
		if !list.Same {
			handed, err := s.handleOpen(ctx, c, list.Issues)
			if err != nil {
				return false, err
			}
			if err := s.store.save(ctx, c); err != nil {
				return false, err
			}
			fresh = fresh || handed
			s.reader.keep(q, answer{etag: list.ETag, more: list.More})
		}
		if !s.reader.answers[q].more {
			return fresh && n > 1, nil
		}
	}
	return false, nil
}

// handleOpen hands on issues up to the limit, and reports whether at least one of them was new.
func (s *syncer) handleOpen(ctx context.Context, c *cursor, list []triage.Snapshot) (fresh bool, err error) {
	for _, i := range list {
		if len(c.Backfill.Taken) >= s.backfillLimit {
			return fresh, nil
		}
		if !s.reader.settled(i) || slices.Contains(c.Backfill.Taken, i.Number) {
			continue
		}
		task, err := s.handler.handle(ctx, c, i, postponed{Opened: true})
		if err != nil {
			return fresh, err
		}
		if task {
			c.Backfill.Taken, fresh = append(c.Backfill.Taken, i.Number), true
		}
	}
	return fresh, nil
}
