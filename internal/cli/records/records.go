// Package records reports on the records of a repository, shows one and deletes one, for the commands of both
// programs. The callers open the memory.
package records

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/trackrecord"
	"github.com/org/foreman-action/memory"
)

// A Store is a memory whose records are read and deleted.
type Store interface {
	trackrecord.Memory
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
	Loads  int // as in [trackrecord.Search]
}

// Options are all that a report depends on besides the memory.
type Options struct {
	Repo   string         // "owner/name"
	Web    string         // address of GitHub's web pages; empty: no links
	Config *config.Config // without rules; the zero value: unknown
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
	w, notes, err := trackrecord.Search{Memory: m.Store, Repo: o.Repo, Due: o.Now.Add(-o.Config.JudgeTime()), Loads: m.Loads}.Run(ctx, r.Outcomes)
	if err != nil {
		return trackrecord.Report{}, err
	}
	return trackrecord.New(r.Outcomes, trackrecord.Options{
		Repo: o.Repo, Memory: m.Kind, Shared: m.Shared, Web: o.Web, Now: o.Now, Since: o.Since, Policy: o.Config.Policy, Scores: r.Scores, Waiting: w, Notes: slices.Concat(o.Notes, notes),
	}), nil
}
