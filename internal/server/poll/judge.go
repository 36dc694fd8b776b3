package poll

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

// judge finds out what an issue that changed is, and hands it on if it is to be. After
// that it is done with, or waits. It reports whether there is, or will be, a task for it.
func (f *follower) judge(ctx context.Context, c *cursor, i triage.Snapshot, w waiting) (made bool, err error) {
	if why := f.passOver(i); why != "" {
		f.log.DebugContext(ctx, "issue passed over", "issue", i.Number, "reason", why)
		delete(c.Waiting, i.Number)
		return false, nil
	}
	if old, ok := c.Waiting[i.Number]; ok {
		w = waiting{From: min(old.From, w.From), Opened: old.Opened || w.Opened}
	}
	last, busy, err := f.tasks(ctx, i.Number)
	if err != nil {
		return false, err
	}
	if busy && c.await(i.Number, w) {
		f.log.DebugContext(ctx, "issue waits for its task", "issue", i.Number)
		return true, nil
	}
	d, err := f.deed(ctx, i.Issue, last, w)
	if errors.Is(err, triage.ErrGone) {
		d, err = deed{}, nil
	}
	if err != nil {
		return true, f.hold(ctx, c, i.Number, w, err)
	}
	if d.action == "" {
		delete(c.Waiting, i.Number)
		return d.told, nil
	}
	made, err = f.take(ctx, i, d)
	if err != nil {
		return true, f.hold(ctx, c, i.Number, w, err)
	}
	delete(c.Waiting, i.Number)
	return made, nil
}

// errNoRoom says that an issue cannot wait, for too many do.
var errNoRoom = fmt.Errorf("%d issues wait already", maxWaiting)

// hold lets an issue wait after an error, so that it does not hold up the others. It
// returns the error when that would not help, or when there is no room.
func (f *follower) hold(ctx context.Context, c *cursor, n int, w waiting, err error) error {
	if status := rest.StatusOf(err); status == http.StatusUnauthorized || status == http.StatusForbidden {
		return err
	}
	if ctx.Err() != nil || limited(err) || errors.Is(err, queue.ErrUnavailable) {
		return err
	}
	if !c.await(n, w) {
		return fmt.Errorf("%w: %w", errNoRoom, err)
	}
	f.log.WarnContext(ctx, "the issue is tried again at the next poll", "issue", n, "error", err)
	return nil
}

// passOver says why an issue is nothing to us, or is empty.
func (f *follower) passOver(i triage.Snapshot) string {
	switch {
	case i.PullRequest:
		return "it is a pull request"
	case i.State == "closed":
		return "it is closed"
	case f.own(i.Author):
		return "its author does not count"
	case f.o.Maintainers:
		return ""
	}
	switch i.Association {
	case "OWNER", "MEMBER", "COLLABORATOR":
		return "its author is a maintainer"
	}
	return ""
}

// own reports whether what an account does is no event.
func (f *follower) own(login string) bool {
	same := func(s string) bool { return s != "" && strings.EqualFold(s, login) }
	return same(f.o.Bot) || slices.ContainsFunc(f.o.Ignore, same)
}

// take hands an issue on.
func (f *follower) take(ctx context.Context, i triage.Snapshot, d deed) (bool, error) {
	e, err := triage.NewIssueEvent(d.action, triage.Repo{Owner: f.ref.Owner, Name: f.ref.Repo}, i, d.by)
	if err != nil {
		return false, err
	}
	// A change has no number. The issue and the second say which it is.
	dedup := fmt.Sprintf("%s#%d@%s", f.key, i.Number, i.UpdatedAt.UTC().Format(time.RFC3339))
	made, err := f.o.Take(ctx, e, dedup)
	if err != nil {
		return false, fmt.Errorf("take %s of %s: %w", d.action, e.Ref(), err)
	}
	return made, nil
}
