package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// counted is the number of events whose flushes are counted.
const counted = 100

// Totals are what the servers of a stage did from their start to their end.
type totals struct {
	flushes  int // of the disk: by SQLite, or of PostgreSQL's log
	commits  int // by PostgreSQL, also of transactions that only read
	messages int // from the servers to PostgreSQL
}

// count counts flushes, commits and messages of an event. It uses separate runs, because counting makes
// the servers slower. A run with only the first events is subtracted.
func count(ctx context.Context, r *results, o options, b build, s store) error {
	if _, err := exec.LookPath("strace"); err != nil && s.url == "" {
		fmt.Fprintln(os.Stderr, "flushes of SQLite are not counted:", err)
		return nil
	}
	traced := setting{build: b, store: s, tracing: "fsync,fdatasync"}
	if s.url != "" {
		traced.tracing = "write"
	}
	if _, err := exec.LookPath("strace"); err != nil {
		traced.tracing = ""
	}
	base, err := countRun(ctx, o, traced, 0, 1)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		clients                    int
		flushes, commits, messages string
	}{{1, flushes1, commits1, messages1}, {16, flushes16, commits16, messages16}} {
		t, err := countRun(ctx, o, traced, counted, c.clients)
		if err != nil {
			return err
		}
		r.add(s, c.flushes, b, float64(t.flushes-base.flushes)/counted)
		if s.url != "" {
			r.add(s, c.commits, b, float64(t.commits-base.commits)/counted)
		}
		if t.messages > 0 {
			r.add(s, c.messages, b, float64(t.messages-base.messages)/counted)
		}
	}
	return nil
}

// countRun returns the totals of a stage with a few first events and n more.
func countRun(ctx context.Context, o options, s setting, n, clients int) (t totals, err error) {
	before := 0
	if s.url != "" {
		if before, err = s.flushes(ctx); err != nil {
			return t, err
		}
	}
	st, err := start(ctx, o, s)
	defer st.stop()
	if err != nil {
		return t, err
	}
	if _, err := st.load(ctx, 16, 16); err != nil {
		return t, err
	}
	if n > 0 {
		if _, err := st.load(ctx, n, clients); err != nil {
			return t, err
		}
	}
	st.end()
	traced, err := st.traced(ctx)
	if err != nil || s.url == "" {
		return totals{flushes: traced}, err
	}
	if t.commits, err = s.commits(ctx, st.db); err != nil {
		return t, err
	}
	if t.flushes, err = s.flushes(ctx); err != nil {
		return t, err
	}
	return totals{t.flushes - before, t.commits, traced}, nil
}

// traced returns the number of traced calls of all servers, which have ended: flushes of files, and
// messages on sockets of this machine, which is how PostgreSQL is connected.
func (st *stage) traced(ctx context.Context) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for _, s := range st.servers {
		for s.trace != "" {
			calls, ended, err := readTrace(s.trace, fmt.Sprint(s.cmd.Process.Pid))
			if err != nil {
				return n, err
			}
			if ended {
				n += calls
				break
			}
			select {
			case <-ctx.Done():
				return n, errors.New("strace does not end")
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	return n, nil
}

// readTrace counts the calls in a file of strace. ended reports whether the file has the end of the
// process.
func readTrace(file, pid string) (calls int, ended bool, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		thread, call, _ := strings.Cut(lines.Text(), " ")
		call = strings.TrimSpace(call)
		switch {
		case strings.HasPrefix(call, "fsync("), strings.HasPrefix(call, "fdatasync("):
			calls++
		case strings.HasPrefix(call, "write(") && strings.Contains(call, "<UNIX-STREAM:"):
			calls++
		case thread == pid && strings.HasPrefix(call, "+++ exited"):
			ended = true
		}
	}
	return calls, ended, lines.Err()
}
