// Command events measures whole events of one or two builds of foremand: a signed webhook, the
// decision of a synchronous agent, a label and a comment on a GitHub that keeps state. Agent and
// GitHub run in this process, on loopback. Two builds take turns, each time on a new database, so
// that a busy moment slows both.
//
//	events [-old PROGRAM] [-new PROGRAM] [-n ROUNDS] [-events N] [-only STORE] [-out FILE]
//
// SQLite is always measured, PostgreSQL if it is installed. Processor time needs Linux, and the
// number of flushes needs strace.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/org/foreman-action/internal/postgrestest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "events:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	flags := flag.NewFlagSet("events", flag.ContinueOnError)
	old := flags.String("old", "", "program of the build to compare with")
	current := flags.String("new", "", "program of the measured build (default: foremand of this source tree)")
	flags.IntVar(&o.rounds, "n", 5, "measured rounds")
	flags.IntVar(&o.events, "events", 400, "events of a throughput")
	flags.DurationVar(&o.slow, "slow", 100*time.Millisecond, "time of a call to GitHub in the comparison of one and two servers")
	flags.IntVar(&o.concurrency, "concurrency", 16, "tasks that the agent gets at a time")
	flags.StringVar(&o.payload, "payload", "../../testdata/events/issues/opened.payload.json", "webhook to send")
	dir := flags.String("dir", "", "folder on the measured disk (default: the folder for temporary files)")
	flags.StringVar(&o.only, "only", "", "measure only this store: sqlite, postgres, postgres-2 or scale")
	out := flags.String("out", "", "file that the tables are also written to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	if o.dir, err = os.MkdirTemp(*dir, "events-"); err != nil {
		return err
	}
	defer os.RemoveAll(o.dir)
	builds, err := programs(ctx, o.dir, *old, *current)
	if err != nil {
		return err
	}
	stores := []store{{name: "sqlite", title: "SQLite", servers: 1}}
	switch cluster, err := postgrestest.Launch(ctx); {
	case errors.Is(err, postgrestest.ErrMissing):
		fmt.Fprintln(os.Stderr, "not measured on PostgreSQL:", err)
	case err != nil:
		return err
	default:
		defer cluster.Close()
		url := cluster.URL("postgres")
		stores = append(stores, store{"postgres", "PostgreSQL, one server", url, 1}, store{"postgres-2", "PostgreSQL, two servers", url, 2})
	}
	var r results
	r.load.begin = loadAverage()
	// The report has what was measured, also after an error or an interrupt.
	measured := measure(ctx, &r, o, builds, stores)
	r.load.end = loadAverage()
	page := report(&r, o, builds, stores)
	fmt.Fprint(stdout, page)
	if *out != "" {
		measured = errors.Join(measured, os.WriteFile(*out, []byte(page), 0o644))
	}
	return measured
}

// options define where and how much to measure.
type options struct {
	dir         string // for databases
	payload     string // file
	rounds      int
	events      int    // of a throughput
	only        string // name of the only store to measure, or scale; empty: all
	concurrency int    // tasks that the agent gets at a time
	slow        time.Duration
}

// A build is a program to measure.
type build struct {
	name    string // old or new
	program string
}

// programs returns the builds to measure. It builds this source tree if current is empty.
func programs(ctx context.Context, dir, old, current string) (list []build, err error) {
	if current == "" {
		current = filepath.Join(dir, "foremand")
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", current, "./cmd/foremand")
		cmd.Dir, cmd.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build foremand: %w: %s", err, out)
		}
	}
	if old != "" {
		if old, err = filepath.Abs(old); err != nil {
			return nil, err
		}
		list = append(list, build{"old", old})
	}
	if current, err = filepath.Abs(current); err != nil {
		return nil, err
	}
	return append(list, build{"new", current}), nil
}

// turn returns the builds in the order of a round: old, new, then new, old.
func turn(builds []build, round int) []build {
	if round%2 == 0 || len(builds) < 2 {
		return builds
	}
	return []build{builds[1], builds[0]}
}
