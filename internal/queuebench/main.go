// Command queuebench measures the queue beside others on the same machine, in one run:
// each round measures every subject, those that are compared in turns, so that a busy moment
// hits all of them, and medians are printed.
//
//	queuebench [-n ROUNDS] [-dir FOLDER] [-postgres URL] [-out FILE] [-only PART] [-quick] [-check]
//
// Everything on SQLite runs with journal_mode=WAL and synchronous=FULL: what was answered
// is on the disk.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/org/foreman-action/store/postgres/postgrestest"
)

type options struct {
	rounds   int
	dir      string // where databases are made; removed in the end
	postgres string // empty: a server of its own
	out      string
	only     string // the part that is measured; empty: all
	quick    bool   // less of everything: whether it runs, not how fast
	check    bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "queuebench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	flags := flag.NewFlagSet("queuebench", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "n", 5, "measured rounds")
	flags.StringVar(&o.dir, "dir", "", "folder on the disk that is measured (default: the one for temporary files)")
	flags.StringVar(&o.postgres, "postgres", "", "URL of a PostgreSQL database to fill (default: a server of its own, if one is installed)")
	flags.StringVar(&o.out, "out", "", "file that gets the tables too")
	flags.StringVar(&o.only, "only", "", "measure only this part: fsync, cycles, verbs, http or postgres")
	flags.BoolVar(&o.quick, "quick", false, "measure a tenth of it, to see that it runs")
	flags.BoolVar(&o.check, "check", false, "fail when a figure to reach is missed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(o.dir, "queuebench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	o.dir = dir
	if o.postgres == "" {
		switch cluster, err := postgrestest.Launch(ctx); {
		case errors.Is(err, postgrestest.ErrMissing):
			fmt.Fprintln(os.Stderr, "not measured on PostgreSQL:", err)
		case err != nil:
			return err
		default:
			defer cluster.Close()
			o.postgres = cluster.URL("postgres")
		}
	}
	b := newBench(o, os.Stderr)
	if err := b.measure(ctx); err != nil {
		return err
	}
	page := b.page()
	fmt.Fprint(stdout, page)
	if o.out != "" {
		if err := os.WriteFile(o.out, []byte(page), 0o644); err != nil {
			return err
		}
	}
	if o.check {
		return b.judge()
	}
	return nil
}
