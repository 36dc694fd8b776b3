package runner

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// labels looks up which labels a repository has. It asks for each label once. One call lists a
// hundred labels, or looks up one. So the list is used as soon as a second label is needed; further
// pages are read only if that takes fewer calls than looking up the remaining labels. It must be
// used by one goroutine only.
type labels struct {
	host Repository

	// known maps the folded name of a label to the repository's spelling, or to "" if the
	// repository does not have the label.
	known    map[string]string
	looked   int      // number of single look-ups
	listed   []string // the labels of the pages that were read
	pages    int      // number of pages that were read
	last     int      // number of the last page; known after the first one
	unlisted bool     // the repository's list cannot be read
}

func newLabels(host Repository) *labels { return &labels{host: host, known: map[string]string{}} }

// find looks up every name that is not known yet. ref names the repository.
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

// missing returns the names that need a call, without duplicates.
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

// cheaperListed reports whether to read the next page instead of looking up n labels. The first
// page is read as soon as a second label is needed. A later page is read if fewer than n pages
// remain.
func (l *labels) cheaperListed(n int) bool {
	switch {
	case l.unlisted:
		return false
	case l.pages == 0:
		return l.looked+n > 1
	}
	return l.last-l.pages < n
}

// list reads the next page of the repository's labels.
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

// lookUp looks up one label.
func (l *labels) lookUp(ctx context.Context, ref triage.Ref, name string) error {
	label, err := l.host.Label(ctx, ref, name)
	if err != nil && !errors.Is(err, triage.ErrNotFound) {
		return err
	}
	l.looked++
	l.known[text.Fold(name)] = label
	return nil
}
