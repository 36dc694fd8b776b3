package trackrecord

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/foreman-action/memory"
)

// A Memory is what a [Search] reads. Its methods are those of [memory.Agenda].
type Memory interface {
	Load(ctx context.Context, repo string, issue int) (memory.Record, error)
	Pending(ctx context.Context, repo string) (list []memory.Due, complete bool, err error)
	Acted(ctx context.Context, repo string, after time.Time) (list []memory.Due, complete bool, err error)
}

// A Search finds what has no outcome yet in the memory of a repository.
type Search struct {
	Memory Memory
	Repo   string    // "owner/name"
	Due    time.Time // actions up to that time are old enough to be judged
	// Loads is the maximum number of records to load, because each costs calls; 0: loading is cheap. Then Acted names no
	// exact time either.
	Loads int
}

// maxProposedOn is the maximum number of issues with proposals that a report lists.
const maxProposedOn = 20

// Run returns what waits, and notes for people on what is left out. judged are the known outcomes; nil: there are none.
func (s Search) Run(ctx context.Context, judged *memory.Outcomes) (*Waiting, []string, error) {
	w := waiting{Search: s}
	if err := w.read(ctx, judged); err != nil {
		return nil, nil, fmt.Errorf("look for actions and proposals of %s that wait: %w", s.Repo, err)
	}
	return &w.found, w.notes, nil
}

// A waiting is a search that runs.
type waiting struct {
	Search

	found Waiting
	notes []string
}

func (w *waiting) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

func (w *waiting) read(ctx context.Context, judged *memory.Outcomes) error {
	since := time.Time{}
	if judged != nil {
		since = judged.Judged
	}
	// Pending is first, because the artifact store then uses its list for Acted, too.
	pending, whole, err := w.Memory.Pending(ctx, w.Repo)
	if err == nil {
		err = w.proposals(ctx, pending)
	}
	if err != nil {
		return err
	}
	acted, all, err := w.Memory.Acted(ctx, w.Repo, since)
	if err == nil {
		err = w.actions(ctx, acted, since)
	}
	if err == nil && (!whole || !all) {
		w.note("not all records could be searched: more may wait")
	}
	return err
}

// proposals counts the proposals in the records of a list.
func (w *waiting) proposals(ctx context.Context, list []memory.Due) error {
	if most := w.Loads; most > 0 && len(list) > most {
		w.note("the proposals of %s are counted, and those of %d more are not", many(most, "issue"), len(list)-most)
		list = list[:most]
	}
	for _, d := range list {
		r, ok, err := w.load(ctx, d.Issue)
		if err != nil {
			return err
		}
		n := len(r.Pending())
		if !ok || n == 0 { // a scheduled close, for example
			continue
		}
		if w.found.Proposals += n; len(w.found.ProposedOn) < maxProposedOn {
			w.found.ProposedOn = append(w.found.ProposedOn, d.Issue)
		}
	}
	return nil
}

// actions counts the issues of a list by the age of their first action that has no outcome.
func (w *waiting) actions(ctx context.Context, list []memory.Due, since time.Time) error {
	for _, d := range list {
		at := d.At
		if w.Loads == 0 {
			r, _, err := w.load(ctx, d.Issue)
			if err != nil {
				return err
			}
			var ok bool
			if at, ok = r.FirstAfter(since); !ok {
				continue
			}
		}
		if at.After(w.Due) {
			w.found.Later++
		} else {
			w.found.Due++
		}
	}
	return nil
}

// load loads the record of an issue. ok is false if it was deleted meanwhile, or cannot be read; then there is a
// note.
func (w *waiting) load(ctx context.Context, issue int) (r memory.Record, ok bool, err error) {
	r, err = w.Memory.Load(ctx, w.Repo, issue)
	switch {
	case err == nil:
		return r, true, nil
	case errors.Is(err, memory.ErrBroken), errors.Is(err, memory.ErrNewer):
		w.note("#%d is left out: %v", issue, err)
	case !errors.Is(err, memory.ErrNotFound):
		return memory.Record{}, false, err
	}
	return memory.Record{}, false, nil
}
