package poll

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/triage"
)

const (
	maxRounds  = 5  // of reading pages that change while they are read
	maxWindows = 10 // with new changes per poll; then other repositories get a permit
)

// A syncer handles the changes of one repository since its cursor.
type syncer struct {
	reader  *reader
	store   *checkpoints
	handler *handler
	log     *slog.Logger

	backfillLimit int // maximum number of tasks of the first poll
}

// A result is the state after a successful poll.
type result struct {
	more      bool // further changes can be read at once
	recent    bool // a change was too recent to handle
	postponed int  // number of postponed issues
}

// poll handles the changes since the last poll, or the open issues at the first one.
func (s *syncer) poll(ctx context.Context) (result, error) {
	c, err := s.store.load(ctx)
	if err != nil {
		return result{}, err
	}
	s.reader.begin()
	more := false
	if c.Backfill != nil {
		err = s.runBackfill(ctx, c)
	} else {
		more, err = s.changes(ctx, c)
	}
	s.reader.end()
	return result{more: more, recent: s.reader.recent, postponed: len(c.Postponed)}, err
}

// changes handles the issues that changed since the cursor, and then those that were postponed
// before. If more is true, it stopped early, and the next poll continues.
func (s *syncer) changes(ctx context.Context, c *cursor) (more bool, err error) {
	since, postponed := c.since(), slices.Sorted(maps.Keys(c.Postponed))
	var w window
	for n := 0; !w.last; {
		if n == maxWindows {
			return true, nil
		}
		if w, err = s.window(ctx, c, since); errors.Is(err, errTooManyPostponed) {
			// Drop postponed issues that need no handling, to make room for the next poll.
			err = errors.Join(err, s.revisit(ctx, c, postponed), s.store.save(ctx, c))
		}
		if err != nil {
			return false, err
		}
		// A window counts only if it contains new changes. Known issues within the overlap do not move
		// the cursor. If their windows counted, a poll with many of them would end where it began, and
		// so would all later polls.
		if since = w.next; w.fresh {
			n++
		}
	}
	if !s.reader.recent {
		// A recent change could hide an earlier change of its issue, so the checkpoint does not move
		// then.
		c.Checkpoint = c.At
	}
	err = s.revisit(ctx, c, postponed)
	return false, errors.Join(err, s.store.save(ctx, c))
}

// A window is a part of the list of changes.
type window struct {
	next  int64 // where the next window begins
	last  bool  // there is no next window
	fresh bool  // it contained a change that was not handled before
}

// window handles the changes since a time. Usually it reads one page, and more only if all changes
// on the page are of the same second. Then it must read pages by number. If an issue changes in the
// meantime, it leaves its page, and another issue moves to the previous page. So it reads the pages
// repeatedly until it finds nothing new. An unchanged page costs no call.
func (s *syncer) window(ctx context.Context, c *cursor, since int64) (window, error) {
	fresh := false
	for range maxRounds {
		freshRound := false
		for n := 1; ; n++ {
			p, err := s.page(ctx, c, since, n)
			if err != nil {
				return window{}, err
			}
			freshRound, fresh = freshRound || p.fresh, fresh || p.fresh
			// Read the last second again, because GitHub does not document whether "since" includes its
			// second.
			w := window{next: p.last - 1, last: !p.more || p.recent, fresh: fresh}
			if !w.last && w.next <= since {
				continue
			}
			if n == 1 || !freshRound {
				return w, nil
			}
			break
		}
	}
	return window{}, s.reader.errUnstable()
}

// A page is the result of handling one page of the list.
type page struct {
	answer
	fresh  bool // it contained a change that was not handled before
	recent bool // it contains a change that is too recent, which is left to the next poll
}

// page handles the changes on one page.
func (s *syncer) page(ctx context.Context, c *cursor, since int64, number int) (page, error) {
	q := github.ListQuery{Updated: true, Oldest: true, Since: moment(since), Page: number}
	list, err := s.reader.list(ctx, q)
	if err != nil || list.Same {
		return page{answer: s.reader.answers[q]}, err
	}
	p := page{answer: answer{etag: list.ETag, more: list.More, last: since}}
	for _, i := range list.Issues {
		if p.recent = !s.reader.settled(i); p.recent {
			break
		}
		at := i.UpdatedAt.Unix()
		p.last = max(p.last, at)
		if c.Seen[i.Number] == at {
			continue
		}
		p.fresh = true
		if _, err := s.handler.handle(ctx, c, i, postponed{From: c.handledUntil(i.Number), Opened: c.isNew(i.Issue)}); err != nil {
			return p, errors.Join(err, s.store.save(ctx, c)) // save the progress so far
		}
		c.advance(i.Number, at)
	}
	if err := s.store.save(ctx, c); err != nil {
		return p, err
	}
	if !p.recent {
		s.reader.keep(q, p.answer)
	}
	return p, nil
}

// revisit handles issues that were postponed before this poll, if they still are.
func (s *syncer) revisit(ctx context.Context, c *cursor, issues []int) error {
	for _, n := range issues {
		if _, ok := c.Postponed[n]; !ok {
			continue
		}
		if err := s.reload(ctx, c, n); err != nil {
			return err
		}
	}
	return nil
}

// reload reads a postponed issue again and handles it, unless a task is in flight.
func (s *syncer) reload(ctx context.Context, c *cursor, n int) error {
	_, inFlight, err := s.handler.history.newestTask(ctx, n)
	if inFlight || err != nil {
		return err
	}
	i, err := s.reader.issue(ctx, n)
	switch {
	case errors.Is(err, triage.ErrGone):
		s.log.InfoContext(ctx, "postponed issue dropped: it no longer exists", "issue", n)
		delete(c.Postponed, n)
		return nil
	case err != nil:
		return s.handler.retryLater(ctx, c, n, c.Postponed[n], err)
	}
	if !s.reader.settled(i) {
		return nil
	}
	if _, err := s.handler.handle(ctx, c, i, c.Postponed[n]); err != nil {
		return err
	}
	c.markSeen(n, i.UpdatedAt.Unix())
	return nil
}
