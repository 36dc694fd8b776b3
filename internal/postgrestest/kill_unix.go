//go:build unix

package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/org/foreman-action/internal/wait"
)

// Kill ends the server's main process with SIGKILL. The server's other processes end when they
// notice this, unless children is true: then they get a SIGKILL, too. Kill returns when all of
// them have ended. Start starts the server again.
func (c *Cluster) Kill(ctx context.Context, children bool) error {
	c.admin.Reset() // its connections would fail after the next Start
	lock := filepath.Join(c.data(), "postmaster.pid")
	text, err := os.ReadFile(lock)
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	server, err := strconv.Atoi(first)
	if err != nil {
		return fmt.Errorf("read %s: %w", lock, err)
	}
	// A stopped process starts no others, so the list is complete.
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil {
		return err
	}
	all, err := processes(ctx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(p process) bool { return p.id != server && p.parent != server })
	for _, p := range all {
		if p.id != server && !children {
			continue
		}
		if err := syscall.Kill(p.id, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	for {
		running, err := processes(ctx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(running, func(r process) bool {
			return !r.ended && slices.ContainsFunc(all, func(p process) bool { return p.id == r.id })
		}) {
			// The server does not start while the process whose number is in these files exists, and
			// a process exists until its parent has waited for it.
			return errors.Join(os.Remove(lock), os.Remove(filepath.Join(c.dir, ".s.PGSQL.5432.lock")))
		}
		if err := wait.For(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// A process is a row of the list of processes.
type process struct {
	id, parent int
	ended      bool // it has ended, and its parent has not waited for it
}

// processes returns all processes of this machine.
func processes(ctx context.Context) (list []process, err error) {
	out, err := exec.CommandContext(ctx, "ps", "-A", "-o", "pid=,ppid=,state=").Output()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		var p process
		var state string
		if _, err := fmt.Sscan(line, &p.id, &p.parent, &state); err != nil {
			return nil, fmt.Errorf("list processes: %q: %w", line, err)
		}
		p.ended = strings.HasPrefix(state, "Z")
		list = append(list, p)
	}
	return list, nil
}
