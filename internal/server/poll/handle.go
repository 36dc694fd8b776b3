package poll

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

// A handler turns changed issues of one repository into events, and hands them to the
// intake.
type handler struct {
	reader  *reader
	dedup   string // prefix of the dedup keys
	filter  filter
	history history
	take    func(ctx context.Context, e triage.Delivery, dedup string) (made bool, err error)
	log     *slog.Logger
}

// handle hands on the change of an issue, if there is one. Afterwards the cursor contains the issue
// in Postponed only if it must be handled again. handle reports whether there is or will be a task
// for the issue.
func (h *handler) handle(ctx context.Context, c *cursor, i triage.Snapshot, p postponed) (task bool, err error) {
	if why := h.filter.skip(i.Issue); why != "" {
		h.log.DebugContext(ctx, "issue skipped", "issue", i.Number, "reason", why)
		delete(c.Postponed, i.Number)
		return false, nil
	}
	if old, ok := c.Postponed[i.Number]; ok {
		p = postponed{From: min(old.From, p.From), Opened: old.Opened || p.Opened}
	}
	last, inFlight, err := h.history.newestTask(ctx, i.Number)
	switch {
	case err != nil:
		return false, err
	case inFlight && c.postpone(i.Number, p):
		h.log.DebugContext(ctx, "issue postponed: its task has not ended", "issue", i.Number)
		return true, nil
	case last.covers(i.Issue):
		delete(c.Postponed, i.Number)
		return true, nil
	}
	d, err := h.detect(ctx, i.Issue, last, p)
	if err == nil {
		task, err = h.handOn(ctx, i, d)
	}
	if err != nil {
		return true, h.retryLater(ctx, c, i.Number, p, err)
	}
	delete(c.Postponed, i.Number)
	return task, nil
}

// detect returns the change of an issue. It reads the timeline only if that can make a
// difference.
func (h *handler) detect(ctx context.Context, i triage.Issue, last taskSnapshot, p postponed) (change, error) {
	wrote, decided := h.history.wrote(ctx, i.Number, last)
	if !wrote && i.StateReason != "reopened" {
		return newChange(i, p.Opened, activity{}), nil
	}
	since := max(last.at, p.From)
	if since == 0 && !decided.IsZero() {
		since = decided.Add(-clockSkew).Unix()
	}
	t, err := h.reader.timeline(ctx, i.Number)
	switch {
	case errors.Is(err, triage.ErrGone):
		return change{}, nil
	case errors.Is(err, triage.ErrTruncated):
		t = triage.Timeline{} // an incomplete timeline is as useful as none
	case err != nil:
		return change{}, err
	}
	a := summarize(t, since, h.filter)
	// Timelines do not contain the opening.
	a.others = a.others || i.CreatedAt.Unix() > since
	if wrote && a.onlyOurs(i) && !last.edited(i) {
		h.log.DebugContext(ctx, "issue skipped: all changes are our own, or answers to proposals", "issue", i.Number)
		return change{answers: a.answers, since: since}, nil
	}
	c := newChange(i, p.Opened, a)
	c.answers, c.since = a.answers, since
	return c, nil
}

// handOn creates the tasks for a change: one for each answer to proposals, and one for the other changes.
// Only the last task has the time of the issue, and the others have an earlier one. So after a kill in
// between, the next poll finds what was not handed on.
func (h *handler) handOn(ctx context.Context, i triage.Snapshot, c change) (made bool, err error) {
	for n, e := range c.answers {
		at := i
		if n < len(c.answers)-1 || c.action != "" {
			at.UpdatedAt, at.Raw = time.Unix(c.since, 0).UTC(), nil
		}
		took, err := h.take(ctx, answerEvent(h.reader.repo, at, e), fmt.Sprintf("%s#%d/comment/%d", h.dedup, i.Number, e.ID))
		if err != nil {
			return false, fmt.Errorf("take a comment on issue %d: %w", i.Number, err)
		}
		made = made || took
	}
	if c.action == "" {
		return made, nil
	}
	took, err := h.handOnChange(ctx, i, c)
	return made || took, err
}

// handOnChange creates the task for the changes that are no answers.
func (h *handler) handOnChange(ctx context.Context, i triage.Snapshot, c change) (made bool, err error) {
	e, err := triage.NewIssueEvent(c.action, h.reader.repo, i, c.sender)
	if err != nil {
		return false, err
	}
	// A change has no number: the issue and the second identify it.
	dedup := fmt.Sprintf("%s#%d@%s", h.dedup, i.Number, i.UpdatedAt.UTC().Format(time.RFC3339))
	made, err = h.take(ctx, e, dedup)
	if err != nil {
		return false, fmt.Errorf("take %s of %s: %w", c.action, e.Ref(), err)
	}
	return made, nil
}

// retryLater postpones an issue after an error, so that the poll can continue with other issues. It
// returns an error if the poll must stop, or if too many issues are postponed.
func (h *handler) retryLater(ctx context.Context, c *cursor, issue int, p postponed, err error) error {
	if !concernsOneIssue(ctx, err) {
		return err
	}
	if !c.postpone(issue, p) {
		return fmt.Errorf("%w: %w", errTooManyPostponed, err)
	}
	h.log.WarnContext(ctx, "handling an issue failed; it is retried at the next poll", "issue", issue, "error", err)
	return nil
}

// errTooManyPostponed reports that an issue cannot be postponed.
var errTooManyPostponed = fmt.Errorf("%d issues are postponed, which is the limit", maxPostponed)

// concernsOneIssue reports whether an error concerns only one issue, so that a poll can continue
// with other issues.
func concernsOneIssue(ctx context.Context, err error) bool {
	if status := rest.StatusOf(err); status == http.StatusUnauthorized || status == http.StatusForbidden {
		return false
	}
	return ctx.Err() == nil && !errors.Is(err, triage.ErrLimited) && !errors.Is(err, queue.ErrUnavailable)
}
