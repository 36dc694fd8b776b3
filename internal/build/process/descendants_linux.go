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

// killDescendants kills every process below this one, and returns how many there were
// and how many it could not end. The command itself has ended or been killed.
func killDescendants(group int) (left, survived int) {
	killed := map[int]bool{group: true}
	for range 200 {
		alive := descendants(os.Getpid())
		if len(alive) == 0 {
			return len(killed) - 1, 0
		}
		// A stopped process cannot start others while the rest is killed.
		for _, pid := range alive {
			signal(pid, syscall.SIGSTOP)
		}
		for _, pid := range alive {
			if signal(pid, syscall.SIGKILL) {
				killed[pid] = true
			}
		}
		reap(group)
		<-time.After(5 * time.Millisecond) // the kernel ends them in its own time
	}
	return len(killed) - 1, len(descendants(os.Getpid()))
}

// reap collects adopted processes that have ended, but not the command: its own waiter
// collects that.
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

// parents returns all processes by their parent, from /proc/PID/stat (proc(5)).
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
			continue // it has ended
		}
		// The name in parentheses may contain anything, parentheses too.
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
