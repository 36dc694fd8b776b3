// Command launch runs a program once and reports its time and memory:
//
//	launch PROGRAM [ARGUMENT...] 3>report
//
// It writes one line of numbers to file descriptor 3: wall time and processor time (user and
// system) in nanoseconds, the peak of the resident memory in KiB, and the exit code. The program
// inherits launch's environment and standard streams.
//
// It exists because Linux counts the memory of the process that forks into the peak of its child.
// So a small program seems to use much memory if a large process starts it. launch itself uses
// about 2 MiB, less than the measured programs.
package main

import (
	"errors"
	"os"
	"strconv"
	"syscall"
	"time"
)

const report = 3 // the file descriptor of the report

func main() {
	if len(os.Args) < 2 {
		os.Stderr.WriteString("usage: launch PROGRAM [ARGUMENT...] 3>report\n")
		os.Exit(2)
	}
	if err := launch(os.Args[1], os.Args[1:]); err != nil {
		os.Stderr.WriteString("launch " + os.Args[1] + ": " + err.Error() + "\n")
		os.Exit(1)
	}
}

// launch runs the program at path, waits for its end and writes the report.
func launch(path string, args []string) error {
	start := time.Now()
	pid, err := syscall.ForkExec(path, args, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{0, 1, 2},
	})
	if err != nil {
		return err
	}
	var status syscall.WaitStatus
	var usage syscall.Rusage
	for {
		_, err = syscall.Wait4(pid, &status, 0, &usage)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return err
	}
	wall := time.Since(start)
	line := strconv.FormatInt(wall.Nanoseconds(), 10) +
		" " + strconv.FormatInt(usage.Utime.Nano()+usage.Stime.Nano(), 10) +
		" " + strconv.FormatInt(usage.Maxrss, 10) +
		" " + strconv.Itoa(status.ExitStatus()) + "\n"
	_, err = os.NewFile(report, "report").WriteString(line)
	return err
}
