// Package lookups reads the data of conditions that an event does not contain, and that the code host
// knows. A look-up is a row of [facts.LookupSpecs] and a case of [Reader.Read].
package lookups

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// A Host is the part of the code host that look-ups read. The methods are those of the same name in
// package runner.
type Host interface {
	Pull(ctx context.Context, ref triage.Ref) (triage.PullRequest, error)
	Files(ctx context.Context, ref triage.Ref) ([]triage.ChangedFile, error)
	Messages(ctx context.Context, ref triage.Ref) ([]string, error)
	Reviews(ctx context.Context, ref triage.Ref) ([]triage.Review, error)
	Opened(ctx context.Context, ref triage.Ref, login string) ([]triage.Issue, error)
	Account(ctx context.Context, ref triage.Ref, login string) (triage.Account, error)
}

// Found is the result of a search.
type Found struct {
	Issues []triage.Issue
	Total  int  // number of matches
	Whole  bool // the host searched everything
}

// A Reader reads each part of the data for one event once. Its zero value has no host, so that
// look-ups fail with [triage.ErrNeedsHost].
type Reader struct {
	Host Host // nil: none
	// Find searches the issues and pull requests of the repository. Nil: the host has no search.
	Find func(ctx context.Context, query string, most int) (Found, error)
	Now  func() time.Time

	parts  map[facts.Part]error // the parts that were read; an error is a [facts.UnknownError]
	data   facts.Known          // their data
	opened *[]triage.Issue      // the author's first issues and pull requests; nil: not listed
}

// Has reports whether the data of a part is known without a call.
func (r *Reader) Has(d triage.Delivery, p facts.Part) bool {
	_, read := r.parts[p]
	switch {
	case read, facts.SpecOf(p).Pulls && !d.Issue.PullRequest:
		return true
	case p == facts.PullPart:
		return d.Pull != nil
	case p == facts.ContributionPart:
		return d.Issue.PullRequest
	case p == facts.OpenedPart:
		return d.Issue.Author == ""
	}
	return false
}

// PullChanged returns when the pull request changed last; zero: it was not read.
func (r *Reader) PullChanged() time.Time { return r.data.PullRequest.Shared.UpdatedAt }

// Read reads a part, unless that was done before, and copies it to k.
func (r *Reader) Read(ctx context.Context, d triage.Delivery, p facts.Part, k *facts.Known) error {
	spec := facts.SpecOf(p)
	switch {
	case p == facts.PullPart && d.Pull != nil:
		k.PullRequest = *d.Pull
		return nil
	case spec.Pulls && !d.Issue.PullRequest:
		return nil
	}
	err, read := r.parts[p]
	if !read {
		err = r.readPart(ctx, d, p)
		if _, unknown := errors.AsType[*facts.UnknownError](err); err != nil && !unknown {
			return err
		}
		if r.parts == nil {
			r.parts = map[facts.Part]error{}
		}
		r.parts[p] = err
	}
	if err == nil {
		spec.Copy(&r.data, k)
	}
	return err
}

// readPart sets the data of a part in r.data.
func (r *Reader) readPart(ctx context.Context, d triage.Delivery, p facts.Part) (err error) {
	k := &r.data
	switch p {
	case facts.PullPart:
		k.PullRequest, err = r.pull(ctx, d)
	case facts.FilesPart:
		k.Changed, err = r.files(ctx, d)
	case facts.MessagesPart:
		k.Commits, err = r.messages(ctx, d)
	case facts.ReviewsPart:
		k.Reviewed, err = r.reviews(ctx, d)
	case facts.OpenedPart:
		k.Opened, err = r.author(ctx, d)
	case facts.AccountPart:
		k.Joined, err = r.joined(ctx, d)
	case facts.MergedPullsPart:
		k.Merged, err = r.closedPulls(ctx, d, true)
	case facts.ClosedPullsPart:
		k.Closed, err = r.closedPulls(ctx, d, false)
	case facts.ContributionPart:
		k.Scored, err = r.contribution(ctx, d)
	default:
		err = fmt.Errorf("look up %s: unknown part", p)
	}
	return err
}

// pull returns the fields that only pull requests have.
func (r *Reader) pull(ctx context.Context, d triage.Delivery) (triage.PullRequest, error) {
	if r.Host == nil {
		return triage.PullRequest{}, fmt.Errorf("read pull request %s: %w", d.Ref(), triage.ErrNeedsHost)
	}
	return r.Host.Pull(ctx, d.Ref())
}

// count returns a number of the pull request, which the event or a call contains.
func (r *Reader) count(ctx context.Context, d triage.Delivery, of func(triage.PullRequest) int) (int, error) {
	var k facts.Known
	err := r.Read(ctx, d, facts.PullPart, &k)
	return of(k.PullRequest), err
}

// maxFiles is the maximum number of files of a pull request that a host lists.
const maxFiles = 3000

// files returns the paths that a pull request changes. A moved file has both its old and its new
// path in the list. It is an error if the pull request has more files than the host lists, because
// the others are unknown.
func (r *Reader) files(ctx context.Context, d triage.Delivery) ([]string, error) {
	if r.Host == nil {
		return nil, fmt.Errorf("list the files of %s: %w", d.Ref(), triage.ErrNeedsHost)
	}
	files, err := r.Host.Files(ctx, d.Ref())
	if err != nil {
		return nil, err
	}
	if len(files) >= maxFiles { // a later push may have left fewer files than the event reports
		n, err := r.count(ctx, d, func(p triage.PullRequest) int { return p.ChangedFiles })
		if err != nil {
			return nil, err
		}
		if n > len(files) {
			return nil, fmt.Errorf("list the files of %s: %w: GitHub lists %d of the %d that it changes, and never more than 3,000",
				d.Ref(), triage.ErrTruncated, len(files), n)
		}
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
		if f.Before != "" {
			paths = append(paths, f.Before)
		}
	}
	return paths, nil
}

// maxCommits is the maximum number of commits of a pull request that a host lists.
const maxCommits = 250

// maxMessage is the maximum number of characters of a commit message that rules read.
const maxMessage = 10_000

// messages returns the commit messages of a pull request. It is an error if there are more commits
// than the host lists.
func (r *Reader) messages(ctx context.Context, d triage.Delivery) ([]string, error) {
	if r.Host == nil {
		return nil, fmt.Errorf("list the commits of %s: %w", d.Ref(), triage.ErrNeedsHost)
	}
	list, err := r.Host.Messages(ctx, d.Ref())
	for i, message := range list {
		list[i] = text.Shorten(message, maxMessage)
	}
	if err != nil || len(list) < maxCommits {
		return list, err
	}
	n, err := r.count(ctx, d, func(p triage.PullRequest) int { return p.Commits })
	if err == nil && n > len(list) {
		err = fmt.Errorf("list the commits of %s: %w: GitHub lists %d of %d, and never more than 250", d.Ref(), triage.ErrTruncated, len(list), n)
	}
	return list, err
}

// reviews returns the newest review of each person who may approve the pull request.
func (r *Reader) reviews(ctx context.Context, d triage.Delivery) (facts.Reviews, error) {
	if r.Host == nil {
		return facts.Reviews{}, fmt.Errorf("list the reviews of %s: %w", d.Ref(), triage.ErrNeedsHost)
	}
	list, err := r.Host.Reviews(ctx, d.Ref())
	return lastReviews(list), err
}

// lastReviews returns who approves a pull request and who requests changes. A comment does not
// replace an approval. A dismissed review does not count.
func lastReviews(list []triage.Review) facts.Reviews {
	last, order := map[string]string{}, []string(nil)
	for _, r := range list {
		known := r.State == "APPROVED" || r.State == "CHANGES_REQUESTED" || r.State == "DISMISSED"
		if r.Author == "" || !known || !triage.IsMaintainer(r.Association) {
			continue
		}
		if _, again := last[r.Author]; !again {
			order = append(order, r.Author)
		}
		last[r.Author] = r.State
	}
	var out facts.Reviews
	for _, login := range order {
		switch last[login] {
		case "APPROVED":
			out.ApprovedBy = append(out.ApprovedBy, login)
		case "CHANGES_REQUESTED":
			out.ChangesRequestedBy = append(out.ChangesRequestedBy, login)
		}
	}
	return out
}
