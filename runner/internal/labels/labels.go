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
	// Assumed are the labels of Known that the host remembers, and that were not looked up: their ids by
	// their folded names.
	Assumed map[string]string

	host     Host
	remember func(ref triage.Ref, name string) (triage.LabelID, bool) // nil: the host remembers none
	looked   int                                                      // number of single look-ups
	listed   []string                                                 // the labels of the pages that were read
	pages    int                                                      // number of pages that were read
	last     int                                                      // number of the last page; known after the first one
	unlisted bool                                                     // the repository's list cannot be read
	failed   error                                                    // of the last call; nil: it succeeded
}

// New returns an index in which no label is known yet. remembered returns a label that the host knows
// without a call; nil: it knows none.
func New(host Host, remembered func(ref triage.Ref, name string) (triage.LabelID, bool)) *Index {
	return &Index{host: host, remember: remembered, Known: map[string]string{}, Assumed: map[string]string{}}
}

// Assume is like Find, but does not look up labels that the host remembers. It must only be used for
// labels that are then added with the ids in Assumed. on are the labels of the issue: if one of them has
// the id of a remembered label and another name, the label was renamed.
func (l *Index) Assume(ctx context.Context, ref triage.Ref, on []triage.LabelID, names ...string) error {
	var rest []string
	for _, name := range names {
		key := text.Fold(name)
		if _, known := l.Known[key]; known {
			continue
		}
		if l.remember != nil {
			renamed := func(have triage.LabelID, was triage.LabelID) bool { return have.ID == was.ID && have.Name != was.Name }
			label, ok := l.remember(ref, name)
			if ok && label.ID != "" && !slices.ContainsFunc(on, func(have triage.LabelID) bool { return renamed(have, label) }) {
				l.Known[key], l.Assumed[key] = label.Name, label.ID
				continue
			}
		}
		rest = append(rest, name)
	}
	return l.Find(ctx, ref, rest...)
}

// IDs returns the ids of the assumed labels among names, in their order; nil: none is assumed.
func (l *Index) IDs(names []string) []string {
	ids, some := make([]string, len(names)), false
	for i, name := range names {
		ids[i] = l.Assumed[text.Fold(name)]
		some = some || ids[i] != ""
	}
	if !some {
		return nil
	}
	return ids
}

// Find looks up every name that was not looked up yet. ref names the repository.
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
		_, known := l.Known[key]
		if known && l.Assumed[key] == "" || slices.ContainsFunc(list, func(s string) bool { return text.Fold(s) == key }) {
			continue
		}
		switch i := slices.IndexFunc(l.listed, func(label string) bool { return strings.EqualFold(label, name) }); {
		case i >= 0:
			l.set(key, l.listed[i])
		case l.pages > 0 && l.pages >= l.last:
			l.set(key, "")
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
	l.set(text.Fold(name), label)
	return nil
}

// set stores the result of a look-up.
func (l *Index) set(key, label string) {
	l.Known[key] = label
	delete(l.Assumed, key)
}
