package assembly

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/trackrecord"
	"github.com/org/foreman-action/memory"
)

// A trackRecords reports what became of the actions in repositories.
type trackRecords struct {
	memory memory.Agenda
	config *config.Config
	web    string // address of GitHub's web pages
	now    func() time.Time
}

// report reads the track record of a repository, "owner/name". Without a record that can be read, it is
// empty, and a note says why.
func (t trackRecords) report(ctx context.Context, repo string) (trackrecord.Report, error) {
	o := trackrecord.Options{Repo: repo, Memory: "server", Web: t.web, Now: t.now(), Policy: t.config.Policy}
	r, err := t.memory.Load(ctx, repo, memory.Repository)
	switch {
	case errors.Is(err, memory.ErrBroken), errors.Is(err, memory.ErrNewer):
		o.Unread, r = err, memory.Record{}
	case err != nil && !errors.Is(err, memory.ErrNotFound):
		return trackrecord.Report{}, fmt.Errorf("read the track record of %s: %w", repo, err)
	}
	w, notes, err := trackrecord.Search{Memory: t.memory, Repo: repo, Due: o.Now.Add(-t.config.JudgeTime())}.Run(ctx, r.Outcomes)
	if err != nil {
		return trackrecord.Report{}, err
	}
	o.Waiting, o.Scores, o.Notes = w, r.Scores, append(o.Notes, notes...)
	return trackrecord.New(r.Outcomes, o), nil
}
