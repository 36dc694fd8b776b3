package runner

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// labels looks up which labels a repository has, each once. A list costs a call per hundred
// labels, a look-up one per label: the list is read as soon as a second label is asked for, and
// its later pages only where that is cheaper than looking up the rest. It is for one goroutine.
type labels struct {
	host Repository

	// known has the repository's spelling by folded name, empty for a label that it does not
	// have.
	known    map[string]string
	looked   int      // labels that were looked up by themselves
	listed   []string // the pages of the list that were read
	pages    int      // their number
	last     int      // number of the last page
	unlisted bool     // the repository does not show the list
}

func newLabels(host Repository) *labels { return &labels{host: host, known: map[string]string{}} }

// find looks up every name that is not known yet. ref is the issue for which that is done.
func (l *labels) find(ctx context.Context, ref triage.Ref, names ...string) error {
	for {
		missing := l.missing(names)
		var err error
		switch {
		case len(missing) == 0:
			return nil
		case l.cheaperListed(len(missing)):
			err = l.list(ctx, ref)
		default:
			err = l.lookUp(ctx, ref, missing[0])
		}
		if err != nil {
			return err
		}
	}
}

// missing returns those of the names for which a call is needed, each once.
func (l *labels) missing(names []string) []string {
	var list []string
	for _, name := range names {
		key := text.Fold(name)
		if _, ok := l.known[key]; ok || slices.ContainsFunc(list, func(s string) bool { return text.Fold(s) == key }) {
			continue
		}
		switch i := slices.IndexFunc(l.listed, func(label string) bool { return strings.EqualFold(label, name) }); {
		case i >= 0:
			l.known[key] = l.listed[i]
		case l.pages > 0 && l.pages >= l.last:
			l.known[key] = ""
		default:
			list = append(list, name)
		}
	}
	return list
}

// cheaperListed reports whether the next page of the list is worth its call for n labels. How
// many pages there are is known from the first one on.
func (l *labels) cheaperListed(n int) bool {
	switch {
	case l.unlisted:
		return false
	case l.pages == 0:
		return l.looked+n > 1
	}
	return l.last-l.pages < n
}

// list reads the next page of the list.
func (l *labels) list(ctx context.Context, ref triage.Ref) error {
	page, last, err := l.host.LabelPage(ctx, ref, l.pages+1)
	if errors.Is(err, triage.ErrNotFound) {
		l.unlisted = true
		return nil
	}
	if err != nil {
		return err
	}
	l.listed, l.last = append(l.listed, page...), last
	l.pages++
	return nil
}

// lookUp asks for one label.
func (l *labels) lookUp(ctx context.Context, ref triage.Ref, name string) error {
	label, err := l.host.Label(ctx, ref, name)
	if err != nil && !errors.Is(err, triage.ErrNotFound) {
		return err
	}
	l.looked++
	l.known[text.Fold(name)] = label
	return nil
}
