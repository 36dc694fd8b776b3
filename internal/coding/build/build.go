// Package build runs the pipeline of two coding agents. The Builder changes the code of a
// repository, and the Inspector judges the change. They work in rounds until the change is
// approved or the run ends for another reason.
//
// [Run] is a loop around package machine, which decides on the next step. Before each step, Run
// stores the state in .foreman/runs, so that a killed run can be resumed. Each start of an agent, and
// the checks of each round, get a new clone of the run's repository. After each of them, package
// workspace restores protected files of the checkout. The configuration comes from the base commit. This
// package sends nothing to GitHub; package publish does.
package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/org/foreman-action/internal/coding/build/agent"
	"github.com/org/foreman-action/internal/coding/build/config"
	"github.com/org/foreman-action/internal/coding/build/contained"
	"github.com/org/foreman-action/internal/coding/build/machine"
	"github.com/org/foreman-action/internal/coding/build/process"
	"github.com/org/foreman-action/internal/coding/build/workspace"
	"github.com/org/foreman-action/internal/coding/sandbox"
	"github.com/org/foreman-action/internal/handoff"
)

// Options are the inputs of a run.
type Options struct {
	Dir     string   // a folder in the consumer's checkout
	Environ []string // of the program; commands get a part of it
	TaskID  string
	// Prompt is the text of the task. It is untrusted. [Resume] ignores it, because the stored run
	// has its prompt.
	Prompt string
	Source string // origin of the prompt, for the report
	Base   string // the branch or commit that the change starts from; empty: the default
	// State is the folder for the repositories and clones of runs. It should be outside the checkout,
	// because other tools would search it there.
	State string
	// Former is the folder in which an earlier version made worktrees. [Clean] removes that of the run.
	Former string
	// Bundle is the path of a file. At the end, Run writes the commits of the branch to it, if there
	// are any. Empty: no bundle. See [git-bundle].
	//
	// [git-bundle]: https://git-scm.com/docs/git-bundle
	Bundle   string
	Runner   process.Runner
	Docker   string // the program for sandbox: docker; empty: docker, found in PATH
	Now      func() time.Time
	Mark     func() string  // returns a random line that delimits quoted text in prompts
	Progress func(Progress) // called from one goroutine at a time; nil: no progress
}

// A Progress describes the current step of a run.
type Progress struct {
	Action  machine.Action // empty: only Outcome is set, with a warning
	Round   int
	Attempt int
	Command string // the running command; empty: none
	Line    string // the last line of its output; empty: the step begins
	// Outcome describes the result of the previous step in one sentence; may be empty.
	Outcome string
}

// A UsageError is a mistake of the caller, such as an invalid task ID, a missing or invalid
// configuration, or a run that already exists.
type UsageError struct{ Err error }

// Error returns the mistake.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the mistake.
func (e *UsageError) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

var taskID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckTaskID returns an error for a task ID that cannot be part of a branch name and of paths.
func CheckTaskID(id string) error {
	switch {
	case !taskID.MatchString(id):
		return usagef("the task id %q must have 1 to 64 letters, digits, dots, dashes and underscores, and begin with a letter or digit", id)
	case strings.Contains(id, "..") || strings.HasSuffix(id, ".lock") || strings.HasSuffix(id, "."):
		return usagef("the task id %q must not contain \"..\" or end in \".\" or \".lock\": git does not allow that in branch names", id)
	}
	return nil
}

// Run starts a run and returns its report. An error means that the run was interrupted. There is a
// report in this case, too, and [Resume] continues the run. When ctx ends, the run is cancelled.
func Run(ctx context.Context, o Options) (Report, error) { return open(ctx, o, start) }

// Review runs only the checks and the Inspector, on the existing branch of a task.
func Review(ctx context.Context, o Options) (Report, error) { return open(ctx, o, review) }

// Resume continues a run that was interrupted, or that ended for a temporary reason.
func Resume(ctx context.Context, o Options) (Report, error) { return open(ctx, o, resume) }

type mode int

const (
	start mode = iota
	review
	resume
)

func open(ctx context.Context, o Options, how mode) (Report, error) {
	if err := CheckTaskID(o.TaskID); err != nil {
		return Report{}, err
	}
	checkout, err := workspace.Open(ctx, o.Dir, o.Environ)
	if err != nil {
		return Report{}, &UsageError{err}
	}
	j, err := openJournal(checkout.Root, o.TaskID)
	if err != nil {
		return Report{}, err
	}
	defer j.close()
	if err := checkout.Exclude("/" + runsFolder + "/"); err != nil {
		return Report{}, fmt.Errorf("exclude the files of runs from commits: %w", err)
	}
	if err := checkout.CheckOutside(ctx, o.State); err != nil {
		return Report{}, &UsageError{err}
	}
	r, err := prepare(ctx, o, checkout, j, how)
	if err != nil {
		return Report{}, err
	}
	return r.run(ctx)
}

// prepare loads the record of a run or makes a new one, and reads the configuration.
func prepare(ctx context.Context, o Options, checkout *workspace.Checkout, j *journal, how mode) (*run, error) {
	rec, found, err := j.load()
	if err != nil {
		return nil, err
	}
	branch := workspace.BranchPrefix + o.TaskID
	switch how {
	case start:
		if found {
			return nil, usagef("the run %s exists already: continue it with foreman build resume, or remove it with foreman build clean", o.TaskID)
		}
		rec = record{Version: recordVersion, TaskID: o.TaskID, Prompt: o.Prompt, Source: o.Source, Branch: branch, Started: o.Now()}
		rec.Base, rec.BaseBranch, err = checkout.Base(ctx, o.Base)
		rec.Head = rec.Base
	case review:
		if !found {
			rec = record{Version: recordVersion, TaskID: o.TaskID, Prompt: o.Prompt, Source: o.Source, Branch: branch, Started: o.Now()}
			rec.Base, rec.BaseBranch, err = checkout.Base(ctx, o.Base)
		}
		if err == nil {
			rec.Head, _, err = checkout.Base(ctx, branch)
		}
		rec.Version = recordVersion
		rec.State = machine.State{Review: true, Summary: rec.State.Summary, Complexity: rec.State.Complexity, Issues: rec.State.Issues, Tasks: rec.State.Tasks}
		rec.Ended = nil
	case resume:
		if !found {
			return nil, usagef("this checkout has no run %s; foreman build status lists its runs", o.TaskID)
		}
		if rec.Version < recordVersion {
			return nil, usagef("the run %[1]s was started by an earlier version: remove it with foreman build clean --task-id %[1]s, and start it again", o.TaskID)
		}
		if rec.Ended == nil && rec.State.End != nil {
			break // the process was killed after the last step, before it wrote the report
		}
		var ok bool
		if rec.State, ok = machine.Resume(rec.State); !ok {
			return nil, usagef("the run %s cannot be resumed: it ended as %s", o.TaskID, rec.State.End)
		}
		rec.Ended = nil
	}
	if err != nil {
		return nil, &UsageError{err}
	}
	r := &run{o: o, checkout: checkout, journal: j, rec: rec}
	changed, err := workspace.Interrupted(ctx, checkout, r.folder())
	if err != nil {
		return nil, err
	}
	if len(changed) > 0 {
		return nil, usagef("files of the checkout have changed since the run %s was interrupted, perhaps by an agent: %s; look at them, then resume the run again", o.TaskID, strings.Join(changed, ", "))
	}
	err = r.configure(ctx)
	return r, err
}

// configure reads the configuration of the base commit.
func (r *run) configure(ctx context.Context) error {
	src, err := r.checkout.File(ctx, r.rec.Base, config.Name)
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	if src == nil {
		if _, err := os.Stat(filepath.Join(r.checkout.Root, config.Name)); err == nil {
			return usagef("the base commit %.12s does not contain %s: commit the file first", r.rec.Base, config.Name)
		}
		return usagef("the base commit %.12s does not contain %s: create it with foreman init --agents, then commit it", r.rec.Base, config.Name)
	}
	if r.config, err = config.Parse(src); err != nil {
		return &UsageError{err}
	}
	r.policy = machine.Policy{Rounds: r.config.Limits.Rounds, Attempts: r.config.Limits.Attempts, MinSeverity: handoff.Severity(r.config.Limits.MinSeverity)}
	return nil
}

// agent returns the agent of a role.
func (r *run) agent(ctx context.Context, s *site, role handoff.Role) (agent.Agent, error) {
	c := r.agentConfig(role)
	if c.Script == "" {
		network, back := true, contained.Back{All: true}
		if role == handoff.Inspector {
			back = contained.Back{Only: []string{c.Result, messageFile}}
		}
		return agent.Command{Runner: r.runner(s, network, back), Config: c}, nil
	}
	steps := filepath.Join(r.journal.dir, "script-"+string(role))
	if err := os.RemoveAll(steps); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(steps, 0o750); err != nil {
		return nil, err
	}
	if err := r.checkout.Folder(ctx, r.rec.Base, c.Script, steps); err != nil {
		return nil, fmt.Errorf("read the %s's script: %w", role, err)
	}
	return agent.Script{Steps: os.DirFS(steps)}, nil
}

func (r *run) agentConfig(role handoff.Role) config.Agent {
	if role == handoff.Inspector {
		return r.config.Inspector
	}
	return r.config.Builder
}

// A run is one run of the pipeline in this process.
type run struct {
	o        Options
	checkout *workspace.Checkout
	journal  *journal
	rec      record
	config   config.Config
	policy   machine.Policy
	repo     *workspace.Repository // nil before the first step
	before   string                // commit of the branch in the checkout when this process began; empty: none
	refs     map[string]string     // of the checkout when this process began
	site     *site                 // of the Builder's next start; nil: it needs a new one
}

// A site is a clone in which an agent or the checks work, and their sandbox.
type site struct {
	*workspace.Clone
	sandbox *sandbox.Session // nil unless the configuration has sandbox: docker
}

// leave removes the clone, with its containers and volumes.
func (s *site) leave() error {
	err := errors.Join(s.Remove(), os.RemoveAll(contained.Temporary(s.Dir)))
	if s.sandbox != nil {
		err = errors.Join(err, s.sandbox.Close())
	}
	return err
}

// renew replaces the sandbox, if there is one, by a new one, in which the home folder and the caches are empty.
func (s *site) renew(ctx context.Context, o sandbox.Options) error {
	if s.sandbox == nil {
		return nil
	}
	err := s.sandbox.Close()
	if s.sandbox = nil; err == nil {
		s.sandbox, err = sandbox.Open(ctx, o)
	}
	return err
}

// sandboxLocks is the directory of sandbox locks, shared by all runs of a checkout. It is never
// the folder of a run, because no task ID begins with a dot.
const sandboxLocks = runsFolder + "/.sandbox"

func (r *run) sandboxOptions() sandbox.Options {
	// The pipeline limits the time of each step itself, so the sandbox needs only a larger limit.
	limit := 2 * r.config.Limits.RunTimeout
	return sandbox.Options{
		Environ: r.o.Environ, Name: "foreman-build", Locks: filepath.Join(r.checkout.Root, filepath.FromSlash(sandboxLocks)), Now: r.o.Now, Docker: r.o.Docker,
		Settings: sandbox.Settings{CPUs: math.Inf(1), Memory: "8g", PIDs: 4096, Temp: "2g", CommandTimeout: limit, TotalTimeout: limit, MaxBytes: 4 << 30},
	}
}

// runner returns the runner of commands: this machine, or the sandbox of a clone.
func (r *run) runner(s *site, network bool, back contained.Back) agent.Runner {
	if s.sandbox == nil {
		return r.o.Runner
	}
	return contained.Runner{
		Session: s.sandbox, Image: r.config.Image, Base: r.rec.Base, Network: network, Back: back, Environ: r.o.Environ, Env: r.config.Env,
	}
}

// seen returns the path of the clone for commands; empty: its path on this machine.
func (s *site) seen() string {
	if s.sandbox == nil {
		return ""
	}
	return contained.Root
}

// run executes steps until the run ends, and writes the report.
func (r *run) run(ctx context.Context) (Report, error) {
	limited, cancel := context.WithTimeoutCause(ctx, r.config.Limits.RunTimeout, errDeadline)
	defer cancel()
	err := r.steps(limited)
	// The work is kept and the report is written even if the context has ended.
	ctx = context.WithoutCancel(ctx)
	if r.site != nil {
		err = errors.Join(err, r.site.leave())
	}
	err = errors.Join(err, r.deliver(ctx))
	ended := r.o.Now()
	r.rec.Ended = &ended
	report := newReport(r.rec, err)
	// The record is saved last: a run whose record has no end time can be resumed.
	return report, errors.Join(err, r.journal.writeReport(report), r.journal.save(r.rec))
}

// deliver writes the commits that count to the checkout, and to the bundle.
func (r *run) deliver(ctx context.Context) error {
	if end := r.rec.State.End; r.repo == nil && r.rec.Head != r.rec.Base && end != nil && end.Reason != machine.SetupFailed {
		// An earlier process was killed after the last step, before it delivered the commits.
		event, err := r.open(ctx)
		if stopped, ok := event.(machine.Stopped); ok {
			err = errors.New(stopped.Problem.Message)
		}
		if err != nil {
			return err
		}
	}
	if r.repo == nil {
		return nil
	}
	if refs, err := r.checkout.Refs(ctx); err == nil && !maps.Equal(refs, r.refs) {
		r.warn("refs of the checkout changed during the run, by you or by an agent: " + strings.Join(changedKeys(r.refs, refs), ", "))
	}
	err := r.checkout.Deliver(ctx, r.repo, r.rec.Head, r.before)
	if r.o.Bundle != "" && r.rec.Head != r.rec.Base {
		err = errors.Join(err, r.repo.Bundle(ctx, r.o.Bundle, r.rec.Base))
	}
	return err
}

// changedKeys returns the keys whose values differ, sorted.
func changedKeys(before, now map[string]string) []string {
	all := maps.Clone(before)
	maps.Copy(all, now)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(key string) bool { return before[key] == now[key] })
}

// folder returns the folder with the run's repository and clones.
func (r *run) folder() string { return filepath.Join(r.o.State, r.rec.TaskID) }

var errDeadline = errors.New("the run took longer than limits.run_timeout")

func (r *run) steps(ctx context.Context) error {
	var event machine.Event = machine.Begun{}
	for {
		var action machine.Action
		r.rec.State, action = machine.Next(r.rec.State, event, r.policy)
		if err := errors.Join(r.journal.append(r.o.Now(), event, action), r.journal.save(r.rec)); err != nil && !full(err) {
			return fmt.Errorf("store the state: %w", err)
		} else if err != nil && action != machine.DoEnd {
			event = machine.Stopped{Reason: machine.DiskFull, Problem: problem("<run>", "disk_full", err.Error())}
			continue
		}
		if action == machine.DoEnd {
			return nil
		}
		if r.o.Progress != nil {
			r.o.Progress(Progress{Action: action, Round: r.rec.State.Round, Attempt: r.rec.State.Attempt, Outcome: outcome(event)})
		}
		var err error
		if event, err = r.step(ctx, action); err != nil {
			if event = r.stopped(ctx, err); event == nil {
				return err
			}
		}
	}
}

// outcome describes the result of a step for people; empty if the next step shows it anyway.
func outcome(event machine.Event) string {
	switch e := event.(type) {
	case machine.Built:
		if e.Verdict != machine.Valid {
			return "the run of the Builder does not count: " + messages(e.Problems)
		}
		if e.Warning != "" {
			return "the Builder: " + e.Summary + " (" + e.Warning + ")"
		}
		return "the Builder: " + e.Summary
	case machine.Checked:
		for _, c := range e.Checks {
			if c.Required && !c.Passed {
				return "the required check " + c.Name + " fails"
			}
		}
	case machine.Inspected:
		if e.Verdict != machine.Valid {
			return "the run of the Inspector does not count: " + messages(e.Problems)
		}
		var found []string
		for _, i := range e.Issues {
			found = append(found, string(i.Severity)+": "+i.Description)
		}
		if e.Warning != "" {
			found = append(found, e.Warning)
		}
		return "the Inspector asks for changes: " + strings.Join(found, "; ")
	}
	return ""
}

func messages(problems []handoff.Problem) string {
	var all []string
	for _, p := range problems {
		all = append(all, p.Message)
	}
	return strings.Join(all, "; ")
}

// stopped returns the event for an error that ends the run. It returns nil if the cause is this
// machine, so that the run can be resumed.
func (r *run) stopped(ctx context.Context, err error) machine.Event {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errDeadline):
		return machine.Stopped{Reason: machine.Timeout, Problem: problem("<run>", "deadline", cause.Error())}
	case cause != nil:
		return machine.Stopped{Reason: machine.Cancelled, Problem: problem("<run>", "cancelled", "the run was cancelled")}
	case full(err) || full(r.noSpace()): // git reports a full disk only as text, so noSpace checks
		return machine.Stopped{Reason: machine.DiskFull, Problem: problem("<run>", "disk_full", err.Error())}
	}
	return nil
}

// full reports whether an error means that the disk or the user's quota is used up.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

func problem(path, code, message string) handoff.Problem {
	return handoff.Problem{Path: path, Code: code, Message: message}
}

func (r *run) warn(text string) {
	if r.o.Progress != nil {
		r.o.Progress(Progress{Outcome: "warning: " + text})
	}
}

func (r *run) progress(action machine.Action, command, line string) {
	if r.o.Progress != nil {
		r.o.Progress(Progress{Action: action, Round: r.rec.State.Round, Attempt: r.rec.State.Attempt, Command: command, Line: line})
	}
}

// Clean removes a run: its repository and clones, its branch, and its folder in .foreman/runs. It returns
// the bytes of the repository and the clones. It returns an error if the run is in progress.
func Clean(ctx context.Context, o Options) (bytes int64, err error) {
	if err := CheckTaskID(o.TaskID); err != nil {
		return 0, err
	}
	checkout, err := workspace.Open(ctx, o.Dir, o.Environ)
	if err != nil {
		return 0, &UsageError{err}
	}
	if _, err := os.Stat(filepath.Join(checkout.Root, runsFolder, o.TaskID)); errors.Is(err, fs.ErrNotExist) {
		return 0, usagef("this checkout has no run %s; foreman build status lists its runs", o.TaskID)
	}
	j, err := openJournal(checkout.Root, o.TaskID)
	if err != nil {
		return 0, err
	}
	defer j.close()
	folder := filepath.Join(o.State, o.TaskID)
	if err := checkout.Forget(ctx, workspace.BranchPrefix+o.TaskID, folder, filepath.Join(o.Former, o.TaskID)); err != nil {
		return 0, fmt.Errorf("remove the run %s: %w", o.TaskID, err)
	}
	bytes = workspace.Size(folder)
	return bytes, errors.Join(workspace.Remove(folder), workspace.Remove(j.dir))
}
