// Package records reports on the records of a repository, shows one and deletes one, for the commands of both
// programs. The callers open the memory.
package records

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/trackrecord"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
)

// A Store is a memory whose records are read and deleted. Load, Pending and Acted are those of [memory.Agenda].
type Store interface {
	Load(ctx context.Context, repo string, issue int) (memory.Record, error)
	Pending(ctx context.Context, repo string) (list []memory.Due, complete bool, err error)
	Acted(ctx context.Context, repo string, after time.Time) (list []memory.Due, complete bool, err error)
	// DeleteRecord deletes the record of an issue and what belongs to it, and returns what it deleted, for
	// people. Without a record it deletes nothing and returns no error. After an error the list has what was deleted
	// until then.
	DeleteRecord(ctx context.Context, repo string, issue int) ([]string, error)
}

// A Memory is the memory of a repository.
type Memory struct {
	Store Store
	Kind  string // "artifact", "file" or "server"
	// Shared means that other programs can write the records, as artifacts.
	Shared bool
	// Loads is the maximum number of records to load for a report besides that of the repository, because each costs calls;
	// 0: loading is cheap. Then Acted names no exact time either.
	Loads int
}

// Options are all that a report depends on besides the memory.
type Options struct {
	Repo   string        // "owner/name"
	Web    string        // address of GitHub's web pages; empty: no links
	Policy policy.Policy // the zero value: unknown
	Now    time.Time
	Since  time.Time // zero: of any time
	Notes  []string
}

// Report returns the report on the track records of a repository, and on what waits. A missing record is empty.
// A record that is broken, or of a newer version, is an error.
func Report(ctx context.Context, m Memory, o Options) (trackrecord.Report, error) {
	r, err := m.Store.Load(ctx, o.Repo, memory.Repository)
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		return trackrecord.Report{}, fmt.Errorf("read the track records of %s: %w", o.Repo, err)
	}
	w := waiting{m: m, o: o, notes: slices.Clone(o.Notes)}
	if err := w.read(ctx, r.Outcomes); err != nil {
		return trackrecord.Report{}, fmt.Errorf("look for actions and proposals of %s that wait: %w", o.Repo, err)
	}
	return trackrecord.New(r.Outcomes, trackrecord.Options{
		Repo: o.Repo, Memory: m.Kind, Shared: m.Shared, Web: o.Web, Now: o.Now, Since: o.Since, Policy: o.Policy, Scores: r.Scores, Waiting: &w.Waiting, Notes: w.notes,
	}), nil
}

// maxProposedOn is the maximum number of issues with proposals that a report lists.
const maxProposedOn = 20

// A waiting collects what has no outcome yet.
type waiting struct {
	trackrecord.Waiting

	m     Memory
	o     Options
	notes []string
}

func (w *waiting) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// read reads what waits; judged are the known outcomes.
func (w *waiting) read(ctx context.Context, judged *memory.Outcomes) error {
	since := time.Time{}
	if judged != nil {
		since = judged.Judged
	}
	// Pending is first, because the artifact store then uses its list for Acted, too.
	pending, whole, err := w.m.Store.Pending(ctx, w.o.Repo)
	if err == nil {
		err = w.proposals(ctx, pending)
	}
	if err != nil {
		return err
	}
	acted, all, err := w.m.Store.Acted(ctx, w.o.Repo, since)
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
	if most := w.m.Loads; most > 0 && len(list) > most {
		w.note("the proposals of %s are counted, and those of %d more are not", format.Count(most, "issue"), len(list)-most)
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
		if w.Proposals += n; len(w.ProposedOn) < maxProposedOn {
			w.ProposedOn = append(w.ProposedOn, d.Issue)
		}
	}
	return nil
}

// actions counts the issues of a list by the age of their first action that has no outcome.
func (w *waiting) actions(ctx context.Context, list []memory.Due, since time.Time) error {
	due := w.o.Now.Add(-w.o.Policy.JudgeTime())
	for _, d := range list {
		at := d.At
		if w.m.Loads == 0 {
			r, ok, err := w.load(ctx, d.Issue)
			if err != nil {
				return err
			}
			if at, ok = r.FirstAfter(since); !ok {
				continue
			}
		}
		if at.After(due) {
			w.Later++
		} else {
			w.Due++
		}
	}
	return nil
}

// load loads the record of an issue. ok is false if it was deleted meanwhile, or cannot be read; then the
// report has a note.
func (w *waiting) load(ctx context.Context, issue int) (r memory.Record, ok bool, err error) {
	r, err = w.m.Store.Load(ctx, w.o.Repo, issue)
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
