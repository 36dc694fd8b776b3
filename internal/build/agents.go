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

	"github.com/org/foreman-action/handoff"
	"github.com/org/foreman-action/internal/build/agent"
	"github.com/org/foreman-action/internal/build/config"
	"github.com/org/foreman-action/internal/build/contained"
	"github.com/org/foreman-action/internal/build/machine"
	"github.com/org/foreman-action/internal/build/process"
	"github.com/org/foreman-action/internal/build/prompt"
	"github.com/org/foreman-action/internal/build/workspace"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/workdir"
)

// The paths of the files of one agent run, relative to the worktree.
const (
	promptFile  = handoffFolder + "/prompt.md"
	messageFile = handoffFolder + "/message"
	schemaFile  = handoffFolder + "/schema.json"
	diffFile    = handoffFolder + "/change.diff"
)

// maxResult is the most bytes of a result.
const maxResult = 1 << 20

// build runs the Builder once. If its result is valid, build commits its work.
func (r *run) build(ctx context.Context) (machine.Event, error) {
	start := r.rec.Head
	ended, err := r.runAgent(ctx, handoff.Builder)
	if err != nil {
		return nil, err
	}
	result, gate := handoff.GateBuilder(ended.data)
	event := machine.Built{}
	event.Verdict, event.Problems = ended.judge(gate, result.Run)
	if event.Verdict != machine.Valid {
		return event, r.tree.Reset(ctx, start)
	}
	event.Warning = ended.warning()
	event.Summary, event.Complexity = result.Work.Summary, string(result.Work.Complexity)
	author := workspace.Author{Name: r.config.Commit.Name, Email: r.config.Commit.Email}
	head, err := r.tree.Commit(ctx, start, author, r.message(result.Work.Summary), HandoffFiles(r.config))
	if unfit, ok := errors.AsType[*workspace.UnfitError](err); ok && r.noSpace() == nil {
		event.Verdict, event.Problems = machine.Invalid, []handoff.Problem{problem("<worktree>", "not_committed", "the files cannot be committed: "+unfit.Error())}
		event.Summary, event.Complexity = "", ""
		return event, r.tree.Reset(ctx, start)
	}
	if err != nil {
		return nil, err
	}
	same, err := r.tree.SameTree(ctx, start, head)
	if err != nil {
		return nil, err
	}
	event.Changed = !same
	r.rec.Head = head
	return event, nil
}

// message returns the message of Foreman's own commit: the Builder's summary, its first
// line as the subject.
func (r *run) message(summary string) string {
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
	return text + "\nTask: " + r.rec.TaskID + "\n"
}

// HandoffFiles returns the paths of the files that agents and Foreman exchange. No commit may
// contain them.
func HandoffFiles(c config.Config) []string {
	files := []string{handoffFolder, c.Builder.Result, c.Inspector.Result, handoff.Builder.ResultFile(), handoff.Inspector.ResultFile()}
	slices.Sort(files)
	return slices.Compact(files)
}

// inspect runs the Inspector once. The change does not choose the Inspector's instructions and tools:
// files that steer agents are as in the base commit.
func (r *run) inspect(ctx context.Context) (machine.Event, error) {
	steering, err := r.steering(ctx)
	if err == nil {
		err = steering.Undo(ctx, r.tree)
	}
	if err != nil {
		return nil, fmt.Errorf("restore the files that steer agents: %w", err)
	}
	ended, err := r.runAgent(ctx, handoff.Inspector)
	if err != nil {
		return nil, err
	}
	result, gate := handoff.GateInspector(ended.data)
	event := machine.Inspected{}
	event.Verdict, event.Problems = ended.judge(gate, result.Run)
	if event.Verdict == machine.Valid {
		event.Warning = ended.warning()
		event.Approved = result.Work.Status == handoff.Approved
		event.Issues, event.Tasks = result.Work.Issues, result.Work.NextTasks
	}
	return event, r.tree.Reset(ctx, r.rec.Head)
}

// steering returns the changed files from which agents take instructions.
func (r *run) steering(ctx context.Context) (workspace.Steering, error) {
	return workspace.SteeringOf(ctx, r.repo, r.rec.Base, r.rec.Head)
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

// runAgent runs an agent once, and restores protected files.
func (r *run) runAgent(ctx context.Context, role handoff.Role) (ended, error) {
	var e ended
	if r.rec.Runs == nil {
		r.rec.Runs = map[string]int{}
	}
	r.rec.Runs[string(role)]++
	dir, err := r.journal.attempt(r.rec.State.Round, string(role), r.rec.State.Attempt)
	if err != nil {
		return e, err
	}
	in, err := r.invocation(ctx, role, dir)
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
	a, err := r.agent(ctx, role)
	if err != nil {
		return e, err
	}
	result := r.agentConfig(role).Result
	guard, err := workspace.Watch(ctx, r.tree, role == handoff.Inspector, []string{result})
	if err != nil {
		return e, err
	}
	e.result, e.failure = a.Run(ctx, in)
	changed, err := guard.Check(context.WithoutCancel(ctx), filepath.Join(dir, "outside"), []string{result})
	if err != nil {
		return e, fmt.Errorf("restore the files that the %s changed: %w", role, err)
	}
	e.changed = changed
	if err := context.Cause(ctx); err != nil {
		return e, err
	}
	if full(e.failure) || errors.Is(e.failure, contained.ErrBroken) {
		return e, e.failure
	}
	if e.failure != nil || !e.result.OK() {
		if err := r.noSpace(); err != nil {
			return e, err
		}
	}
	e.data, e.problem = readResult(r.tree.Dir, result)
	e.settled = r.settled(r.agentConfig(role), e.result.Cause)
	return e, errors.Join(keep(dir, e), r.clear(result))
}

// settled reports whether an agent had finished when it was ended: neither its result nor a file of
// the worktree had changed for the idle timeout.
func (r *run) settled(c config.Agent, cause process.Cause) bool {
	printed := c.From == config.Message && !c.Uses("message_file")
	if printed && cause != process.Idle {
		return false // it may have printed the result just before
	}
	root, err := os.OpenRoot(r.tree.Dir)
	if err != nil {
		return false
	}
	defer root.Close()
	limit, settled := r.o.Now().Add(-c.Idle), true
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == ".git" && d.IsDir() {
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

// clear removes the files of an agent's run from the worktree, so that a result of an earlier
// run never counts.
func (r *run) clear(result string) error {
	root, err := os.OpenRoot(r.tree.Dir)
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
			return fmt.Errorf("remove %s, which an earlier run left: %w", name, err)
		}
	}
	return nil
}

// invocation writes the files that an agent run needs, and returns its invocation.
func (r *run) invocation(ctx context.Context, role handoff.Role, dir string) (agent.Invocation, error) {
	c := r.agentConfig(role)
	if err := r.clear(c.Result); err != nil {
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
	files := workdir.Dir(r.tree.Dir)
	err = errors.Join(files.Write(schemaFile, schema), workdir.Dir(dir).Write("prompt.md", []byte(text)))
	if err == nil && (input.ResultMark == "" || c.Uses("prompt_file")) { // every tool could read the mark there
		err = files.Write(promptFile, []byte(text))
	}
	if err == nil && role == handoff.Inspector {
		var diff []byte
		if diff, err = os.ReadFile(filepath.Join(r.journal.dir, "change.diff")); err == nil {
			err = files.Write(diffFile, diff)
		}
	}
	return agent.Invocation{
		Role: string(role), Number: r.rec.Runs[string(role)], Dir: r.tree.Dir, Seen: r.seen(), Prompt: text, LogSize: int64(r.config.Limits.LogBytes), Env: r.env(),
		Title:      fmt.Sprintf("%s %s round %d run %d", strings.ToUpper(string(role)), r.rec.TaskID, r.rec.State.Round, r.rec.State.Attempt),
		PromptFile: promptFile, ResultFile: c.Result, MessageFile: messageFile, SchemaFile: schemaFile,
		ResultMark: input.ResultMark,
	}, err
}

// input returns the data of a prompt.
func (r *run) input(ctx context.Context, role handoff.Role) (prompt.Input, error) {
	in := prompt.Input{Role: role, Task: r.rec.Prompt, State: r.rec.State, Base: r.rec.Base, Mark: r.o.Mark()}
	instructions, err := r.repo.File(ctx, r.rec.Base, ".foreman/"+string(role)+".md")
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
	stat, err := os.ReadFile(filepath.Join(r.journal.dir, "change.stat"))
	if err != nil {
		return in, err
	}
	steering, err := r.steering(ctx)
	if err != nil {
		return in, err
	}
	in.Steering = steering.Paths()
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
	repo, err := workspace.Open(ctx, o.Dir, o.Environ)
	if err != nil {
		return "", &UsageError{err}
	}
	dir := filepath.Join(repo.Root, runsFolder, o.TaskID)
	rec, err := readRecord(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && role == handoff.Inspector:
		return "", usagef("there is no run %s, and an Inspector's prompt needs the change of a run", o.TaskID)
	case errors.Is(err, fs.ErrNotExist):
		rec = record{TaskID: o.TaskID, Prompt: o.Prompt, State: machine.State{Round: 1, Attempt: 1}}
		if rec.Base, _, err = repo.Base(ctx, o.Base); err != nil {
			return "", &UsageError{err}
		}
	case err != nil:
		return "", err
	}
	r := &run{o: o, repo: repo, journal: &journal{dir: dir}, rec: rec}
	if err := r.configure(ctx); err != nil {
		return "", err
	}
	in, err := r.input(ctx, role)
	if errors.Is(err, fs.ErrNotExist) {
		return "", usagef("the run %s has not reached the Inspector yet", o.TaskID)
	}
	return prompt.Write(in), err
}
