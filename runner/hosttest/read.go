package hosttest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// The sizes of lists, as in the comments of the interfaces.
const (
	page        = 100
	maxComments = 1900
	maxComplete = 500  // events of a complete timeline
	newest      = 400  // events of the first part of a longer one
	maxEvents   = 2000 // events that Earlier reads
	maxFiles    = 3000
	maxMessages = 250
	maxReviews  = 1000
	maxReacted  = 400
)

// A view is the repository as an account sees it. It implements the interfaces of runner.Host.
type view struct {
	*content

	login string
}

// Issue implements [runner.Issues].
func (v view) Issue(ctx context.Context, ref triage.Ref) (triage.Snapshot, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	i, err := v.find(ctx, ref)
	if err != nil {
		return triage.Snapshot{}, err
	}
	return i.snapshot()
}

// Comments implements [runner.Issues].
func (v view) Comments(ctx context.Context, ref triage.Ref, since time.Time, until func(triage.Comment) bool) ([]triage.Comment, error) {
	list, err := v.comments(ctx, ref, since)
	if err != nil {
		return nil, err
	}
	from, found := max(0, len(list)-maxComments), false
	for k := len(list) - 1; k >= from && until != nil && !found; k-- { // without the mutex, because until may use the host
		if found = until(list[k]); found {
			return list[k:], nil
		}
	}
	if from > 0 {
		return list[from:], fmt.Errorf("list comments of %s: %w", ref, triage.ErrTruncated)
	}
	return list, nil
}

// comments returns all comments that changed at or after since.
func (v view) comments(ctx context.Context, ref triage.Ref, since time.Time) ([]triage.Comment, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	i, err := v.find(ctx, ref)
	if err != nil {
		return nil, err
	}
	var list []triage.Comment
	for _, c := range i.comments {
		if !c.changed.Before(since.Truncate(time.Second)) {
			list = append(list, c.Comment)
		}
	}
	return list, nil
}

// Comment implements [runner.Issues].
func (v view) Comment(ctx context.Context, ref triage.Ref, id int64) (triage.Comment, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	i, err := v.find(ctx, ref)
	if err != nil {
		return triage.Comment{}, err
	}
	c, err := i.commentAt(ref, func(c comment) bool { return c.ID == id })
	if err != nil {
		return triage.Comment{}, err
	}
	return c.Comment, nil
}

// commentAt returns the comment for which match returns true.
func (i *record) commentAt(ref triage.Ref, match func(comment) bool) (*comment, error) {
	k := slices.IndexFunc(i.comments, match)
	if k < 0 {
		return nil, fmt.Errorf("comment on %s: %w", ref, triage.ErrNotFound)
	}
	return &i.comments[k], nil
}

// Timeline implements [runner.Issues].
func (v view) Timeline(ctx context.Context, ref triage.Ref) (triage.Timeline, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	i, err := v.find(ctx, ref)
	if err != nil {
		return triage.Timeline{}, err
	}
	n := len(i.events)
	if n <= maxComplete {
		return triage.Timeline{Events: slices.Clone(i.events), Complete: true}, nil
	}
	return triage.Timeline{Events: slices.Clone(i.events[n-newest:]), Before: n - newest, Size: n}, nil
}

// Earlier implements [runner.Issues].
func (v view) Earlier(ctx context.Context, ref triage.Ref, t triage.Timeline) (triage.Timeline, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	i, err := v.find(ctx, ref)
	if err != nil || t.Complete || t.Before <= 0 || t.Before > len(i.events) {
		return t, err
	}
	from := max(0, t.Before-page)
	t.Events = append(slices.Clone(i.events[from:t.Before]), t.Events...)
	t.Before, t.Complete = from, from == 0
	if len(t.Events) >= maxEvents {
		t.Before = 0
	}
	return t, nil
}

// Label implements [runner.Repository].
func (v view) Label(ctx context.Context, ref triage.Ref, name string) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	k := index(v.repo.Labels, name)
	if err := v.readable(ctx, ref); err != nil || k < 0 {
		return "", cmp.Or(err, fmt.Errorf("label %q of %s: %w", name, ref, triage.ErrNotFound))
	}
	return v.repo.Labels[k], nil
}

// readable returns an error if the context has ended, or the reference names another repository.
func (h *content) readable(ctx context.Context, ref triage.Ref) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !h.has(ref) {
		return fmt.Errorf("repository %s/%s: %w", ref.Owner, ref.Repo, triage.ErrNotFound)
	}
	return nil
}

// LabelPage implements [runner.Repository].
func (v view) LabelPage(ctx context.Context, ref triage.Ref, n int) (names []string, last int, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.readable(ctx, ref); err != nil {
		return nil, 0, err
	}
	all := len(v.repo.Labels)
	from, to := min(max(0, n-1)*page, all), min(max(1, n)*page, all)
	return slices.Clone(v.repo.Labels[from:to]), max(1, (all+page-1)/page), nil
}

// Permission implements [runner.Repository].
func (v view) Permission(ctx context.Context, ref triage.Ref, login string) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.permission(login), v.readable(ctx, ref)
}

// Opened implements [runner.Repository].
func (v view) Opened(ctx context.Context, ref triage.Ref, login string) ([]triage.Issue, error) {
	list, err := v.list(ctx, ref, func(i *record) bool { return strings.EqualFold(i.Author, login) })
	return list[:min(len(list), page)], err
}

// list returns the matching issues and pull requests, oldest first. It takes the mutex.
func (h *content) list(ctx context.Context, ref triage.Ref, match func(*record) bool) ([]triage.Issue, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.readable(ctx, ref); err != nil {
		return nil, err
	}
	var list []triage.Issue
	for _, i := range h.issues {
		if !match(i) {
			continue
		}
		s, err := i.snapshot()
		if err != nil {
			return nil, err
		}
		list = append(list, s.Issue)
	}
	slices.SortFunc(list, func(a, b triage.Issue) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Number, b.Number))
	})
	return list, nil
}

// Account implements [runner.Repository].
func (v view) Account(ctx context.Context, ref triage.Ref, login string) (triage.Account, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.readable(ctx, ref); err != nil {
		return triage.Account{}, err
	}
	for name, a := range v.repo.Accounts {
		if strings.EqualFold(name, login) {
			return a, nil
		}
	}
	return triage.Account{}, fmt.Errorf("account %q: %w", login, triage.ErrNotFound)
}

// pull returns a pull request.
func (h *content) pull(ctx context.Context, ref triage.Ref) (*record, error) {
	i, err := h.find(ctx, ref)
	if err == nil && i.Pull == nil {
		err = fmt.Errorf("pull request %s: %w: it is an issue", ref, triage.ErrNotFound)
	}
	return i, err
}

// Pull implements [runner.Pulls].
func (v view) Pull(ctx context.Context, ref triage.Ref) (triage.PullRequest, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	i, err := v.pull(ctx, ref)
	if err != nil {
		return triage.PullRequest{}, err
	}
	p := i.Pull.PullRequest
	p.RequestedReviewers, p.RequestedTeams = slices.Clone(p.RequestedReviewers), slices.Clone(p.RequestedTeams)
	p.Shared, err = i.snapshot()
	return p, err
}

// Files implements [runner.Pulls].
func (v view) Files(ctx context.Context, ref triage.Ref) ([]triage.ChangedFile, error) {
	p, err := v.parts(ctx, ref)
	return first(p.Files, maxFiles), err
}

// Messages implements [runner.Pulls].
func (v view) Messages(ctx context.Context, ref triage.Ref) ([]string, error) {
	p, err := v.parts(ctx, ref)
	return first(p.Messages, maxMessages), err
}

// Reviews implements [runner.Pulls].
func (v view) Reviews(ctx context.Context, ref triage.Ref) ([]triage.Review, error) {
	p, err := v.parts(ctx, ref)
	if len(p.Reviewed) > maxReviews {
		err = fmt.Errorf("list the reviews of %s: %w", ref, triage.ErrTruncated)
	}
	return first(p.Reviewed, maxReviews), err
}

// parts returns a pull request, whose files, messages and reviews never change. It takes the mutex.
func (h *content) parts(ctx context.Context, ref triage.Ref) (Pull, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i, err := h.pull(ctx, ref)
	if err != nil {
		return Pull{}, err
	}
	return *i.Pull, nil
}

// first returns a copy of the first elements of a list.
func first[T any](list []T, most int) []T { return slices.Clone(list[:min(len(list), most)]) }

// Open implements [runner.Search].
func (v view) Open(ctx context.Context, ref triage.Ref, calls int) ([]triage.Issue, error) {
	list, err := v.list(ctx, ref, func(i *record) bool { return i.State == "open" })
	if err == nil && len(list) > calls*page {
		return nil, fmt.Errorf("list the open issues of %s/%s: %w", ref.Owner, ref.Repo, triage.ErrTruncated)
	}
	return list, err
}

// Reactions implements [runner.Search].
func (v view) Reactions(ctx context.Context, ref triage.Ref, id int64, content string) ([]triage.Reaction, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	i, err := v.find(ctx, ref)
	if err != nil {
		return nil, err
	}
	all := i.reactions
	if id != 0 {
		c, err := i.commentAt(ref, func(c comment) bool { return c.ID == id })
		if err != nil {
			return nil, err
		}
		all = c.reactions
	}
	var list []triage.Reaction
	for _, r := range all {
		if r.content == content {
			list = append(list, r.Reaction)
		}
	}
	if len(list) > maxReacted {
		return list[:maxReacted], fmt.Errorf("list the reactions to %s: %w", ref, triage.ErrTruncated)
	}
	return list, nil
}

// Budget implements [runner.Search]. Nothing limits the calls.
func (v view) Budget() (left int, ok bool) { return 0, false }

// Find implements [runner.Search]. It knows the qualifiers is, type, state, author, label, no:label
// and no:assignee, each also with "-" before it, and words of the title and the text. Others are an
// error.
func (v view) Find(ctx context.Context, ref triage.Ref, query string, most int) (runner.Found, error) {
	words := words(query)
	var failed error
	list, err := v.list(ctx, ref, func(i *record) bool {
		ok, err := i.matches(words)
		failed = cmp.Or(failed, err)
		return ok && i.PullRequest == text.FindsPulls(query)
	})
	if err := cmp.Or(err, failed); err != nil {
		return runner.Found{}, fmt.Errorf("search issues of %s/%s: %w", ref.Owner, ref.Repo, err)
	}
	return runner.Found{Issues: list[:min(most, len(list))], Total: len(list), Whole: true}, nil
}

// words splits a query at spaces outside of quotes, and removes the quotes.
func words(query string) []string {
	quoted := false
	list := strings.FieldsFunc(query, func(r rune) bool {
		quoted = quoted != (r == '"')
		return r == ' ' && !quoted
	})
	for k, w := range list {
		list[k] = strings.ReplaceAll(w, `"`, "")
	}
	return list
}

// matches reports whether an issue has all words of a query.
func (i *record) matches(words []string) (bool, error) {
	for _, word := range words {
		word, minus := strings.CutPrefix(word, "-")
		ok, err := i.match(word)
		if err != nil || ok == minus {
			return false, err
		}
	}
	return true, nil
}

func (i *record) match(word string) (bool, error) {
	name, value, qualified := strings.Cut(word, ":")
	switch strings.ToLower(word) {
	case "is:issue", "type:issue":
		return !i.PullRequest, nil
	case "is:pr", "type:pr":
		return i.PullRequest, nil
	case "is:open", "state:open", "is:closed", "state:closed":
		return strings.EqualFold(i.State, value), nil
	case "is:merged":
		return i.Merged, nil
	case "is:unmerged":
		return i.PullRequest && !i.Merged, nil
	case "no:label":
		return len(i.Labels) == 0, nil
	case "no:assignee":
		return len(i.Assignees) == 0, nil
	}
	switch {
	case !qualified:
		return strings.Contains(strings.ToLower(i.Title+"\n"+i.Body), strings.ToLower(word)), nil
	case name == "label":
		return slices.ContainsFunc(strings.Split(value, ","), func(l string) bool { return index(i.Labels, l) >= 0 }), nil
	case name == "author":
		return strings.EqualFold(i.Author, value), nil
	}
	return false, fmt.Errorf("the host in memory does not know %q", word)
}
