package lookups

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// maxOpened is the number of issues and pull requests of an account that a host lists.
const maxOpened = 100

// settled is the age of an issue from which the host's lists contain it.
const settled = 10 * time.Minute

// first returns the author's first 100 issues and pull requests, oldest first.
func (r *Reader) first(ctx context.Context, d triage.Delivery) ([]triage.Issue, error) {
	login := d.Issue.Author
	switch {
	case r.opened != nil:
		return *r.opened, nil
	case r.Host == nil:
		return nil, fmt.Errorf("list the issues and pull requests of %s: %w", text.Quote(login), triage.ErrNeedsHost)
	}
	list, err := r.Host.Opened(ctx, d.Ref(), login)
	if err != nil {
		return nil, err
	}
	r.opened = &list
	return list, nil
}

// author returns how many issues and pull requests the author opened before this one; zero for a
// deleted account.
func (r *Reader) author(ctx context.Context, d triage.Delivery) (facts.Author, error) {
	if d.Issue.Author == "" {
		return facts.Author{}, nil
	}
	list, err := r.first(ctx, d)
	var a facts.Author
	for _, i := range list {
		switch {
		case i.Number >= d.Issue.Number:
		case i.PullRequest:
			a.Pulls++
		default:
			a.Issues++
		}
	}
	return a, err
}

// unknownOfAuthor returns the error for a name that starts with "author".
func unknownOfAuthor(name, why string) error {
	return &facts.UnknownError{Reason: "author." + name + " is unknown: " + why}
}

// quoted returns a login in quotes.
func quoted(login string) string { return strconv.Quote(text.Quote(login)) }

// deleted reports whether the author's account was deleted. GitHub gives the issues of deleted
// accounts to the account ghost.
func deleted(i triage.Issue) bool {
	return i.Author == "" || strings.EqualFold(i.Author, "ghost")
}

// joined returns when the author's account was created.
func (r *Reader) joined(ctx context.Context, d triage.Delivery) (time.Time, error) {
	i := d.Issue
	unknown := func(why string) (time.Time, error) { return time.Time{}, unknownOfAuthor("created_at", why) }
	switch {
	case deleted(*i):
		return unknown("the account was deleted")
	case i.AuthorType == "Bot", strings.HasSuffix(i.Author, "[bot]"):
		return unknown("the author is an App")
	case r.Host == nil:
		return time.Time{}, fmt.Errorf("look up the account %s: %w", text.Quote(i.Author), triage.ErrNeedsHost)
	}
	a, err := r.Host.Account(ctx, d.Ref(), i.Author)
	switch {
	case errors.Is(err, triage.ErrNotFound):
		return unknown("GitHub has no account " + quoted(i.Author) + " any more")
	case err != nil:
		return time.Time{}, err
	case a.Type == "Bot":
		return unknown("the author is an App")
	case !sameAccount(*i, a):
		return unknown("the login " + quoted(i.Author) + " belongs to another account now")
	case a.CreatedAt.IsZero():
		return unknown("GitHub does not report it")
	}
	return a.CreatedAt, nil
}

// sameAccount reports whether an account may be the author of an issue. The login may belong to another
// account by now, because the author was renamed.
func sameAccount(i triage.Issue, a triage.Account) bool {
	if i.AuthorID != 0 {
		return a.ID == i.AuthorID
	}
	return i.CreatedAt.IsZero() || !a.CreatedAt.After(i.CreatedAt)
}

// closedPulls returns how many other pull requests of the author were merged, or closed without a
// merge.
func (r *Reader) closedPulls(ctx context.Context, d triage.Delivery, merged bool) (int, error) {
	i, name, is := d.Issue, "closed_pulls", "is:closed is:unmerged"
	if merged {
		name, is = "merged_pulls", "is:merged"
	}
	if deleted(*i) {
		return 0, unknownOfAuthor(name, "the account was deleted")
	}
	list, err := r.first(ctx, d)
	if err != nil {
		return 0, err
	}
	n, self := 0, false
	for _, other := range list {
		self = self || other.Number == i.Number
		if other.Number != i.Number && other.PullRequest && other.State == "closed" && other.Merged == merged {
			n++
		}
	}
	if len(list) < maxOpened {
		if !self && r.Now().Sub(i.CreatedAt) > settled {
			return 0, unknownOfAuthor(name, "the login "+quoted(i.Author)+" belongs to another account now")
		}
		return n, nil
	}
	author, ok := searchName(i.Author)
	switch {
	case !ok:
		return 0, unknownOfAuthor(name, "GitHub cannot search for the login "+quoted(i.Author))
	case r.Find == nil:
		return 0, fmt.Errorf("search the pull requests of %s: %w", text.Quote(i.Author), triage.ErrNeedsHost)
	}
	found, err := r.Find(ctx, "is:pr "+is+" author:"+author, 1)
	switch {
	case err != nil:
		return 0, err
	case !found.Whole:
		return 0, unknownOfAuthor(name, "GitHub's search was incomplete")
	case found.Total == 0 && n > 0:
		return 0, unknownOfAuthor(name, "GitHub's search does not find the pull requests of "+quoted(i.Author))
	}
	return max(n, found.Total), nil
}

// searchName returns a login as GitHub's search takes it; ok is false for a text that is no login
// and would change the query.
func searchName(login string) (name string, ok bool) {
	name, app := strings.CutSuffix(login, "[bot]")
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return "", false
		}
	}
	if ok = name != ""; app {
		name = "app/" + name
	}
	return name, ok
}
