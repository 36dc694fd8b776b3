package event

import (
	"context"

	"github.com/org/foreman-action/internal/cli/starter"
	"github.com/org/foreman-action/internal/github"
)

const (
	maxStarterFiles = 20      // per folder; each file costs a call
	maxStarter      = 200_000 // bytes; a job summary can have 1 MiB
)

// propose returns a configuration file for an event's repository that has none, the actions of other
// tools that the repository runs, and warnings about skipped files. If the repository cannot be read, it
// returns the minimal configuration.
func propose(ctx context.Context, s Settings, client *github.Client) (text string, others, warnings []string) {
	p, err := starter.Minimal(ctx)
	if err != nil {
		return "", nil, []string{"no rules to start with: " + err.Error()}
	}
	minimal := string(p.Rules)
	limit := starter.Limit{Folder: maxStarterFiles, Names: true}
	var labels []string
	if client != nil {
		if names, err := client.Labels(ctx, s.Event.Repo.Owner, s.Event.Repo.Name); err == nil && len(names) > 0 {
			labels, limit.Labels = names, true
		}
	}
	repo, problems, err := starter.Read(ctx, places(s, client), limit)
	for _, one := range problems {
		warnings = append(warnings, "left out of the rules to start with: "+one.Error())
	}
	if err != nil {
		return minimal, nil, append(warnings, "the repository was not read for rules to start with: "+err.Error())
	}
	if labels != nil {
		repo.Labels = labels
	}
	p, err = starter.Propose(ctx, repo, starter.Options{})
	switch {
	case err != nil:
		return minimal, repo.Others, append(warnings, "no rules to start with were made of this repository: "+err.Error())
	case len(p.Rules) > maxStarter:
		return minimal, repo.Others, append(warnings, "the rules to start with are too long for a job summary; foreman init writes them")
	}
	return string(p.Rules), repo.Others, warnings
}
