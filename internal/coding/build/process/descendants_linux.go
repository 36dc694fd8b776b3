package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of all descendants whose own parent ends.
func adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// hide keeps the environment and the memory of this process from other processes of the same user,
// such as agents: they cannot read them in /proc, and cannot trace the process. It does not keep them
// from root. See PR_SET_DUMPABLE in prctl(2).
func hide() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// patience is how long killDescendants tries.
const patience = 10 * time.Second

// killDescendants kills all descendants of this process, and waits until there are none. The command
// itself is one of them; ended is closed when its own Wait has collected it. killDescendants returns
// the number of other processes, and how many it could not end.
//
// A process whose parent ends becomes a child of this process. So there is no descendant exactly when
// there is no child. A look at the list of processes would miss one that starts meanwhile.
func killDescendants(command int, ended <-chan struct{}) (left, survived int) {
	killed := map[int]bool{}
	for start := time.Now(); ; {
		alive := stop(os.Getpid(), nil)
		for _, pid := range alive {
			if signal(pid, syscall.SIGKILL) && pid != command {
				killed[pid] = true
			}
		}
		select {
		case <-ended:
			if reap(-1) {
				return len(killed), 0
			}
		default:
			signal(-command, syscall.SIGKILL) // in a kernel without lists of children
			for _, pid := range children(os.Getpid()) {
				if pid != command {
					reap(pid)
				}
			}
		}
		if time.Since(start) > patience {
			return len(killed), max(1, len(alive))
		}
		<-time.After(200 * time.Microsecond) // shorter than the life of a process that only starts another one
	}
}

// stop stops all processes below one that run, and appends them to list. A process that is stopped
// starts no others.
func stop(parent int, list []int) []int {
	for _, pid := range children(parent) {
		if running(pid) && signal(pid, syscall.SIGSTOP) {
			list = append(list, pid)
		}
		list = stop(pid, list)
	}
	return list
}

// reap collects a child that has ended, or all of them if pid is -1. It reports whether there is no
// such child any more.
func reap(pid int) (none bool) {
	for {
		switch got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil); {
		case errors.Is(err, syscall.EINTR), got > 0:
		default:
			return err != nil
		}
	}
}

// children returns the children of a process, from /proc/PID/task/TID/children (proc(5)).
func children(of int) []int {
	threads := fmt.Sprintf("/proc/%d/task/", of)
	dir, err := os.Open(threads)
	if err != nil {
		return nil // it has ended
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		list, _ := os.ReadFile(threads + name + "/children")
		for field := range bytes.FieldsSeq(list) {
			if pid, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// running reports whether a process has not ended.
func running(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	// The program name is in parentheses and may contain any character, even parentheses.
	state := bytes.TrimLeft(stat[bytes.LastIndexByte(stat, ')')+1:], " ")
	return len(state) > 0 && state[0] != 'Z' && state[0] != 'X'
}
