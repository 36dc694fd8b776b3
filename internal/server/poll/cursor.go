package poll

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/org/foreman-action/queue"
)

const (
	cursorVersion = 1
	overlap       = 30           // seconds before its place that a cursor knows one by one
	latest        = 253402300799 // the end of the year 9999
	maxSeen       = 50_000
	maxWaiting    = 500
	maxCursor     = 8 << 20 // bytes
)

// A cursor says what of a repository was handed on. Times are seconds since 1970, of
// GitHub's clock.
type cursor struct {
	Version int `json:"version"`
	// First is the first poll, as long as it is not over.
	First *firstPoll `json:"first,omitempty"`
	At    int64      `json:"at"`             // every change up to here was handed on
	Base  int64      `json:"base"`           // At when every change that a list told of was handed on
	From  int64      `json:"from,omitempty"` // nothing before counts
	// Seen are the issues that last changed within the overlap before At, with that time.
	Seen map[int]int64 `json:"seen,omitempty"`
	// Waiting are issues that changed while a task of theirs was in flight, or whose task
	// could not be made.
	Waiting map[int]waiting `json:"waiting,omitempty"`
}

// A firstPoll is how far the first poll got.
type firstPoll struct {
	Begun bool  `json:"begun,omitempty"` // At and Seen are known
	Taken []int `json:"taken,omitempty"` // issues that were handed on, in order
}

// waiting is what is known of an issue that waits.
type waiting struct {
	From   int64 `json:"from"` // what happened up to then was handed on
	Opened bool  `json:"opened,omitempty"`
}

var errBroken = errors.New("the cursor is unusable")

// decodeCursor reads a cursor. The error matches errBroken, or queue.ErrNewer.
func decodeCursor(data []byte) (cursor, error) {
	var c cursor
	if len(data) > maxCursor {
		return cursor{}, fmt.Errorf("%w: it has %d bytes", errBroken, len(data))
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return cursor{}, fmt.Errorf("%w: %w", errBroken, err)
	}
	switch {
	case c.Version > cursorVersion:
		return cursor{}, queue.ErrNewer
	case c.Version < 1:
		return cursor{}, fmt.Errorf("%w: it has no version", errBroken)
	case len(c.Seen) > maxSeen, len(c.Waiting) > maxWaiting:
		return cursor{}, fmt.Errorf("%w: it knows too many issues", errBroken)
	case !c.valid():
		return cursor{}, fmt.Errorf("%w: a number or a time is out of range", errBroken)
	}
	return c, nil
}

func (c *cursor) valid() bool {
	times := []int64{c.At, c.Base, c.From}
	var numbers []int
	for n, at := range c.Seen {
		numbers, times = append(numbers, n), append(times, at)
	}
	for n, w := range c.Waiting {
		numbers, times = append(numbers, n), append(times, w.From)
	}
	if c.First != nil {
		numbers = append(numbers, c.First.Taken...)
	}
	return !slices.ContainsFunc(times, func(t int64) bool { return t < 0 || t > latest }) &&
		!slices.ContainsFunc(numbers, func(n int) bool { return n < 1 })
}

// since is from when on a list is read.
func (c *cursor) since() int64 { return max(c.At-overlap, c.From, 0) }

// from is up to when everything that happened on an issue was handed on.
func (c *cursor) from(issue int) int64 {
	if at, ok := c.Seen[issue]; ok {
		return at
	}
	return max(c.Base-overlap, 0)
}

// see says that an issue was handed on, or left out, as it was at a time, and everything
// that changed before as well.
func (c *cursor) see(issue int, at int64) {
	c.know(issue, at)
	c.At = max(c.At, at)
}

// know is see for one issue alone.
func (c *cursor) know(issue int, at int64) {
	if c.Seen == nil {
		c.Seen = map[int]int64{}
	}
	c.Seen[issue] = at
}

// prune forgets what is before the overlap, as it was when all was handed on.
func (c *cursor) prune() {
	from := max(min(c.At, c.Base)-overlap, c.From)
	maps.DeleteFunc(c.Seen, func(_ int, at int64) bool { return at < from })
	if len(c.Seen) <= maxSeen {
		return
	}
	times := slices.Sorted(maps.Values(c.Seen))
	oldest := times[len(times)-maxSeen]
	maps.DeleteFunc(c.Seen, func(_ int, at int64) bool { return at <= oldest })
}

// await remembers an issue, or replaces what is known of it; false: there is no room.
func (c *cursor) await(issue int, w waiting) bool {
	if _, ok := c.Waiting[issue]; !ok && len(c.Waiting) >= maxWaiting {
		return false
	}
	if c.Waiting == nil {
		c.Waiting = map[int]waiting{}
	}
	c.Waiting[issue] = w
	return true
}

// load returns the cursor as it is stored. One that cannot be used begins anew, for what
// a task was made of has its dedup key.
func (f *follower) load(ctx context.Context) (*cursor, error) {
	data, err := f.o.Cursors.Cursor(ctx, f.cursor)
	if err != nil {
		return nil, fmt.Errorf("read the cursor of %s: %w", f.name, err)
	}
	f.saved = data
	if data == nil {
		return &cursor{Version: cursorVersion, First: &firstPoll{}}, nil
	}
	c, err := decodeCursor(data)
	if errors.Is(err, errBroken) {
		f.log.ErrorContext(ctx, "the repository is polled as if for the first time", "error", err)
		return &cursor{Version: cursorVersion, First: &firstPoll{}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the cursor of %s: %w", f.name, err)
	}
	return &c, nil
}

// save stores the cursor if it changed.
func (f *follower) save(ctx context.Context, c *cursor) error {
	c.prune()
	data, err := json.Marshal(c)
	if err == nil && !bytes.Equal(data, f.saved) {
		err = f.o.Cursors.SaveCursor(ctx, f.cursor, data)
	}
	if err != nil {
		return fmt.Errorf("save the cursor of %s: %w", f.name, err)
	}
	f.saved = data
	return nil
}

func moment(seconds int64) time.Time {
	if seconds <= 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
