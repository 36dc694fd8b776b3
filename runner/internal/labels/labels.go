// Package labels looks up labels of a repository with few calls.
package labels

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// A Host reads the labels of a repository.
type Host interface {
	// Label returns the repository's spelling of a label, or [triage.ErrNotFound].
	Label(ctx context.Context, ref triage.Ref, name string) (string, error)
	// LabelPage returns a page of the labels, beginning with 1, and the number of the last page. The
	// error is [triage.ErrNotFound] if the labels cannot be listed.
	LabelPage(ctx context.Context, ref triage.Ref, page int) (names []string, last int, err error)
}

// An Index looks up which labels a repository has. It asks for each label once. One call lists a
// hundred labels, or looks up one. So the list is used as soon as a second label is needed; further
// pages are read only if that takes fewer calls than looking up the remaining labels. It must be
// used by one goroutine only.
type Index struct {
	// Known maps the folded name of a label to the repository's spelling, or to "" if the
	// repository does not have the label.
	Known map[string]string

	host     Host
	looked   int      // number of single look-ups
	listed   []string // the labels of the pages that were read
	pages    int      // number of pages that were read
	last     int      // number of the last page; known after the first one
	unlisted bool     // the repository's list cannot be read
	failed   error    // of the last call; nil: it succeeded
}

// New returns an index in which no label is known yet.
func New(host Host) *Index { return &Index{host: host, Known: map[string]string{}} }

// Find looks up every name that is not known yet. ref names the repository.
func (l *Index) Find(ctx context.Context, ref triage.Ref, names ...string) error {
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
		if l.failed = err; err != nil {
			return err
		}
	}
}

// Try is like Find. After a failed call it makes no further calls until a call of Find succeeds.
func (l *Index) Try(ctx context.Context, ref triage.Ref, names ...string) error {
	if l.failed != nil && len(l.missing(names)) > 0 {
		return l.failed
	}
	return l.Find(ctx, ref, names...)
}

// missing returns the names that need a call, without duplicates.
func (l *Index) missing(names []string) []string {
	var list []string
	for _, name := range names {
		key := text.Fold(name)
		if _, ok := l.Known[key]; ok || slices.ContainsFunc(list, func(s string) bool { return text.Fold(s) == key }) {
			continue
		}
		switch i := slices.IndexFunc(l.listed, func(label string) bool { return strings.EqualFold(label, name) }); {
		case i >= 0:
			l.Known[key] = l.listed[i]
		case l.pages > 0 && l.pages >= l.last:
			l.Known[key] = ""
		default:
			list = append(list, name)
		}
	}
	return list
}

// cheaperListed reports whether to read the next page instead of looking up n labels. The first
// page is read as soon as a second label is needed. A later page is read if fewer than n pages
// remain.
func (l *Index) cheaperListed(n int) bool {
	switch {
	case l.unlisted:
		return false
	case l.pages == 0:
		return l.looked+n > 1
	}
	return l.last-l.pages < n
}

// list reads the next page of the repository's labels.
func (l *Index) list(ctx context.Context, ref triage.Ref) error {
	page, last, err := l.host.LabelPage(ctx, ref, l.pages+1)
	if errors.Is(err, triage.ErrNotFound) || errors.Is(err, errors.ErrUnsupported) {
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
func (l *Index) lookUp(ctx context.Context, ref triage.Ref, name string) error {
	label, err := l.host.Label(ctx, ref, name)
	if err != nil && !errors.Is(err, triage.ErrNotFound) {
		return err
	}
	l.looked++
	l.Known[text.Fold(name)] = label
	return nil
}
