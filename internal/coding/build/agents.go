package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/coding/build/agent"
	"github.com/org/foreman-action/internal/coding/build/config"
	"github.com/org/foreman-action/internal/coding/build/contained"
	"github.com/org/foreman-action/internal/coding/build/machine"
	"github.com/org/foreman-action/internal/coding/build/process"
	"github.com/org/foreman-action/internal/coding/build/prompt"
	"github.com/org/foreman-action/internal/coding/build/workspace"
	"github.com/org/foreman-action/internal/handoff"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/workdir"
)

// The paths of the files of one agent run, relative to the clone.
const (
	promptFile  = handoffFolder + "/prompt.md"
	messageFile = handoffFolder + "/message"
	schemaFile  = handoffFolder + "/schema.json"
	diffFile    = handoffFolder + "/change.diff"
)

// maxResult is the most bytes of a result.
const maxResult = 1 << 20

// build runs the Builder once. If its result is valid, build commits its work. The clone is used once:
// the agent may have broken it.
func (r *run) build(ctx context.Context) (event machine.Event, err error) {
	if r.site == nil {
		if event, err := r.enterBuilder(ctx); err != nil || event != nil {
			return event, err
		}
	}
	before := r.rec.Head
	defer func() {
		if r.rec.Head == before {
			r.keep(context.WithoutCancel(ctx))
		}
		err = errors.Join(err, r.site.leave())
		r.site = nil
	}()
	ended, err := r.runAgent(ctx, r.site, handoff.Builder)
	if err != nil {
		return nil, err
	}
	result, gate := handoff.GateBuilder(ended.data)
	built := machine.Built{}
	built.Verdict, built.Problems = ended.judge(gate, result.Run)
	if built.Verdict != machine.Valid {
		return built, nil
	}
	head, note, err := r.site.Commit(ctx, r.change(message(result.Work.Summary, r.rec.TaskID)))
	if unfit, ok := errors.AsType[*workspace.UnfitError](err); ok && r.noSpace() == nil {
		built.Verdict, built.Problems = machine.Invalid, []handoff.Problem{problem("<worktree>", "not_committed", "the files cannot be committed: "+unfit.Error())}
		return built, nil
	}
	if err != nil {
		return nil, err
	}
	same, err := r.repo.SameTree(ctx, before, head)
	if err != nil {
		return nil, err
	}
	built.Warning = ended.warning()
	if note != "" {
		built.Warning = strings.TrimPrefix(built.Warning+"; "+note, "; ")
	}
	built.Summary, built.Complexity, built.Changed = result.Work.Summary, string(result.Work.Complexity), !same
	r.rec.Head = head
	return built, nil
}

// change returns the input for a commit of the Builder's clone.
func (r *run) change(message string) workspace.Change {
	return workspace.Change{Start: r.rec.Head, By: workspace.Author(r.config.Commit), Message: message, Without: HandoffFiles(r.config)}
}

// keep stores the work of an attempt of the Builder that does not count, for people. It may fail, for
// example because git cannot commit the files.
func (r *run) keep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, maxKeep)
	defer cancel()
	name := fmt.Sprintf("attempts/%d-%d", r.rec.State.Round, r.rec.State.Attempt)
	_ = r.site.Keep(ctx, name, r.change("An attempt that does not count\n\nTask: "+r.rec.TaskID+"\n"))
}

// maxKeep is how long the run waits for the work of an attempt that does not count.
const maxKeep = 10 * time.Second

// message returns the message of Foreman's own commit: the Builder's summary, its first
// line as the subject.
func message(summary, taskID string) string {
	// Unsanitized text of an agent could close issues ("fixes #1") and mention people.
	summary = strings.TrimSpace(sanitize.Comment(summary, sanitize.Options{}))
	subject, rest, _ := strings.Cut(summary, "\n")
	const most = 72
	if runes := []rune(subject); len(runes) > most {
		subject, rest = string(runes[:most-1])+"…", summary
	}
	text := subject + "\n"
	if rest = strings.TrimSpace(rest); rest != "" {
		text += "\n" + rest + "\n"
	}
	return text + "\nTask: " + taskID + "\n"
}

// HandoffFiles returns the paths of the files that agents and Foreman exchange. No commit may
// contain them.
func HandoffFiles(c config.Config) []string {
	files := []string{handoffFolder, c.Builder.Result, c.Inspector.Result, handoff.Builder.ResultFile(), handoff.Inspector.ResultFile()}
	slices.Sort(files)
	return slices.Compact(files)
}

// inspect runs the Inspector once, in a clone of its own. The change does not choose the Inspector's
// instructions and tools: files that steer agents are as in the base commit.
func (r *run) inspect(ctx context.Context) (event machine.Event, err error) {
	steering, err := r.repo.Steering(ctx, r.rec.Base, r.rec.Head)
	if err != nil {
		return nil, fmt.Errorf("find the files that steer agents: %w", err)
	}
	s, err := r.enter(ctx, "inspector", steering)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.leave()) }()
	if r.config.Inspector.Setup {
		failed, found, err := r.setup(ctx, s, string(handoff.Inspector))
		if err != nil {
			return nil, err
		}
		if event := violation(found, handoff.Builder); event != nil {
			return event, nil
		}
		if failed != nil {
			return machine.Stopped{Reason: machine.SetupFailed, Problem: problem("<setup>", "failed", "for the Inspector: "+failed.Name+" "+failed.Output)}, nil
		}
		// The setup has run code of the change.
		if err := errors.Join(s.Restore(ctx), s.RemoveSteering(ctx), s.renew(ctx, r.sandboxOptions())); err != nil {
			return nil, fmt.Errorf("restore the clone of the Inspector after the setup: %w", err)
		}
	}
	ended, err := r.runAgent(ctx, s, handoff.Inspector)
	if err != nil {
		return nil, err
	}
	result, gate := handoff.GateInspector(ended.data)
	inspected := machine.Inspected{}
	inspected.Verdict, inspected.Problems = ended.judge(gate, result.Run)
	if inspected.Verdict == machine.Valid {
		inspected.Warning = ended.warning()
		inspected.Approved = result.Work.Status == handoff.Approved
		inspected.Issues, inspected.Tasks = result.Work.Issues, result.Work.NextTasks
	}
	return inspected, nil
}

// An ended is the outcome of one run of an agent.
type ended struct {
	result  process.Result
	failure error    // it did not start, or a script has no step for it
	changed []string // forbidden changes
	data    []byte   // content of the result file; nil: no file
	settled bool     // the result had not changed for the idle timeout
	problem *handoff.Problem
}

// hangs reports whether the agent was ended because it took too long or printed nothing.
func (e ended) hangs() bool {
	return e.result.Cause == process.TimedOut || e.result.Cause == process.Idle
}

// warning describes an irregular end of a run that counts; empty: none.
func (e ended) warning() string {
	if !e.hangs() {
		return ""
	}
	return "it " + ending(e.result, nil) + " after its result, and was ended"
}

// judge returns the verdict on a run, and the problems.
func (e ended) judge(gate handoff.Gate, run handoff.Run) (machine.Verdict, []handoff.Problem) {
	switch {
	case gate.State == handoff.StateFailed:
		step, message := "the run", "no reason given"
		if run.FailedStep != nil {
			step = *run.FailedStep
		}
		if run.Error != nil {
			message = *run.Error
		}
		return machine.Reported, []handoff.Problem{problem("run", "failed", step+" failed: "+message)}
	case len(e.changed) > 0:
		return machine.Violated, []handoff.Problem{outside(e.changed)}
	case e.hangs() && (gate.State != handoff.StateValid || !e.settled):
		return machine.OutOfTime, []handoff.Problem{problem("<run>", "timeout", "the agent "+ending(e.result, nil))}
	case e.failure != nil || !e.result.OK() && !e.hangs():
		return machine.Crashed, []handoff.Problem{problem("<run>", "crashed", "the agent "+ending(e.result, e.failure))}
	case e.problem != nil:
		return machine.Invalid, []handoff.Problem{*e.problem}
	case gate.State == handoff.StateMissing:
		return machine.Invalid, []handoff.Problem{problem(handoff.Root, "file_not_found", "the agent left no result")}
	case gate.State != handoff.StateValid:
		return machine.Invalid, gate.Problems
	}
	return machine.Valid, nil
}

// runAgent runs an agent once in a clone, and restores protected files of the checkout.
func (r *run) runAgent(ctx context.Context, s *site, role handoff.Role) (ended, error) {
	var e ended
	if r.rec.Runs == nil {
		r.rec.Runs = map[string]int{}
	}
	r.rec.Runs[string(role)]++
	dir, err := r.journal.attempt(r.rec.State.Round, string(role), r.rec.State.Attempt)
	if err != nil {
		return e, err
	}
	in, err := r.invocation(ctx, s, role, dir)
	if err != nil {
		return e, err
	}
	log, err := os.Create(filepath.Join(dir, "log.txt"))
	if err != nil {
		return e, err
	}
	defer log.Close()
	step := action(r.rec.State)
	in.Log = &lines{to: log, each: func(line string) { r.progress(step, string(role), line) }}
	a, err := r.agent(ctx, s, role)
	if err != nil {
		return e, err
	}
	result := r.agentConfig(role).Result
	guard, err := workspace.Watch(ctx, r.checkout, r.folder())
	if err != nil {
		return e, err
	}
	e.result, e.failure = a.Run(ctx, in)
	if e.changed, err = guard.Check(context.WithoutCancel(ctx), filepath.Join(dir, "outside")); err != nil {
		return e, fmt.Errorf("restore the files that the %s changed: %w", role, err)
	}
	if role == handoff.Inspector {
		inside, err := s.Changed(ctx, []string{result})
		if err != nil {
			return e, fmt.Errorf("find the files that the %s changed: %w", role, err)
		}
		e.changed = append(e.changed, inside...)
	}
	if err := context.Cause(ctx); err != nil {
		return e, err
	}
	if full(e.failure) || errors.Is(e.failure, contained.ErrBroken) || errors.Is(e.failure, process.ErrLost) {
		return e, e.failure
	}
	if e.failure != nil || !e.result.OK() {
		if err := r.noSpace(); err != nil {
			return e, err
		}
	}
	e.data, e.problem = readResult(s.Dir, result)
	e.settled = e.hangs() && settled(s.Dir, r.agentConfig(role), e.result.Cause, r.o.Now())
	return e, keep(dir, e)
}

// settled reports whether an agent had finished when it was ended, at the time now: neither its result nor a file of
// its clone had changed for the idle timeout.
func settled(dir string, c config.Agent, cause process.Cause, now time.Time) bool {
	printed := c.From == config.Message && !c.Uses("message_file")
	if printed && cause != process.Idle {
		return false // it may have printed the result just before
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	limit, settled := now.Add(-c.Idle), true
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == ".git" && d.IsDir() || workspace.TooDeep(name) {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || c.From == config.Message && name == c.Result { // Foreman has just written this result
			return nil
		}
		info, err := d.Info()
		if err == nil && info.ModTime().After(limit) {
			settled = false
			return fs.SkipAll
		}
		return nil // a file that has been removed meanwhile
	})
	return err == nil && settled
}

// readResult returns the content of an agent's result file; nil if the file does not exist. A file
// that cannot be read, such as one behind a link, is a problem.
func readResult(dir, name string) ([]byte, *handoff.Problem) {
	data, err := workdir.Dir(dir).Read(name, maxResult)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		p := problem(name, "unreadable", fmt.Sprintf("the result %s cannot be read: %v", name, err))
		return nil, &p
	case data == nil:
		data = []byte{}
	}
	return data, nil
}

// keep stores the outcome of an agent run in the folder of the attempt.
func keep(dir string, e ended) error {
	about := struct {
		Cause     process.Cause `json:"cause"`
		ExitCode  int           `json:"exit_code"`
		Seconds   float64       `json:"seconds"`
		Left      int           `json:"processes_left"`
		Truncated bool          `json:"log_truncated"`
		Changed   []string      `json:"put_back,omitempty"`
		Failure   string        `json:"failure,omitempty"`
	}{e.result.Cause, e.result.ExitCode, e.result.Wall.Round(time.Millisecond).Seconds(), e.result.Left, e.result.Truncated, e.changed, ""}
	if e.failure != nil {
		about.Failure = e.failure.Error()
	}
	data, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return err
	}
	files := workdir.Dir(dir)
	if e.data != nil {
		err = files.Write("result.json", e.data)
	}
	return errors.Join(err, files.Write("meta.json", append(data, '\n')))
}

// clearHandoff removes files in place of those of an agent's run, which the change may contain or a command may
// have made. So a committed result never counts.
func clearHandoff(dir, result string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if info, err := root.Lstat(".foreman"); err == nil && !info.IsDir() {
		if err := root.Remove(".foreman"); err != nil {
			return err
		}
	}
	for _, name := range []string{handoffFolder, result} {
		if err := root.RemoveAll(name); err != nil {
			return fmt.Errorf("remove %s from the clone: %w", name, err)
		}
	}
	return nil
}

// invocation writes the files that an agent run needs, and returns its invocation.
func (r *run) invocation(ctx context.Context, s *site, role handoff.Role, dir string) (agent.Invocation, error) {
	c := r.agentConfig(role)
	if err := clearHandoff(s.Dir, c.Result); err != nil {
		return agent.Invocation{}, err
	}
	input, err := r.input(ctx, role)
	if err != nil {
		return agent.Invocation{}, err
	}
	text := prompt.Write(input)
	schema, err := fs.ReadFile(handoff.Schemas(), string(role)+"-result.json")
	if err != nil {
		return agent.Invocation{}, err
	}
	files := workdir.Dir(s.Dir)
	err = errors.Join(files.Write(schemaFile, schema), workdir.Dir(dir).Write("prompt.md", []byte(text)))
	if err == nil && (input.ResultMark == "" || c.Uses("prompt_file")) { // every tool could read the mark there
		err = files.Write(promptFile, []byte(text))
	}
	if err == nil && role == handoff.Inspector {
		var diff []byte
		if diff, err = r.journal.read("change.diff"); err == nil {
			err = files.Write(diffFile, diff)
		}
	}
	return agent.Invocation{
		Role: string(role), Number: r.rec.Runs[string(role)], Dir: s.Dir, Seen: s.seen(), Prompt: text, LogSize: int64(r.config.Limits.LogBytes), Env: r.env(),
		Title:      fmt.Sprintf("%s %s round %d run %d", strings.ToUpper(string(role)), r.rec.TaskID, r.rec.State.Round, r.rec.State.Attempt),
		PromptFile: promptFile, ResultFile: c.Result, MessageFile: messageFile, SchemaFile: schemaFile,
		ResultMark: input.ResultMark,
	}, err
}

// input returns the data of a prompt.
func (r *run) input(ctx context.Context, role handoff.Role) (prompt.Input, error) {
	in := prompt.Input{Role: role, Task: r.rec.Prompt, State: r.rec.State, Base: r.rec.Base, Mark: r.o.Mark()}
	instructions, err := r.checkout.File(ctx, r.rec.Base, ".foreman/"+string(role)+".md")
	if err != nil {
		return in, err
	}
	in.Instructions = string(instructions)
	c := r.agentConfig(role)
	switch {
	case c.From == config.File:
		in.ResultFile = c.Result
	case !c.Uses("message_file"): // a message file contains nothing but the message
		in.ResultMark = r.o.Mark()
	}
	for _, check := range r.config.Checks {
		in.Checks = append(in.Checks, check.Title())
	}
	if role == handoff.Builder {
		return in, nil
	}
	stat, err := r.journal.read("change.stat")
	if err != nil {
		return in, err
	}
	in.Steering = r.rec.Steering
	_, cut := os.Stat(filepath.Join(r.journal.dir, "change.cut"))
	in.DiffFile, in.DiffStat, in.DiffCut = diffFile, string(stat), cut == nil
	return in, nil
}

// Prompt returns the prompt that a role would receive now. If no run of the task is stored, it is
// the first prompt of a new run.
func Prompt(ctx context.Context, o Options, role handoff.Role) (string, error) {
	if err := CheckTaskID(o.TaskID); err != nil {
		return "", err
	}
	checkout, err := workspace.Open(ctx, o.Dir, o.Environ)
	if err != nil {
		return "", &UsageError{err}
	}
	dir := filepath.Join(checkout.Root, runsFolder, o.TaskID)
	rec, err := readRecord(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && role == handoff.Inspector:
		return "", usagef("there is no run %s, and an Inspector's prompt needs the change of a run", o.TaskID)
	case errors.Is(err, fs.ErrNotExist):
		rec = record{TaskID: o.TaskID, Prompt: o.Prompt, State: machine.State{Round: 1, Attempt: 1}}
		if rec.Base, _, err = checkout.Base(ctx, o.Base); err != nil {
			return "", &UsageError{err}
		}
	case err != nil:
		return "", err
	}
	r := &run{o: o, checkout: checkout, journal: &journal{dir: dir}, rec: rec}
	if err := r.configure(ctx); err != nil {
		return "", err
	}
	in, err := r.input(ctx, role)
	if errors.Is(err, fs.ErrNotExist) {
		return "", usagef("the run %s has not reached the Inspector yet", o.TaskID)
	}
	return prompt.Write(in), err
}
