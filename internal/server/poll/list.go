package poll

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/triage"
)

const (
	settle    = 2 * time.Second // after a change until nothing more can happen in its second
	maxRounds = 5               // that pages are read again until they stand still
	maxParts  = 10              // of a list that bring something new in one turn: then it is somebody else's
)

// A question is one that GitHub is asked again and again.
type question struct {
	since int64 // of the changes; negative: by creation
	page  int
}

// An answer is what is known of GitHub's last answer to a question, all of which was
// handed on.
type answer struct {
	etag string
	more bool
	last int64 // the time of the last change in it
}

// poll asks once what changed.
func (f *follower) poll(ctx context.Context) (result, error) {
	c, err := f.load(ctx)
	if err != nil {
		return result{}, err
	}
	f.using, f.recent = map[question]answer{}, false
	var res result
	if c.First != nil {
		err = f.first(ctx, c)
	} else {
		res, err = f.changes(ctx, c)
	}
	f.asked = f.using
	res.waiting, res.unsettled = len(c.Waiting), f.recent
	return res, err
}

// changes hands on what changed since the cursor's place.
func (f *follower) changes(ctx context.Context, c *cursor) (result, error) {
	since, waited := c.since(), slices.Sorted(maps.Keys(c.Waiting))
	var p part
	for n := 0; !p.end; {
		if n == maxParts {
			return result{more: true}, nil
		}
		var err error
		if p, err = f.part(ctx, c, since); errors.Is(err, errNoRoom) {
			// There may be room for the next poll.
			err = errors.Join(err, f.revisit(ctx, c, waited), f.save(ctx, c))
		}
		if err != nil {
			return result{}, err
		}
		// What is known already moves the cursor nowhere. If it counted, a turn that finds
		// so much of it in the overlap would end where it began, and so would all others.
		if since = p.next; p.fresh {
			n++
		}
	}
	if !f.recent {
		// Else what changed just now may hide what happened to it before.
		c.Base = c.At
	}
	if err := f.revisit(ctx, c, waited); err != nil {
		return result{}, errors.Join(err, f.save(ctx, c))
	}
	return result{}, f.save(ctx, c)
}

// A part of a list is what was read without moving on in time.
type part struct {
	next  int64 // from when on the next part is to be read
	end   bool  // there is none
	fresh bool  // there was something that was not seen yet
}

// part reads the changes since a time: a page, and more only if all of them are of one
// second. These have to be read by their numbers, and an issue that changes meanwhile
// leaves its page and lets another one slip to the page before. So they are read until a
// round brings nothing new; what stood still costs nothing then.
func (f *follower) part(ctx context.Context, c *cursor, since int64) (part, error) {
	news := false
	for range maxRounds {
		fresh := false
		for n := 1; ; n++ {
			g, err := f.page(ctx, c, question{since, n})
			if err != nil {
				return part{}, err
			}
			fresh, news = fresh || g.fresh, news || g.fresh
			// One second is read twice: whether GitHub counts that of "since" is not told.
			p := part{next: g.last - 1, end: !g.more || g.unsettled, fresh: news}
			if !p.end && p.next <= since {
				continue
			}
			if n == 1 || !fresh {
				return p, nil
			}
			break
		}
	}
	return part{}, fmt.Errorf("list the issues of %s: the list does not stand still", f.name)
}

// A page is what was found on one.
type page struct {
	answer
	fresh     bool // there was something that was not seen yet
	unsettled bool // and something that changed just now: it and what follows was left
}

// page reads one page of the changes, and hands on what is new.
func (f *follower) page(ctx context.Context, c *cursor, q question) (page, error) {
	list, same, err := f.ask(ctx, q, github.ListQuery{Updated: true, Oldest: true, Since: moment(q.since)})
	if err != nil || same {
		return page{answer: f.asked[q]}, err
	}
	g := page{answer: answer{etag: list.ETag, more: list.More, last: q.since}}
	for _, i := range list.Issues {
		if g.unsettled = !f.settled(i); g.unsettled {
			break
		}
		at := i.UpdatedAt.Unix()
		g.last = max(g.last, at)
		if c.Seen[i.Number] == at {
			continue
		}
		g.fresh = true
		from := c.from(i.Number)
		if _, err := f.judge(ctx, c, i, waiting{From: from, Opened: f.opened(c, i)}); err != nil {
			return g, errors.Join(err, f.save(ctx, c)) // what was handed on need not be again
		}
		c.see(i.Number, at)
	}
	if err := f.save(ctx, c); err != nil {
		return g, err
	}
	if !g.unsettled {
		f.keep(q, g.answer)
	}
	return g, nil
}

// opened reports whether an issue was opened since the last poll. One of the overlap was
// not listed then, or it would have been seen.
func (f *follower) opened(c *cursor, i triage.Snapshot) bool {
	_, seen := c.Seen[i.Number]
	return !seen && i.CreatedAt.Unix() > c.Base-overlap
}

// ask asks GitHub, and tells whether the answer is the same as at the last poll.
func (f *follower) ask(ctx context.Context, q question, l github.ListQuery) (github.ListPage, bool, error) {
	known := f.asked[q]
	l.Page, l.ETag = q.page, known.etag
	list, err := f.source.ListIssues(ctx, f.ref.Owner, f.ref.Repo, l)
	f.date = list.Date
	if err == nil && list.Same {
		f.keep(q, known)
		return list, true, nil
	}
	return list, false, err
}

// keep remembers an answer, all of which was handed on.
func (f *follower) keep(q question, a answer) { f.asked[q], f.using[q] = a, a }

// settled reports whether the second in which an issue changed is over, by GitHub's clock.
// When GitHub does not tell its time, it is.
func (f *follower) settled(i triage.Snapshot) bool {
	over := f.date.IsZero() || i.UpdatedAt.Before(f.date.Add(-settle))
	f.recent = f.recent || !over
	return over
}

// revisit looks at issues that waited before this poll: those without a task in flight are
// read anew.
func (f *follower) revisit(ctx context.Context, c *cursor, list []int) error {
	for _, n := range list {
		if _, waits := c.Waiting[n]; !waits {
			continue
		}
		if err := f.look(ctx, c, n); err != nil {
			return err
		}
	}
	return nil
}

func (f *follower) look(ctx context.Context, c *cursor, n int) error {
	_, busy, err := f.tasks(ctx, n)
	if busy || err != nil {
		return err
	}
	ref := f.ref
	ref.Number = n
	i, err := f.source.Issue(ctx, ref)
	switch {
	case errors.Is(err, triage.ErrGone):
		f.log.InfoContext(ctx, "an issue that waited is gone", "issue", n)
		delete(c.Waiting, n)
		return nil
	case err != nil:
		return f.hold(ctx, c, n, c.Waiting[n], err)
	}
	if !f.settled(i) {
		return nil
	}
	if _, err := f.judge(ctx, c, i, c.Waiting[n]); err != nil {
		return err
	}
	c.know(n, i.UpdatedAt.Unix())
	return nil
}
