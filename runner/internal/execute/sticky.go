package execute

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// sticky returns the id of our comment with a key; 0: there is none. A comment that this run wrote
// is not searched, because GitHub's lists may not show it yet. ErrTruncated: the issue has
// too many comments to read, and the comment is neither among the newest ones nor in the memory.
func (x *execution) sticky(ctx context.Context, s *plan.Step, key string) (int64, error) {
	if id := x.keyed[key]; id != 0 {
		return id, nil
	}
	known, err := x.remembered(ctx, s, key, false)
	if known != 0 || err != nil {
		return known, err
	}
	ours := func(c triage.Comment) bool { _, _, ok := x.Identity.Latest([]triage.Comment{c}, key); return ok }
	list, err := x.Host.Comments(ctx, x.Identity.Ref, time.Time{}, ours)
	if !errors.Is(err, triage.ErrTruncated) {
		newest, others, found := x.Identity.Latest(list, key)
		if len(others) > 0 {
			x.doubled(x.Identity.Doubled(newest.Author, "key", key, 1+len(others)))
		}
		if !found && err == nil && slices.ContainsFunc(list, func(c triage.Comment) bool { return keyed(c, key) }) {
			return x.remembered(ctx, s, key, true) // bot-login may be wrong
		}
		return newest.ID, err
	}
	known, merr := x.remembered(ctx, s, key, true)
	if known != 0 || merr != nil {
		return known, merr
	}
	return 0, err
}

// remembered returns the id of our comment with a key, if the memory has the id and the comment
// still exists; otherwise 0. The author does not matter: a run posted the comment, and the login of
// its token may differ from bot-login.
func (x *execution) remembered(ctx context.Context, s *plan.Step, key string, load bool) (int64, error) {
	if x.Sticky == nil {
		return 0, nil
	}
	id := x.Sticky(ctx, s.Source.ID(), load)
	if id == 0 {
		return 0, nil
	}
	c, err := x.Host.Comment(ctx, x.Identity.Ref, id)
	if err != nil && !errors.Is(err, triage.ErrNotFound) {
		return 0, err
	}
	if !keyed(c, key) {
		return 0, nil
	}
	return c.ID, nil
}

// keyed reports whether a comment has a marker with a key, whoever posted it.
func keyed(c triage.Comment, key string) bool {
	m, ok := history.ParseMarker(c.Body)
	return ok && m.Key == key
}

// tooMany reports whether a step is skipped because a list is too long to be read, such as the
// comments among which its own may be. Then it warns.
func (x *execution) tooMany(s *plan.Step, err error) bool {
	if !errors.Is(err, triage.ErrTruncated) || errors.Is(err, triage.ErrUncertain) {
		return false
	}
	x.Warn("%d. %s was skipped: %v", s.Index+1, s.Action.Type, err)
	return true
}
