package schedule

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/triage"
)

// Scans continues the scans that find more issues than one run examines.
type Scans struct {
	Most    int  // number of issues that the run examines
	Stopped bool // the run stopped before it had examined that many
	Repo    triage.Ref
	Store   memory.Store
	Writes  bool // Store can be written
	Dry     bool // nothing is stored

	// Find returns at most that many issues, oldest first.
	Find func(ctx context.Context, query string, most int) ([]triage.Issue, error)
	// Save changes the record of the repository.
	Save func(ctx context.Context, repo triage.Ref, change func(*memory.Record) error) error
	Warn func(format string, args ...any)
	Fail func(query string, err error) // reports a search that failed
}

// Resume moves the windows to the issues after those that earlier runs examined. It reads the
// cursors, and searches again where the first search did not return all issues.
func (s Scans) Resume(ctx context.Context, windows []Window) {
	if !s.Writes {
		return
	}
	r, err := s.load(ctx)
	if err != nil {
		if !errors.Is(err, memory.ErrNotFound) {
			s.Warn("memory: %v; the scans begin with the oldest issues", err)
		}
		return
	}
	for i := range windows {
		w := &windows[i]
		c, ok := r.Cursor(w.Query)
		if !ok || w.Sorted() {
			continue
		}
		later, end := w.Issues, true
		if w.Total > len(w.Issues) {
			if later, end, err = s.findAfter(ctx, w.Search, c); err != nil {
				s.Fail(w.Query, err)
				continue
			}
		}
		w.Continue(c, later, end)
	}
}

// memoryTime bounds one read or change of the record.
const memoryTime = time.Minute

func (s Scans) load(ctx context.Context) (memory.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, memoryTime)
	defer cancel()
	return s.Store.Load(ctx, s.Repo.Owner+"/"+s.Repo.Repo, memory.Repository)
}

// maxFound is the largest number of results that GitHub's search returns.
const maxFound = 1000

// findAfter searches for the issues after a cursor. Many issues may be of the cursor's day, so
// findAfter asks for more issues until at least half of s.Most are later than the cursor. end is true
// if the list has all later issues.
func (s Scans) findAfter(ctx context.Context, one Search, c memory.Cursor) (list []triage.Issue, end bool, err error) {
	for n := s.Most; ; n = min(2*n, maxFound) {
		list, err := s.Find(ctx, one.After(c), n)
		if err != nil {
			return nil, false, err
		}
		later := len(Later(list, c))
		if end := len(list) < n; end || 2*later >= s.Most || n == maxFound {
			return list, end || later == 0, nil
		}
	}
}

// Advance reports how far each scan came that did not examine all of its issues, and stores that
// for the next run. waiting contains the issues that the run did not examine.
func (s Scans) Advance(ctx context.Context, windows []Window, waiting map[int]bool) {
	var moved []memory.Cursor
	for _, w := range windows {
		c, n := w.Examined(waiting)
		if n == 0 || n >= w.Total {
			continue
		}
		next := "the next run continues there"
		switch {
		case w.Sorted():
			next = "it has its own sort, so every run begins with the same issues: narrow the search"
		case !s.Writes:
			next = "no memory stores that, so every run begins with the oldest issues: narrow the search, or configure a memory"
		case s.Dry:
			next = "a dry run does not store that"
		default:
			moved = append(moved, c)
		}
		why := "policy.max_scanned_issues"
		if s.Stopped {
			why = "then it stopped"
		}
		s.Warn("scan %q finds %d issues, and this run examined %d of them (%s), up to #%d of %s; %s",
			text.Quote(w.Query), w.Total, w.count(waiting), why, c.Issue, c.Created.UTC().Format(time.DateOnly), next)
	}
	if len(moved) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), memoryTime)
	defer cancel()
	err := s.Save(ctx, s.Repo, func(r *memory.Record) error {
		for _, c := range moved {
			r.Move(c)
		}
		return nil
	})
	if err != nil {
		s.Warn("memory: %v; the next run examines the same issues again", err)
	}
}

// Counts are the counts of a scheduled run.
type Counts struct{ Found, Executed, Suggested, Closed, Dropped, Waiting, Left, Failed int }

// String returns a text such as "3 issues found, 2 actions carried out, 1 scheduled close not due
// yet".
func (c Counts) String() string {
	count := func(n int, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return strconv.Itoa(n) + " " + many
	}
	parts := []string{count(c.Found, "issue", "issues") + " found", count(c.Executed, "action", "actions") + " carried out"}
	for _, part := range []struct {
		n    int
		text string
	}{
		{c.Suggested, count(c.Suggested, "action", "actions") + " proposed"},
		{c.Closed, count(c.Closed, "scheduled close", "scheduled closes") + " carried out"},
		{c.Dropped, count(c.Dropped, "scheduled close", "scheduled closes") + " dropped"},
		{c.Waiting, count(c.Waiting, "scheduled close or proposal", "scheduled closes or proposals") + " not due yet"},
		{c.Left, strconv.Itoa(c.Left) + " left"},
		{c.Failed, strconv.Itoa(c.Failed) + " failed"},
	} {
		if part.n > 0 {
			parts = append(parts, part.text)
		}
	}
	return strings.Join(parts, ", ")
}
