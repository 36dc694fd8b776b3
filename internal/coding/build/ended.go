package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/foreman-action/internal/coding/build/machine"
	"github.com/org/foreman-action/internal/workdir"
)

// An Ended is a stored run that has ended. It is locked until Close, so that no other process
// works on it.
type Ended struct {
	Report  Report
	journal *journal
}

// OpenEnded opens a run of a checkout. Another machine may have written the run, so OpenEnded
// checks its report as far as possible. The error is a [UsageError] if there is no such run or it
// has not ended.
func OpenEnded(checkout, id string) (*Ended, error) {
	if err := CheckTaskID(id); err != nil {
		return nil, err
	}
	dir := filepath.Join(checkout, runsFolder, id)
	if _, err := os.Stat(filepath.Join(dir, "state.json")); errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("this checkout has no run %s; foreman build status lists its runs", id)
	}
	j, err := openJournal(checkout, id)
	if err != nil {
		return nil, err
	}
	e := &Ended{journal: j}
	if err := e.read(id); err != nil {
		j.close()
		return nil, err
	}
	return e, nil
}

// read reads the report, and compares it with the state.
func (e *Ended) read(id string) error {
	rec, _, err := e.journal.load()
	if err != nil {
		return err
	}
	if rec.Ended == nil {
		return usagef("the run %s has not ended: continue it with foreman build resume", id)
	}
	data, err := workdir.Dir(e.journal.dir).Read("report.json", maxRecord)
	if err == nil {
		err = json.Unmarshal(data, &e.Report)
	}
	if err != nil {
		return fmt.Errorf("read the report of the run %s: %w", id, err)
	}
	r := e.Report
	status := machine.Failed // without an End, an error of the machine interrupted the run
	if rec.State.End != nil {
		status = rec.State.End.Status
	}
	switch {
	case r.Version != 1:
		err = fmt.Errorf("unsupported version %d (want 1)", r.Version)
	case r.TaskID != id, r.Branch != rec.Branch:
		err = fmt.Errorf("the report is of the task %q on the branch %q", r.TaskID, r.Branch)
	case r.Status != status, r.HeadSHA != rec.Head, r.BaseSHA != rec.Base, r.BaseBranch != rec.BaseBranch:
		err = errors.New("the report and state.json are of different runs")
	}
	if err != nil {
		return fmt.Errorf("read the report of the run %s: %w", id, err)
	}
	return nil
}

// SetPullRequest stores the address of the pull request in the report.
func (e *Ended) SetPullRequest(url string) error {
	e.Report.PRURL = &url
	return e.journal.writeReport(e.Report)
}

// Close unlocks the run.
func (e *Ended) Close() { e.journal.close() }
