package poll

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

const (
	cursorVersion = 1
	overlap       = 30           // seconds before At; the cursor names the issues that changed then
	maxTime       = 253402300799 // the end of the year 9999
	maxSeen       = 50_000
	maxPostponed  = 500
	maxCursor     = 8 << 20 // bytes
)

// A cursor records which changes of a repository were handed on. Times are seconds since
// 1970, of GitHub's clock.
type cursor struct {
	Version int `json:"version"`
	// Backfill is the state of the first poll; nil: it is over.
	Backfill   *backfillState `json:"first,omitempty"`
	At         int64          `json:"at"`             // every listed change up to here was handed on
	Checkpoint int64          `json:"base"`           // At of the last poll without a recent change
	Start      int64          `json:"from,omitempty"` // earlier changes are ignored
	// Seen contains the issues that changed within the overlap before At, with the time of the last
	// change of each.
	Seen map[int]int64 `json:"seen,omitempty"`
	// Postponed are issues that changed while a task of theirs was in flight, or whose task
	// could not be made.
	Postponed map[int]postponed `json:"waiting,omitempty"`
}

// A backfillState is the progress of the first poll.
type backfillState struct {
	Begun bool  `json:"begun,omitempty"` // At and Seen are known
	Taken []int `json:"taken,omitempty"` // issues that were handed on, in order
}

// postponed is an issue to be handled again.
type postponed struct {
	From   int64 `json:"from"` // earlier changes were handed on
	Opened bool  `json:"opened,omitempty"`
}

// newCursor returns the cursor of a repository that was never polled.
func newCursor() *cursor { return &cursor{Version: cursorVersion, Backfill: &backfillState{}} }

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
	case len(c.Seen) > maxSeen, len(c.Postponed) > maxPostponed:
		return cursor{}, fmt.Errorf("%w: it has too many issues", errBroken)
	case !c.valid():
		return cursor{}, fmt.Errorf("%w: a number or a time is out of range", errBroken)
	}
	return c, nil
}

func (c *cursor) valid() bool {
	times := []int64{c.At, c.Checkpoint, c.Start}
	var numbers []int
	for n, at := range c.Seen {
		numbers, times = append(numbers, n), append(times, at)
	}
	for n, w := range c.Postponed {
		numbers, times = append(numbers, n), append(times, w.From)
	}
	if c.Backfill != nil {
		numbers = append(numbers, c.Backfill.Taken...)
	}
	return !slices.ContainsFunc(times, func(t int64) bool { return t < 0 || t > maxTime }) &&
		!slices.ContainsFunc(numbers, func(n int) bool { return n < 1 })
}

// since returns the time from which changes are listed.
func (c *cursor) since() int64 { return max(c.At-overlap, c.Start, 0) }

// handledUntil returns a time up to which every change of an issue was handed on.
func (c *cursor) handledUntil(issue int) int64 {
	if at, ok := c.Seen[issue]; ok {
		return at
	}
	return max(c.Checkpoint-overlap, 0)
}

// isNew reports whether an issue was opened since the last poll. An issue in Seen was already
// listed, and is not new.
func (c *cursor) isNew(i triage.Issue) bool {
	_, seen := c.Seen[i.Number]
	return !seen && i.CreatedAt.Unix() > c.Checkpoint-overlap
}

// advance records that an issue was handled as of a time, and all earlier changes as well.
func (c *cursor) advance(issue int, at int64) {
	c.markSeen(issue, at)
	c.At = max(c.At, at)
}

// markSeen records that an issue was handled as of a time.
func (c *cursor) markSeen(issue int, at int64) {
	if c.Seen == nil {
		c.Seen = map[int]int64{}
	}
	c.Seen[issue] = at
}

// prune removes issues that changed before the overlap of the last checkpoint, and if too many
// remain, also the oldest ones.
func (c *cursor) prune() {
	from := max(min(c.At, c.Checkpoint)-overlap, c.Start)
	maps.DeleteFunc(c.Seen, func(_ int, at int64) bool { return at < from })
	if len(c.Seen) <= maxSeen {
		return
	}
	times := slices.Sorted(maps.Values(c.Seen))
	oldest := times[len(times)-maxSeen]
	maps.DeleteFunc(c.Seen, func(_ int, at int64) bool { return at <= oldest })
}

// postpone adds or replaces an issue. It returns false if too many issues are postponed.
func (c *cursor) postpone(issue int, p postponed) bool {
	if _, ok := c.Postponed[issue]; !ok && len(c.Postponed) >= maxPostponed {
		return false
	}
	if c.Postponed == nil {
		c.Postponed = map[int]postponed{}
	}
	c.Postponed[issue] = p
	return true
}

// moment converts a time of a cursor; 0 becomes the zero time.
func moment(seconds int64) time.Time {
	if seconds <= 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
