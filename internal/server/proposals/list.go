// Package proposals looks after the proposals that wait for people: it lists them for the dashboard and
// the metrics, and requests work on those that wait too long.
package proposals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/memory"
)

// A Waiting is a proposal that waits for a person. Its texts are untrusted.
type Waiting struct {
	memory.Proposal
	Repo  string // "owner/name"
	Issue int
}

const (
	// freshFor is how long a list is reused at least. If reading is slow, it is reused for costFactor
	// times the duration, and at most for maxAge.
	freshFor   = 5 * time.Second
	costFactor = 20
	maxAge     = time.Minute
)

// A List reads the proposals that wait. Calls within a short time share one result. It is safe for
// concurrent use.
type List struct {
	agenda memory.Agenda
	repos  []string
	now    func() time.Time

	mu    sync.Mutex
	at    time.Time // when list was read; zero: never
	until time.Time
	list  []Waiting
}

// NewList returns a List of the proposals in these repositories, "owner/name". now is the clock; nil:
// time.Now.
func NewList(agenda memory.Agenda, repos []string, now func() time.Time) *List {
	return &List{agenda: agenda, repos: unique(repos), now: wait.Clock(now)}
}

// unique returns the repositories without repetitions.
func unique(repos []string) []string {
	var out []string
	for _, r := range repos {
		if !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, r) }) {
			out = append(out, r)
		}
	}
	return out
}

// All returns the proposals that wait, the oldest first. The caller must not change the list. An issue
// whose record is damaged is left out.
func (l *List) All(ctx context.Context) ([]Waiting, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	begin := l.now()
	if !l.at.IsZero() && begin.Before(l.until) && !begin.Before(l.at) {
		return l.list, nil
	}
	list, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	end := l.now()
	l.list, l.at, l.until = list, end, end.Add(max(freshFor, min(costFactor*end.Sub(begin), maxAge)))
	return list, nil
}

func (l *List) read(ctx context.Context) ([]Waiting, error) {
	var list []Waiting
	for _, repo := range l.repos {
		issues, _, err := l.agenda.Pending(ctx, repo)
		if err != nil {
			return nil, fmt.Errorf("list the proposals of %s: %w", repo, err)
		}
		for _, due := range issues {
			r, err := l.agenda.Load(ctx, repo, due.Issue)
			switch {
			case errors.Is(err, memory.ErrNotFound), errors.Is(err, memory.ErrBroken), errors.Is(err, memory.ErrNewer):
				continue
			case err != nil:
				return nil, fmt.Errorf("list the proposals of %s#%d: %w", repo, due.Issue, err)
			}
			for _, p := range r.Pending() {
				list = append(list, Waiting{p, repo, due.Issue})
			}
		}
	}
	slices.SortFunc(list, func(a, b Waiting) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Repo, b.Repo), cmp.Compare(a.Issue, b.Issue), cmp.Compare(a.Number, b.Number))
	})
	return list, nil
}
