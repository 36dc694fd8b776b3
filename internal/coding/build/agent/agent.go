// Package agent runs a Builder or an Inspector once: either the command that the consumer
// configures, or recorded steps in its place.
package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/coding/build/config"
	"github.com/org/foreman-action/internal/coding/build/process"
	"github.com/org/foreman-action/internal/workdir"
)

// An Invocation is one run of an agent.
type Invocation struct {
	Role    string // "builder" or "inspector"
	Number  int    // of the role's run in this task, from 1
	Title   string // for the agent's session
	Dir     string // the clone; absolute
	Seen    string // path of the clone for the agent, such as in a container; empty: Dir
	Prompt  string
	Log     io.Writer // receives the agent's output
	LogSize int64     // most bytes that Log receives; 0: no limit
	Env     []string

	// The names of files, with slashes, relative to Dir.
	PromptFile  string // contains Prompt
	ResultFile  string // the agent writes its result here; does not exist before the run
	MessageFile string // the agent may write its final message here; does not exist before
	SchemaFile  string // contains the JSON Schema of the result

	// ResultMark is the text that a result in the output follows, see [Extract]. It is in the prompt;
	// empty: none.
	ResultMark string
}

// seen returns the path under which the agent sees a file of the clone.
func (in Invocation) seen(name string) string {
	if in.Seen == "" {
		return filepath.Join(in.Dir, filepath.FromSlash(name))
	}
	return path.Join(in.Seen, name)
}

// write writes the result file. The agent may have left a link in its place.
func (in Invocation) write(result []byte) error {
	dir := workdir.Dir(in.Dir)
	if err := dir.Remove(in.ResultFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return dir.WritePrivate(in.ResultFile, result)
}

// An Agent does one run. Its work is the clone and the result file. The [process.Result]
// describes only how the process ended. After Run returns, the agent may be run again.
type Agent interface {
	Run(ctx context.Context, in Invocation) (process.Result, error)
}

// grace is how long an agent has to save its work after SIGTERM.
const grace = 10 * time.Second

// maxMessage is the most bytes of a final message that are searched for the result. They are the
// last bytes.
const maxMessage = 1 << 20

// A Runner runs a command, and waits until all of its processes have ended. An example is
// [process.Runner], which runs commands on this machine. Afterwards the folder contains the
// changes that the command was allowed to make.
type Runner interface {
	Run(ctx context.Context, c process.Command) (process.Result, error)
}

// A Command is an agent that is a program.
type Command struct {
	Runner Runner
	Config config.Agent
}

// Run runs the program. If the configuration takes the result from the final message, Run extracts
// it and writes it to the result file. If the message contains no result, Run writes no file.
func (c Command) Run(ctx context.Context, in Invocation) (process.Result, error) {
	command := process.Command{
		Args: c.Config.Expand(map[string]string{
			"prompt": in.Prompt, "prompt_file": in.seen(in.PromptFile), "title": in.Title, "role": in.Role, "model": c.Config.Model,
			"result": in.seen(in.ResultFile), "message_file": in.seen(in.MessageFile), "schema_file": in.seen(in.SchemaFile),
		}),
		Dir: in.Dir, Env: in.Env, Output: in.Log, LogBytes: in.LogSize,
		Timeout: c.Config.Timeout, Idle: c.Config.Idle, Grace: grace,
	}
	if !c.Config.Uses("prompt") && !c.Config.Uses("prompt_file") {
		command.Stdin = strings.NewReader(in.Prompt)
	}
	if c.Config.From != config.Message {
		return c.Runner.Run(ctx, command)
	}
	printed := &tail{to: in.Log, limit: maxMessage}
	command.Output, command.LogBytes = printed, 0
	printed.left = in.LogSize
	result, err := c.Runner.Run(ctx, command)
	result.Truncated = printed.truncated
	if err != nil {
		return result, err
	}
	message, mark := printed.data, in.ResultMark
	if c.Config.Uses("message_file") {
		mark = ""
		message, err = workdir.Dir(in.Dir).ReadEnd(in.MessageFile, maxMessage)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, workdir.ErrNoFile) || errors.Is(err, workdir.ErrEscape) {
			message, err = nil, nil // the agent left no message
		}
		if err != nil {
			return result, fmt.Errorf("read the agent's final message: %w", err)
		}
	}
	if found, ok := Extract(message, mark); ok {
		if err := in.write(append(found, '\n')); err != nil {
			return result, fmt.Errorf("write the agent's result: %w", err)
		}
	}
	return result, nil
}

// A tail forwards the start of the output to a writer, and keeps the end.
type tail struct {
	to        io.Writer
	left      int64 // limit of the bytes that are forwarded; 0: no limit
	passed    int64
	truncated bool
	data      []byte
	limit     int
}

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if len(t.data) > 2*t.limit {
		t.data = append(t.data[:0], t.data[len(t.data)-t.limit:]...)
	}
	pass := p
	if t.left > 0 && t.passed+int64(len(p)) > t.left {
		pass, t.truncated = p[:t.left-t.passed], true
	}
	t.passed += int64(len(pass))
	if t.to != nil && len(pass) > 0 {
		if _, err := t.to.Write(pass); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}
