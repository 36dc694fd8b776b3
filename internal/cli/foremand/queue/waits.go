package queue

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/server/health"
	"github.com/org/foreman-action/queue"
)

// waits returns what a task waits for: the end of one of the pauses, or its agent. Empty: it has ended, is
// being worked on, or its reason has it. It may contain untrusted text.
func waits(ctx context.Context, c health.Cursors, pauses []queue.Pause, t queue.Info) (string, error) {
	if p, held := queue.HeldBy(pauses, t.Agent, t.Repo); held && (t.State == queue.Pending || t.State == queue.Completed && !t.Draining) {
		return paused(p), nil
	}
	if t.State != queue.Pending || t.Held && (t.Reason != "" || t.Ready.IsZero()) {
		return "", nil
	}
	why, err := outage(ctx, c, t.Agent)
	if t.Held {
		return "until " + t.Ready.UTC().Format(time.DateTime) + ", then for its agent" + why, err
	}
	return "for its agent" + why, err
}

// paused returns a pause, and how to end it. It contains untrusted text.
func paused(p queue.Pause) string {
	return fmt.Sprintf("paused (%s, by %s since %s): foremand resume", p.Scope, cmp.Or(p.By, "somebody"), p.At.UTC().Format(time.DateTime))
}

// outage returns the failure of an agent, as the end of a sentence; empty: it works. It contains
// untrusted text.
func outage(ctx context.Context, c health.Cursors, agent string) (string, error) {
	since, why, err := health.Stored(ctx, c, agent)
	if err != nil || since.IsZero() {
		return "", err
	}
	return fmt.Sprintf(", which has failed since %s: %s", since.UTC().Format(time.DateTime), cmp.Or(why, "the server's log has the reason")), nil
}

// unfinished returns the number of unfinished tasks, and what they wait for. The text contains
// untrusted text.
func unfinished(ctx context.Context, c health.Cursors, pauses []queue.Pause, s queue.Stats) (left int, text string, err error) {
	var parts []string
	for _, p := range pauses {
		if p.Held > 0 {
			parts = append(parts, paused(p))
		}
	}
	for _, a := range s.Agents {
		if n := a.Pending - a.Held + a.Claimed; n > 0 {
			why, err := outage(ctx, c, a.Agent)
			if err != nil {
				return 0, "", err
			}
			parts = append(parts, fmt.Sprintf("%s for %s%s", format.Count(n, "task"), a.Agent, why))
		}
	}
	if s.Held > 0 {
		parts = append(parts, fmt.Sprintf("%d delayed", s.Held))
	}
	if n := s.States[queue.Completed]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d decided, to be applied", n))
	}
	return s.States[queue.Pending] + s.States[queue.Claimed] + s.States[queue.Completed], strings.Join(parts, "; "), nil
}
