package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc, the same on all of Linux's common platforms.
const tick = 10 * time.Millisecond

// A status is a line of /proc/PID/stat.
type status struct {
	pid, parent int
	own, ended  time.Duration // processor time of the process, and of its children that have ended
}

// readStatus reads the state of a process. ok is false if it has ended, or on other systems than
// Linux.
func readStatus(pid int) (s status, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, false
	}
	// The second field is a name in parentheses, which can contain spaces.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 15 {
		return s, false
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(fields[i]) // always a number
		return n
	}
	ticks := func(i int) time.Duration { return time.Duration(number(i)+number(i+1)) * tick }
	return status{pid, number(1), ticks(11), ticks(13)}, true
}

// parent returns the parent of a process; 0: not known.
func parent(pid int) int {
	s, _ := readStatus(pid)
	return s.parent
}

// familyTime returns the processor time of a process and of all its children, ended or not; 0: not
// known.
func familyTime(pid int) time.Duration {
	s, ok := readStatus(pid)
	if !ok || pid == 0 {
		return 0
	}
	sum := s.own + s.ended
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range all {
		id, _ := strconv.Atoi(filepath.Base(path)) // the pattern has only digits first
		if child, ok := readStatus(id); ok && child.parent == pid {
			sum += child.own
		}
	}
	return sum
}

// loadAverage returns the load average of the last minute; empty on other systems than Linux.
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
