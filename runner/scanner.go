package runner

import (
	"context"

	"github.com/org/foreman-action/triage"
)

// A Scanner is a [Host] on which scheduled runs find what they work on.
type Scanner interface {
	Host
	// Search returns the issues of ref's repository that a query in the language of
	// GitHub's issue search finds, most of them at most: those first that were not changed
	// for the longest time. Pull requests are among them only if the query asks for them
	// alone. The search may be some minutes behind.
	Search(ctx context.Context, ref triage.Ref, query string, most int) (Found, error)
	// Reactions returns who reacted with a content, such as "-1", to the issue, or if
	// comment is not 0, to that comment of it. ErrTruncated when there are more than 400,
	// ErrNotFound when the comment is not there.
	Reactions(ctx context.Context, ref triage.Ref, comment int64, content string) ([]triage.Reaction, error)
	// Budget returns how many more calls the token may make in this hour, as far as GitHub
	// has told; ok is false when it has not.
	Budget() (left int, ok bool)
}

// Found is what a search found.
type Found struct {
	Issues []triage.Issue
	Total  int  // that match
	Whole  bool // the service looked at everything
}
