package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/org/foreman-action/internal/coding/build/machine"
	"github.com/org/foreman-action/internal/coding/build/workspace"
	"github.com/org/foreman-action/internal/filelock"
	"github.com/org/foreman-action/internal/handoff"
	"github.com/org/foreman-action/internal/workdir"
)

const (
	// runsFolder holds a folder for each run, in the consumer's checkout.
	runsFolder = ".foreman/runs"
	// handoffFolder holds the files of one run of an agent, in the clone.
	handoffFolder = ".foreman/tmp"
)

// recordVersion is the version of the records that this program writes. Runs of version 1 worked in a
// worktree of the checkout.
const recordVersion = 2

// A record is the stored state of a run. It is saved before each step.
type record struct {
	Version    int            `json:"version"`
	TaskID     string         `json:"task_id"`
	Prompt     string         `json:"prompt"`
	Source     string         `json:"source"`
	Branch     string         `json:"branch"`
	BaseBranch string         `json:"base_branch"`
	Base       string         `json:"base_sha"`
	Head       string         `json:"head_sha"` // after the last step that counted
	Runs       map[string]int `json:"runs"`     // number of runs of each agent, valid or not
	DiffBytes  int            `json:"diff_bytes"`
	Steering   []string       `json:"steering,omitempty"` // changed files that steer agents
	State      machine.State  `json:"state"`
	Started    time.Time      `json:"started"`
	Ended      *time.Time     `json:"ended,omitempty"`
}

var objectName = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// check returns an error for a record that is not of a run, or from which git would use another
// branch or something that is not a commit. Agents can reach the file, and another machine may have
// written it.
func (rec record) check(id string) error {
	switch {
	case rec.Version < 1 || rec.Version > recordVersion:
		return fmt.Errorf("unsupported version %d (want 1 or %d)", rec.Version, recordVersion)
	case rec.TaskID != id, rec.Branch != workspace.BranchPrefix+id:
		return fmt.Errorf("it is of the task %q on the branch %q", rec.TaskID, rec.Branch)
	case !objectName.MatchString(rec.Base), !objectName.MatchString(rec.Head):
		return fmt.Errorf("want two commit hashes, got %q and %q", rec.Base, rec.Head)
	}
	return nil
}

// A journal is the folder of one run, locked.
type journal struct {
	dir    string
	root   *os.Root
	unlock func()
}

// openJournal makes the folder of a run if necessary, and locks it.
func openJournal(checkout, id string) (*journal, error) {
	dir := filepath.Join(checkout, runsFolder, id)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("make the folder of the run: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	unlock, err := filelock.Try(root, "lock")
	if err != nil {
		root.Close()
		if errors.Is(err, filelock.ErrLocked) {
			return nil, usagef("the run %s is in progress in another process", id)
		}
		return nil, fmt.Errorf("lock the run: %w", err)
	}
	return &journal{dir: dir, root: root, unlock: unlock}, nil
}

func (j *journal) close() {
	j.unlock()
	j.root.Close()
}

func (j *journal) load() (rec record, found bool, err error) {
	rec, err = readRecord(j.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, false, nil
	}
	return rec, err == nil, err
}

// maxRecord is the most bytes that a state file may have.
const maxRecord = 64 << 20

// read returns a file of the run. An agent may have put a link or a pipe in its place.
func (j *journal) read(name string) ([]byte, error) {
	data, err := workdir.Dir(j.dir).Read(name, maxRecord)
	if err != nil {
		err = fmt.Errorf("read %s: %w", filepath.Join(j.dir, name), err)
	}
	return data, err
}

func readRecord(dir string) (record, error) {
	var rec record
	data, err := workdir.Dir(dir).Read("state.json", maxRecord)
	if err != nil {
		return rec, err
	}
	if err := json.Unmarshal(data, &rec); err != nil {
		return rec, fmt.Errorf("read %s: %w", filepath.Join(dir, "state.json"), err)
	}
	if err := rec.check(filepath.Base(dir)); err != nil {
		return rec, fmt.Errorf("read %s: %w; remove the run with foreman build clean", filepath.Join(dir, "state.json"), err)
	}
	return rec, nil
}

func (j *journal) save(rec record) error { return j.writeJSON("state.json", rec) }

func (j *journal) writeReport(r Report) error { return j.writeJSON("report.json", r) }

func (j *journal) writeJSON(name string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err = workdir.Dir(j.dir).Write(name, append(data, '\n')); err != nil {
		err = fmt.Errorf("write %s: %w", filepath.Join(j.dir, name), err)
	}
	return err
}

// append adds a line to events.jsonl.
func (j *journal) append(at time.Time, event machine.Event, next machine.Action) error {
	line, err := json.Marshal(struct {
		Time  time.Time      `json:"time"`
		Event string         `json:"event"`
		Of    machine.Event  `json:"of"`
		Next  machine.Action `json:"next"`
	}{at, fmt.Sprintf("%T", event)[len("machine."):], event, next})
	if err != nil {
		return err
	}
	// Without O_NONBLOCK, opening a named pipe in its place would wait for a reader.
	file, err := j.root.OpenFile("events.jsonl", os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// attempt makes the folder for one run of an agent or of a command, and returns its path.
func (j *journal) attempt(round int, name string, n int) (string, error) {
	dir := filepath.Join(j.dir, "attempts", strconv.Itoa(round)+"-"+name+"-"+strconv.Itoa(n))
	if err := workspace.Remove(dir); err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o750)
}

// A Status summarizes a stored run.
type Status struct {
	TaskID  string         `json:"task_id"`
	Phase   machine.Phase  `json:"phase"`
	Round   int            `json:"round"`
	Status  machine.Status `json:"status,omitempty"` // empty: the run has not ended
	Reason  machine.Reason `json:"reason,omitempty"`
	Role    handoff.Role   `json:"role,omitempty"`
	Running bool           `json:"running"` // a process is working on the run
	Branch  string         `json:"branch"`
	Head    string         `json:"head_sha"`
	Started time.Time      `json:"started"`
	Ended   *time.Time     `json:"ended"`
}

// List returns the runs of a checkout, sorted by ID. If some runs cannot be read, the error names
// them and the other runs are returned.
func List(checkout string) ([]Status, error) {
	folders, err := os.ReadDir(filepath.Join(checkout, runsFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Status
	var problems []error
	for _, folder := range folders {
		dir := filepath.Join(checkout, runsFolder, folder.Name())
		rec, err := readRecord(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the run never started
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		s := Status{
			TaskID: rec.TaskID, Phase: rec.State.Phase, Round: rec.State.Round, Branch: rec.Branch, Head: rec.Head,
			Started: rec.Started, Ended: rec.Ended, Running: locked(dir),
		}
		if end := rec.State.End; end != nil {
			s.Status, s.Reason, s.Role = end.Status, end.Reason, end.Role
		}
		all = append(all, s)
	}
	return all, errors.Join(problems...)
}

// locked reports whether a process works on a run.
func locked(dir string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	unlock, err := filelock.Try(root, "lock")
	if err == nil {
		unlock()
	}
	return errors.Is(err, filelock.ErrLocked)
}
