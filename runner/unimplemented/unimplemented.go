// Package unimplemented is for hosts that lack some methods of [runner.Repository] or [runner.Search]:
// they embed its types, and implement the methods that their rules need.
package unimplemented

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

var (
	_ runner.Repository = Repository{}
	_ runner.Search     = Search{}
)

// lacks returns the error of a method that a host lacks, and that a feature needs.
func lacks(method, feature string) error {
	return fmt.Errorf("the host has no method %s, which is needed by %s: %w", method, feature, errors.ErrUnsupported)
}

// Repository is a [runner.Repository] whose methods fail. The errors match [errors.ErrUnsupported], and contain the feature that
// needs the method. It is safe for concurrent use.
type Repository struct{}

// Label fails.
func (Repository) Label(context.Context, triage.Ref, string) (string, error) {
	return "", lacks("Repository.Label", "actions that add labels")
}

// LabelPage fails.
func (Repository) LabelPage(context.Context, triage.Ref, int) (names []string, last int, err error) {
	return nil, 0, lacks("Repository.LabelPage", "lists of labels")
}

// Permission fails.
func (Repository) Permission(context.Context, triage.Ref, string) (string, error) {
	return "", lacks("Repository.Permission", "conditions on actor.permission, and commands in comments")
}

// Opened fails.
func (Repository) Opened(context.Context, triage.Ref, string) ([]triage.Issue, error) {
	return nil, lacks("Repository.Opened", "conditions on earlier issues and pull requests of the author")
}

// Account fails.
func (Repository) Account(context.Context, triage.Ref, string) (triage.Account, error) {
	return triage.Account{}, lacks("Repository.Account", "conditions on author.created_at")
}

// Pull fails.
func (Repository) Pull(context.Context, triage.Ref) (triage.PullRequest, error) {
	return triage.PullRequest{}, lacks("Repository.Pull", "conditions on pr, requests of reviews, and late runs on pull requests")
}

// Files fails.
func (Repository) Files(context.Context, triage.Ref) ([]triage.ChangedFile, error) {
	return nil, lacks("Repository.Files", "conditions on pr.files")
}

// Messages fails.
func (Repository) Messages(context.Context, triage.Ref) ([]string, error) {
	return nil, lacks("Repository.Messages", "conditions on pr.commit_messages")
}

// Reviews fails.
func (Repository) Reviews(context.Context, triage.Ref) ([]triage.Review, error) {
	return nil, lacks("Repository.Reviews", "conditions on pr.approved_by and pr.changes_requested_by")
}

// Search is a [runner.Search] whose methods fail, except Budget, which reports that the number
// of calls is unknown. It is safe for concurrent use.
type Search struct{}

// Find fails.
func (Search) Find(context.Context, triage.Ref, string, int) (runner.Found, error) {
	return runner.Found{}, lacks("Search.Find", "rules with scan, and conditions on contrib and on merged and closed pull requests of the author")
}

// Open fails.
func (Search) Open(context.Context, triage.Ref, int) ([]triage.Issue, error) {
	return nil, lacks("Search.Open", "several rules with scan")
}

// Reactions fails.
func (Search) Reactions(context.Context, triage.Ref, int64, string) ([]triage.Reaction, error) {
	return nil, lacks("Search.Reactions", "scheduled closes with a veto by reactions")
}

// Budget reports that the number of remaining calls is unknown.
func (Search) Budget() (left int, ok bool) { return 0, false }
