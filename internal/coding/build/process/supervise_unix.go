//go:build unix

package process

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// refuse prints a message to a user who started the supervisor by hand.
func refuse(out io.Writer) int {
	fmt.Fprintln(out, "foreman: this command is internal; to start agents, use foreman build run")
	return 2
}

// Supervise runs a command as a child of this process, and then ends all descendants. [Runner.Run]
// starts the process that calls it. args are the grace in milliseconds, "--", and the command. The
// command has the standard streams of this process. Supervise writes to out only if a user started
// it by hand. It returns the exit code for the process.
func Supervise(out io.Writer, args []string) int {
	if len(args) < 3 || args[1] != "--" {
		return refuse(out)
	}
	syscall.CloseOnExec(controlFD)
	syscall.CloseOnExec(reportFD)
	control := os.NewFile(controlFD, "control")
	reports := os.NewFile(reportFD, "report")
	if _, err := control.Stat(); err != nil {
		return refuse(out)
	}
	grace, err := strconv.Atoi(args[0])
	end := report{}
	if err == nil {
		cmd := exec.Command(args[2], args[3:]...) //nolint:gosec,noctx // The command is the consumer's own, and the control pipe ends it.
		// The streams are files, because with an io.Writer Wait would not return until every process
		// that inherited the pipe has closed it.
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.NewFile(0, "stdin"), os.NewFile(1, "stdout"), os.NewFile(2, "stderr")
		end, err = supervise(cmd, control, time.Duration(grace)*time.Millisecond)
	}
	if err != nil {
		end.Error = err.Error()
	}
	if err := json.NewEncoder(reports).Encode(end); err != nil {
		return 1
	}
	return 0
}

// detach puts the supervisor into its own process group, so that a terminal's Ctrl-C reaches only
// the program. The program then tells the supervisor to end the command.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// proceed continues a process that has been stopped.
func proceed(p *os.Process) { _ = p.Signal(syscall.SIGCONT) }

func supervise(cmd *exec.Cmd, control io.Reader, grace time.Duration) (report, error) {
	if err := adopt(); err != nil {
		return report{}, fmt.Errorf("adopt its descendants: %w", err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return report{}, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // exitCode reads the result from ProcessState
	}()
	asked := make(chan bool, 1)
	go func() {
		n, err := control.Read(make([]byte, 1))
		asked <- n > 0 && err == nil
	}()
	group := cmd.Process.Pid
	select {
	case <-ended:
	case politely := <-asked:
		if politely && grace > 0 && signal(-group, syscall.SIGTERM) {
			timer := time.NewTimer(grace)
			select {
			case <-ended:
			case <-timer.C:
			}
			timer.Stop()
		}
	}
	end := report{}
	end.Left, end.Survived = killDescendants(group, ended)
	<-ended
	end.ExitCode = exitCode(cmd.ProcessState)
	return end, nil
}

// signal sends a signal to a process, or to a process group if pid is negative. It reports whether
// the process or group exists.
func signal(pid int, s syscall.Signal) bool { return syscall.Kill(pid, s) == nil }

// exitCode returns the exit code of the command, or 128 plus the number of the signal that ended
// it.
func exitCode(state *os.ProcessState) int {
	if state == nil {
		return 128 + int(syscall.SIGKILL)
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
