// Command queuebench compares our queue with other queues on the same machine, in one run, and
// prints medians. The compared queues take turns in each round, so that a busy moment slows all of
// them.
//
//	queuebench [-n ROUNDS] [-dir FOLDER] [-postgres URL] [-out FILE] [-only PART] [-quick] [-check]
//
// SQLite runs with journal_mode=WAL and synchronous=FULL for every queue, so a call returns only
// when its data is on the disk.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/org/foreman-action/internal/postgrestest"
)

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
	var s settings
	flags := flag.NewFlagSet("queuebench", flag.ContinueOnError)
	rounds := flags.Int("n", 5, "measured rounds")
	flags.StringVar(&s.dir, "dir", "", "folder on the measured disk (default: the folder for temporary files)")
	flags.StringVar(&s.postgres, "postgres", "", "URL of a PostgreSQL database to fill (default: a server of its own, if one is installed)")
	out := flags.String("out", "", "file that the tables are also written to")
	only := flags.String("only", "", "measure only this part: fsync, cycles, verbs, http, postgres-cycles or postgres")
	flags.BoolVar(&s.quick, "quick", false, "measure a tenth of the operations, as a trial")
	check := flags.Bool("check", false, "fail when a target is missed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(s.dir, "queuebench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s.dir = dir
	if s.postgres == "" {
		switch cluster, err := postgrestest.Launch(ctx); {
		case errors.Is(err, postgrestest.ErrMissing):
			fmt.Fprintln(os.Stderr, "not measured on PostgreSQL:", err)
		case err != nil:
			return err
		default:
			defer cluster.Close()
			s.postgres = cluster.URL("postgres")
		}
	}
	var r results
	for round := range *rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, *rounds)
		for _, p := range parts() {
			if *only != "" && *only != p.name {
				continue
			}
			if err := p.run(ctx, s, &r); err != nil {
				return err
			}
		}
	}
	page := report(&r, *rounds)
	fmt.Fprint(stdout, page)
	if *out != "" {
		if err := os.WriteFile(*out, []byte(page), 0o644); err != nil {
			return err
		}
	}
	if *check {
		return missed(targets(&r))
	}
	return nil
}
