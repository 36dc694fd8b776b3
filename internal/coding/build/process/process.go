// Package process runs a command within limits, and ends all of its processes. Commands are
// agents, and the setup and checks of the consumer.
//
// A command runs as a child of a supervisor: the same executable, started with the arguments
// [Runner.Supervisor], which calls [Supervise]. The supervisor ends all processes below it when
// the command ends or when the program asks for it. It also does so when the program has died,
// even by SIGKILL. On Linux the supervisor adopts processes whose parent has ended (a child
// subreaper, prctl(2)), so it also ends daemons with their own session. On other systems it ends
// the process group of the command, but not processes that have left the group.
package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// A Command is one command and its limits.
type Command struct {
	Args  []string // the program, found in the PATH of Env, and its arguments; no shell
	Dir   string
	Env   []string  // in the form of [os.Environ]; nil: empty
	Stdin io.Reader // nil: empty
	// Output receives the standard output and the standard error as they are written, from one
	// goroutine, until it has received LogBytes. If a write to Output fails, the command is ended.
	// nil: the output is dropped.
	Output io.Writer
	// LogBytes is the most bytes that Output receives; the rest is dropped. 0: no limit.
	LogBytes int64
	Timeout  time.Duration // of the whole command; 0: no limit
	Idle     time.Duration // how long the command may print nothing; 0: no limit
	// Grace is the time between SIGTERM and SIGKILL. 0: only SIGKILL.
	Grace time.Duration
}

// A Cause is why a command ended.
type Cause string

// The causes.
const (
	Exited   Cause = "exited"   // the command ended by itself
	TimedOut Cause = "timeout"  // it took longer than its Timeout
	Idle     Cause = "idle"     // the command printed nothing for its Idle time
	Canceled Cause = "canceled" // the context ended
)

// A Result is how a command ended.
type Result struct {
	Cause Cause
	// ExitCode is the exit code of the command. If a signal ended the command, ExitCode is 128 plus
	// the number of the signal.
	ExitCode int
	// Left is the number of processes that were still running when the command ended. They were
	// killed.
	Left int
	// Truncated is set when the output was longer than LogBytes.
	Truncated bool
	Wall      time.Duration
}

// OK reports whether the command ended by itself with exit code 0.
func (r Result) OK() bool { return r.Cause == Exited && r.ExitCode == 0 }

// ErrNotStarted is the error of [Runner.Run] for a command that did not start, because its program
// is missing or cannot be executed.
var ErrNotStarted = errors.New("the command was not started")

// ErrLost is the error of [Runner.Run] for a command whose processes could not all be ended. They may
// change whatever follows.
var ErrLost = errors.New("some of its processes may still run; end them")

// A Runner runs commands. It is safe for concurrent use.
type Runner struct {
	// Supervisor is an executable and its arguments that start this program so that it calls
	// [Supervise].
	Supervisor []string
	Now        func() time.Time
}

// A report is sent by the supervisor at its end, as JSON.
type report struct {
	Error    string `json:"error,omitempty"` // why the command was not started
	ExitCode int    `json:"exit_code"`
	Left     int    `json:"left"`
	Survived int    `json:"survived"` // processes that could not be ended
	Lost     string `json:"-"`        // why there is no report; empty: there is one
}

// The file descriptors that the supervisor inherits, besides the standard streams.
const (
	controlFD = 3 // a byte on it ends the command gracefully; closing it kills the command
	reportFD  = 4 // takes the report
)

// Run runs a command and waits until all of its processes have ended. On Linux, from then on no
// process of the same user can read the environment and the memory of this process. The result
// describes how the command ended. An error means that the command could not be started or ended,
// or that its output could not be written.
func (r Runner) Run(ctx context.Context, c Command) (Result, error) {
	if len(c.Args) == 0 || len(r.Supervisor) == 0 {
		return Result{}, errors.New("run a command: it is empty")
	}
	if _, err := os.Stat(c.Dir); c.Dir != "" && err != nil {
		return Result{}, fmt.Errorf("run %s: %w", c.Args[0], err)
	}
	if err := hide(); err != nil {
		return Result{}, fmt.Errorf("run %s: hide the environment of this process: %w", c.Args[0], err)
	}
	started := r.Now()
	s, err := r.start(c)
	if err != nil {
		return Result{}, fmt.Errorf("run %s: %w", c.Args[0], err)
	}
	defer s.close()
	output := &limited{to: c.Output, left: c.LogBytes, unlimited: c.LogBytes == 0, wrote: make(chan struct{}, 1), failed: make(chan error, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		// After a write error, limited drops the output but Copy still reads it, so that the command
		// does not block.
		_, _ = io.Copy(output, s.output)
	}()
	ended := make(chan report, 1)
	go func() {
		ended <- s.wait()
	}()
	cause, end, outputErr := watch(ctx, c, s, ended, output)
	_ = s.output.SetReadDeadline(time.Now().Add(maxRead)) // a process that was not ended may have the pipe
	<-read
	if outputErr == nil {
		select {
		case outputErr = <-output.failed:
		default:
		}
	}
	result := Result{Cause: cause, ExitCode: end.ExitCode, Left: end.Left, Truncated: output.truncated, Wall: r.Now().Sub(started)}
	switch {
	case end.Error != "":
		return result, fmt.Errorf("run %s: %w: %s", c.Args[0], ErrNotStarted, end.Error)
	case end.Lost != "":
		return result, fmt.Errorf("run %s: %s: %w", c.Args[0], end.Lost, ErrLost)
	case end.Survived > 0:
		return result, fmt.Errorf("run %s: %d of its processes could not be killed: %w", c.Args[0], end.Survived, ErrLost)
	case outputErr != nil:
		return result, fmt.Errorf("run %s: keep its output: %w", c.Args[0], outputErr)
	}
	return result, nil
}

// maxRead is how long the rest of the output is read after the command's end.
const maxRead = 5 * time.Second

// maxStop is how long a supervisor may take to end a command, besides the grace.
const maxStop = 15 * time.Second

// watch waits until a command ends. It ends the command when a limit is reached, the context ends
// or the output cannot be written.
func watch(ctx context.Context, c Command, s *supervised, ended <-chan report, output *limited) (Cause, report, error) {
	var deadline, idle <-chan time.Time
	if c.Timeout > 0 {
		t := time.NewTimer(c.Timeout)
		defer t.Stop()
		deadline = t.C
	}
	var idleTimer *time.Timer
	if c.Idle > 0 {
		idleTimer = time.NewTimer(c.Idle)
		defer idleTimer.Stop()
		idle = idleTimer.C
	}
	for {
		select {
		case end := <-ended:
			return Exited, end, nil
		case <-output.wrote:
			if idleTimer != nil {
				idleTimer.Reset(c.Idle)
			}
			continue
		case err := <-output.failed:
			return Exited, s.stop(c.Grace, ended), err
		case <-deadline:
			return TimedOut, s.stop(c.Grace, ended), nil
		case <-idle:
			return Idle, s.stop(c.Grace, ended), nil
		case <-ctx.Done():
			return Canceled, s.stop(c.Grace, ended), nil
		}
	}
}

// A supervised is a running supervisor with the pipes to it.
type supervised struct {
	cmd     *exec.Cmd
	control *os.File // write end
	report  *os.File // read end
	output  *os.File // read end
}

func (r Runner) start(c Command) (*supervised, error) {
	var files []*os.File
	closeAll := func() {
		for _, f := range files {
			f.Close()
		}
	}
	pipe := func() (read, write *os.File, err error) {
		read, write, err = os.Pipe()
		if err == nil {
			files = append(files, read, write)
		}
		return read, write, err
	}
	controlRead, control, err1 := pipe()
	reportRead, reportWrite, err2 := pipe()
	output, outputWrite, err3 := pipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		closeAll()
		return nil, err
	}
	args := append(append([]string(nil), r.Supervisor[1:]...), strconv.FormatInt(c.Grace.Milliseconds(), 10), "--")
	cmd := exec.Command(r.Supervisor[0], append(args, c.Args...)...) //nolint:gosec,noctx // The command is the consumer's own, and the control pipe ends it.
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env, c.Stdin
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.Stdout, cmd.Stderr = outputWrite, outputWrite
	cmd.ExtraFiles = []*os.File{controlRead, reportWrite}
	detach(cmd)
	// If the command does not read its standard input, the goroutine that writes it could block Wait.
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		closeAll()
		return nil, err
	}
	controlRead.Close()
	reportWrite.Close()
	outputWrite.Close()
	return &supervised{cmd: cmd, control: control, report: reportRead, output: output}, nil
}

// stop tells the supervisor to end the command, and waits until it has ended. If the command has stopped
// the supervisor, stop continues it, and kills it when it takes too long.
func (s *supervised) stop(grace time.Duration, ended <-chan report) report {
	// The write fails if the supervisor has already ended.
	_, _ = s.control.Write([]byte{0})
	proceed(s.cmd.Process)
	select {
	case end := <-ended:
		return end
	case <-time.After(grace + maxStop):
		_ = s.cmd.Process.Kill() // fails if it has ended meanwhile
		return <-ended
	}
}

// wait waits for the supervisor's report, and until the supervisor has ended.
func (s *supervised) wait() report {
	var end report
	decodeErr := json.NewDecoder(s.report).Decode(&end)
	waitErr := s.cmd.Wait()
	if decodeErr != nil && end.Error == "" {
		// The supervisor was killed, for example by the command or because memory was low.
		return report{ExitCode: 128 + 9, Lost: fmt.Sprintf("its supervisor ended without a report: %v", errors.Join(waitErr, decodeErr))}
	}
	return end
}

func (s *supervised) close() {
	s.control.Close()
	s.report.Close()
	s.output.Close()
}

// A limited forwards output until its limit is reached. It signals each write to the channel
// wrote.
type limited struct {
	to        io.Writer
	left      int64
	unlimited bool
	truncated bool
	broken    bool
	wrote     chan struct{}
	failed    chan error
}

func (l *limited) Write(p []byte) (int, error) {
	select {
	case l.wrote <- struct{}{}:
	default:
	}
	pass := p
	if !l.unlimited && int64(len(pass)) > l.left {
		pass, l.truncated = pass[:l.left], true
	}
	if l.to == nil || l.broken || len(pass) == 0 {
		return len(p), nil
	}
	if !l.unlimited {
		l.left -= int64(len(pass))
	}
	if _, err := l.to.Write(pass); err != nil {
		l.broken = true
		l.failed <- err
	}
	return len(p), nil
}
