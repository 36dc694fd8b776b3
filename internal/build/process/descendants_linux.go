package process

import (
	"bytes"
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

// killDescendants kills all descendants of this process. The command itself, with the process ID
// group, has ended or is killed, too. killDescendants returns the number of other processes, and
// how many it could not end.
func killDescendants(group int) (left, survived int) {
	killed := map[int]bool{group: true}
	for range 200 {
		alive := descendants(os.Getpid())
		if len(alive) == 0 {
			return len(killed) - 1, 0
		}
		// A stopped process cannot start new processes while the others are killed.
		for _, pid := range alive {
			signal(pid, syscall.SIGSTOP)
		}
		for _, pid := range alive {
			if signal(pid, syscall.SIGKILL) {
				killed[pid] = true
			}
		}
		reap(group)
		<-time.After(5 * time.Millisecond) // the kernel needs a moment to end them
	}
	return len(killed) - 1, len(descendants(os.Getpid()))
}

// reap collects adopted processes that have ended. It leaves the command to cmd.Wait.
func reap(command int) {
	for _, pid := range children(os.Getpid()) {
		if pid != command {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// descendants returns the processes below one that have not ended.
func descendants(root int) []int {
	below := parents()
	var alive []int
	queue := []int{root}
	for len(queue) > 0 {
		parent := queue[0]
		queue = queue[1:]
		for _, p := range below[parent] {
			if p.state != 'Z' && p.state != 'X' {
				alive = append(alive, p.pid)
			}
			queue = append(queue, p.pid)
		}
	}
	return alive
}

func children(of int) []int {
	var pids []int
	for _, p := range parents()[of] {
		pids = append(pids, p.pid)
	}
	return pids
}

type process struct {
	pid   int
	state byte
}

// parents returns all processes, grouped by the process ID of their parent. It reads
// /proc/PID/stat (proc(5)).
func parents() map[int][]process {
	below := map[int][]process{}
	dir, err := os.Open("/proc")
	if err != nil {
		return below
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // the process has ended
		}
		// The program name is in parentheses and may contain any character, even parentheses.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 2 {
			continue
		}
		parent, err := strconv.Atoi(string(fields[1]))
		if err == nil {
			below[parent] = append(below[parent], process{pid: pid, state: fields[0][0]})
		}
	}
	return below
}
