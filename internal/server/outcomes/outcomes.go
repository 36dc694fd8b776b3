// Package outcomes logs and observes what became of actions.
package outcomes

import (
	"context"
	"log/slog"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/memory"
)

// A Summary is what became known at once about actions in a repository.
type Summary struct {
	Repo    string // "owner/name"
	Judged  int    // actions whose outcome became known
	Undone  int    // part of Judged
	Changes []memory.PermissionChange
}

// Report observes a summary, and logs its changes of permissions. args are added to each line of the log, after the repository.
func (s Summary) Report(ctx context.Context, log *slog.Logger, seen observe.Func, args ...any) {
	if s.Judged > 0 {
		seen.Report(observe.Observation{Event: observe.ActionsJudged, Status: "undone", Repo: s.Repo, N: s.Undone})
		seen.Report(observe.Observation{Event: observe.ActionsJudged, Status: "other", Repo: s.Repo, N: s.Judged - s.Undone})
	}
	log = log.With("repo", s.Repo).With(args...)
	for _, c := range s.Changes {
		write, status, text := log.WarnContext, "lost", "permission lost: the action is proposed to people again"
		if c.Granted {
			write, status, text = log.InfoContext, "granted", "permission earned: the action is carried out from now on"
		}
		write(ctx, text, "source", c.Source, "rule", c.Name, "action", c.Action, "value", c.Value, "since", c.At, "why", c.Why)
		seen.Report(observe.Observation{Event: observe.PermissionChanged, Status: status, Repo: s.Repo, N: 1})
	}
}
