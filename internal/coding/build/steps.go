package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/coding/build/config"
	"github.com/org/foreman-action/internal/coding/build/contained"
	"github.com/org/foreman-action/internal/coding/build/machine"
	"github.com/org/foreman-action/internal/coding/build/process"
	"github.com/org/foreman-action/internal/coding/build/workspace"
	"github.com/org/foreman-action/internal/coding/sandbox"
	"github.com/org/foreman-action/internal/handoff"
	"github.com/org/foreman-action/internal/workdir"
)

// step executes an action. Its error either ends the run or interrupts it, so that it can be
// resumed.
func (r *run) step(ctx context.Context, action machine.Action) (machine.Event, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if r.repo == nil {
		if event, err := r.open(ctx); err != nil || event != nil {
			return event, err
		}
	}
	switch action {
	case machine.DoSetup:
		event, err := r.enterBuilder(ctx)
		if err != nil || event != nil {
			return event, err
		}
		return machine.SetupDone{}, nil
	case machine.DoBuild:
		return r.build(ctx)
	case machine.DoChecks:
		return r.checks(ctx)
	case machine.DoDiff:
		return r.diff(ctx)
	case machine.DoInspect:
		return r.inspect(ctx)
	case machine.DoEnd:
	}
	return nil, fmt.Errorf("there is no step %s", action)
}

// open opens the repository of the run. The event is nil on success.
func (r *run) open(ctx context.Context) (machine.Event, error) {
	if err := os.MkdirAll(r.folder(), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the run: %w", err)
	}
	before, err := r.checkout.Branch(ctx, r.rec.Branch)
	var repo *workspace.Repository
	if err == nil {
		repo, err = workspace.NewRepository(ctx, r.checkout, workspace.Options{
			Dir: r.folder(), Branch: r.rec.Branch, Commit: r.rec.Head, Base: r.rec.BaseBranch, Hidden: []string{"/" + runsFolder + "/", "/" + handoffFolder + "/"},
		})
	}
	if err == nil && before != "" {
		err = repo.Contains(ctx, before)
	}
	if err != nil {
		return machine.Stopped{Reason: machine.SetupFailed, Problem: problem("<setup>", "repository", err.Error())}, context.Cause(ctx)
	}
	r.repo, r.before = repo, before
	if r.refs, err = r.checkout.Refs(ctx); err != nil {
		return nil, err
	}
	dirty, err := r.checkout.Dirty(ctx)
	if dirty {
		r.warn(fmt.Sprintf("the checkout has uncommitted changes, which the run does not see: it starts from the commit %.12s", r.rec.Head))
	}
	return nil, err
}

// enter makes a clone at the last commit that counts. The caller leaves it.
func (r *run) enter(ctx context.Context, name string, steering workspace.Steering) (*site, error) {
	clone, err := workspace.NewClone(ctx, r.repo, name, steering)
	if err != nil {
		return nil, err
	}
	s := &site{Clone: clone}
	if r.config.Sandbox == config.Docker {
		if s.sandbox, err = sandbox.Open(ctx, r.sandboxOptions()); err != nil {
			return nil, errors.Join(err, clone.Remove())
		}
	}
	return s, nil
}

// enterBuilder makes the clone for the Builder's next start, with the consumer's setup. The event is nil
// on success.
func (r *run) enterBuilder(ctx context.Context) (machine.Event, error) {
	s, err := r.enter(ctx, "builder", workspace.Steering{})
	if err != nil {
		if r.config.Sandbox == config.Docker || context.Cause(ctx) != nil {
			return nil, err
		}
		return machine.Stopped{Reason: machine.SetupFailed, Problem: problem("<setup>", "clone", err.Error())}, nil
	}
	r.site = s
	failed, found, err := r.setup(ctx, s, "")
	if err != nil {
		return nil, err
	}
	if event := violation(found, ""); event != nil {
		return event, nil
	}
	if failed != nil {
		return machine.Stopped{Reason: machine.SetupFailed, Problem: problem("<setup>", "failed", failed.Name+" "+failed.Output)}, nil
	}
	return nil, nil
}

// setup runs the consumer's setup commands in a clone. of is the role or step that the clone is for;
// empty: the Builder. It returns the command that failed, if one did, and the files that a command changed
// outside of the clone.
func (r *run) setup(ctx context.Context, s *site, of string) (failed *machine.Check, found []string, err error) {
	for i, command := range r.config.Setup {
		name := setupStep
		if of != "" {
			name = of + "-" + setupStep
		}
		result, output, found, err := r.command(ctx, s, name, i+1, command)
		if err != nil && !ofCommand(err) || len(found) > 0 {
			return nil, found, err
		}
		if err == nil && result.OK() {
			continue
		}
		message := ending(result, err)
		if output != "" {
			message += ":\n" + output
		}
		return &machine.Check{Name: strings.Join(command, " "), Required: true, Output: message}, nil, nil
	}
	return nil, nil, nil
}

// violation returns the event for changes of a command outside of its clone; nil for none.
func violation(found []string, role handoff.Role) machine.Event {
	if len(found) == 0 {
		return nil
	}
	return machine.Stopped{Reason: machine.PolicyBroken, Role: role, Problem: outside(found)}
}

func outside(found []string) handoff.Problem {
	return problem("<worktree>", "outside", "it changed files outside of its clone, which were restored: "+strings.Join(found, ", "))
}

// tailBytes is the most bytes of a command's output in prompts and reports.
const tailBytes = 16 << 10

// The kinds of commands in the configuration. The folders with their logs have the same names.
const (
	setupStep = "setup"
	checkStep = "check"
)

// command runs a setup or check command of the configuration in a clone, within its limits. It
// returns the end of the command's output, and the files that it changed outside of the clone.
func (r *run) command(ctx context.Context, s *site, name string, n int, args []string) (result process.Result, output string, found []string, err error) {
	dir, err := r.journal.attempt(r.rec.State.Round, name, n)
	if err != nil {
		return result, "", nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log.txt"))
	if err != nil {
		return result, "", nil, err
	}
	defer log.Close()
	guard, err := workspace.Watch(ctx, r.checkout, r.folder())
	if err != nil {
		return result, "", nil, err
	}
	title := strings.Join(args, " ")
	r.progress(action(r.rec.State), title, "")
	out := &lines{to: log, each: func(line string) { r.progress(action(r.rec.State), title, line) }}
	network, back := false, contained.Back{} // changes by a check are dropped
	if strings.HasSuffix(name, setupStep) {
		network, back.All = true, true
	}
	result, err = r.runner(s, network, back).Run(ctx, process.Command{
		Args: args, Dir: s.Dir, Env: r.env(), Output: out, LogBytes: int64(r.config.Limits.LogBytes), Grace: time.Second,
	})
	found, guardErr := guard.Check(context.WithoutCancel(ctx), filepath.Join(dir, "outside"))
	switch {
	case guardErr != nil:
		err = fmt.Errorf("restore the files that a command changed: %w", guardErr)
	case context.Cause(ctx) != nil:
		err = context.Cause(ctx)
	}
	return result, out.tail(), found, err
}

func action(s machine.State) machine.Action { return machine.Action(s.Phase) }

// env returns the environment of commands. It names an author for the commits of agents, because
// git finds no configuration in the empty home folder.
func (r *run) env() []string {
	env := process.Environment(r.o.Environ, r.config.Env)
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		env = append(env, "GIT_"+who+"_NAME="+r.config.Commit.Name, "GIT_"+who+"_EMAIL="+r.config.Commit.Email)
	}
	return env
}

// ofCommand reports whether a command is the cause of an error: it failed.
func ofCommand(err error) bool {
	return errors.Is(err, process.ErrNotStarted) || errors.Is(err, sandbox.ErrTooLarge)
}

// ending describes how a command ended, as in "took too long".
func ending(result process.Result, err error) string {
	switch {
	case errors.Is(err, sandbox.ErrTooLarge):
		return "exceeded the size limit: " + err.Error()
	case err != nil:
		return "did not start: " + err.Error()
	case result.Cause == process.TimedOut:
		return "took too long"
	case result.Cause == process.Idle:
		return "printed nothing for too long"
	default:
		return "ended with exit code " + strconv.Itoa(result.ExitCode)
	}
}

// checks runs the consumer's commands that judge the Builder's work, in a clone of the commit: files that
// it lacks, such as ignored ones, do not count. The commands execute the Builder's code, so the guard
// watches them like an agent.
func (r *run) checks(ctx context.Context) (event machine.Event, err error) {
	done := machine.Checked{Checks: []machine.Check{}}
	if len(r.config.Checks) == 0 {
		return done, nil
	}
	s, err := r.enter(ctx, "checks", workspace.Steering{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.leave()) }()
	failed, found, err := r.setup(ctx, s, checkStep)
	if err != nil {
		return nil, err
	}
	if event := violation(found, handoff.Builder); event != nil {
		return event, nil
	}
	if failed != nil { // it passed for the Builder, so the change is the cause
		failed.Name = "setup: " + failed.Name
		return machine.Checked{Checks: []machine.Check{*failed}}, r.noSpace()
	}
	for i, check := range r.config.Checks {
		if i > 0 { // changes of a check are dropped
			if err := s.Restore(ctx); err != nil {
				return nil, err
			}
		}
		result, output, found, err := r.command(ctx, s, checkStep, i+1, check.Run)
		if err != nil && !ofCommand(err) {
			return nil, err
		}
		if event := violation(found, handoff.Builder); event != nil {
			return event, nil
		}
		c := machine.Check{Name: check.Title(), Required: check.Required, Passed: err == nil && result.OK()}
		if !c.Passed {
			c.Output = output + "\n" + ending(result, err) + "\n"
			if err := r.noSpace(); err != nil {
				return nil, err
			}
		}
		done.Checks = append(done.Checks, c)
	}
	return done, nil
}

// diff writes the changes of the branch to a file. The Inspector and people read it.
func (r *run) diff(ctx context.Context) (machine.Event, error) {
	diff, cut, stat, err := r.repo.Diff(ctx, r.rec.Base, int(r.config.Limits.DiffBytes))
	if err != nil {
		return nil, err
	}
	steering, err := r.repo.Steering(ctx, r.rec.Base, r.rec.Head)
	if err != nil {
		return nil, fmt.Errorf("find the files that steer agents: %w", err)
	}
	r.rec.DiffBytes, r.rec.Steering = len(diff), steering.Paths()
	folder := workdir.Dir(r.journal.dir)
	if err := errors.Join(folder.Write("change.diff", diff), folder.Write("change.stat", []byte(stat))); err != nil {
		return nil, err
	}
	if cut {
		err = folder.Write("change.cut", nil)
	} else {
		err = os.RemoveAll(filepath.Join(r.journal.dir, "change.cut"))
	}
	return machine.Diffed{Empty: stat == ""}, err
}

// noSpace returns an error if the disk is full. It explains why a command failed.
func (r *run) noSpace() error {
	const probe = 64 << 10
	for _, dir := range []string{r.journal.dir, r.folder()} {
		file, err := os.CreateTemp(dir, ".probe-") // under a new name, so that it is no link or pipe
		if err == nil {
			_, err = file.Write(make([]byte, probe))
			err = errors.Join(err, file.Close(), os.Remove(file.Name()))
		}
		if full(err) {
			return err
		}
	}
	return nil
}

// A lines forwards output, calls each with every line, and keeps the end of the output.
type lines struct {
	to   io.Writer
	each func(string)
	part []byte // of a line whose end has not been written yet
	last []byte // the end of the whole output
}

// maxLine is the most bytes of a line that are kept.
const maxLine = 4 << 10

func (l *lines) Write(p []byte) (int, error) {
	l.last = append(l.last, p...)
	if len(l.last) > 2*tailBytes {
		l.last = append(l.last[:0], l.last[len(l.last)-tailBytes:]...)
	}
	l.part = append(l.part, p...)
	for {
		line, rest, ok := bytes.Cut(l.part, []byte{'\n'})
		if !ok {
			break
		}
		l.each(strings.ToValidUTF8(string(line[:min(len(line), maxLine)]), "\uFFFD"))
		l.part = rest
	}
	if len(l.part) > maxLine {
		l.part = append([]byte(nil), l.part[:maxLine]...)
	}
	return l.to.Write(p)
}

// tail returns the end of the output.
func (l *lines) tail() string {
	end := l.last[max(0, len(l.last)-tailBytes):]
	return strings.TrimSpace(strings.ToValidUTF8(string(end), "\uFFFD"))
}
