package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config/serverconfig"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
)

const serveHelp = `Runs the server until it is told to stop (SIGINT, SIGTERM, SIGHUP): then what is under way is
finished, what was claimed stays claimed, and the exit code is 0.

Without credentials for agents in the configuration it listens on this machine only.`

// A serving is what the flags of serve say.
type serving struct {
	config  string
	places  places
	host    string // empty: as configured
	port    int    // -1: as configured
	verbose bool
}

func (p program) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "serve --config FILE",
		Aliases: []string{"start"},
		Short:   "Run the server",
		Long:    serveHelp,
		Args:    cobra.NoArgs,
	}
	var o serving
	path := configFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&o.places.db, "db", "", "`file` of the memory, or postgres://… (default: as configured, else ~/.foreman/memory.db)")
	f.StringVar(&o.places.queueDB, "queue-db", "", "`file` of the queue, or postgres://… (default: as configured, else ~/.foreman/queue.db)")
	f.StringVar(&o.host, "host", "", "`address` to listen on (default: as configured, else 127.0.0.1)")
	f.IntVar(&o.port, "port", -1, "`port` to listen on (default: as configured, else 8000; 0: any free one)")
	f.Lookup("port").DefValue = "0" // the sentence says what counts
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log every step")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("port") && (o.port < 0 || o.port > 65535) {
			return fmt.Errorf("--port: want 0 to 65535, got %d", o.port)
		}
		o.config = *path
		return p.serve(cmd.Context(), o)
	}
	return cmd
}

// serve loads the configuration, puts the parts together and runs them.
func (p program) serve(ctx context.Context, o serving) error {
	s, err := serverconfig.Load(ctx, p.spec(o.config))
	if err != nil {
		return err
	}
	log := p.logger(o.verbose)
	for _, w := range s.Warnings {
		log.Warn("configuration", "file", w.File, "line", w.Line, "column", w.Column, "warning", w.Msg)
	}
	if o.host != "" {
		s.Server.Host = o.host
		if s.Server.InClear() {
			log.Warn("configuration", "flag", "--host", "warning", serverconfig.InClearWarning)
		}
	}
	if o.port >= 0 {
		s.Server.Port = o.port
	}
	h, err := p.assemble(ctx, s, o.places, log)
	if err != nil {
		return err
	}
	defer func() {
		if err := h.close(); err != nil {
			log.Error("the stores were not closed as they should", "error", err)
		}
	}()
	return command.Failed(h.run(ctx))
}

// storeError tells what to do about a database that cannot be opened.
func storeError(err error) error {
	if errors.Is(err, postgres.ErrURL) {
		return err // of a flag
	}
	if errors.Is(err, queue.ErrNewer) {
		return command.Failed(fmt.Errorf("%w: it was upgraded by a newer foremand; run that one, or go back to a backup", err))
	}
	return command.Failed(err)
}

// A part is something that runs until its context ends.
type part struct {
	name string
	run  func(ctx context.Context) error
}

// runAll runs parts until ctx ends, or one of them ends before: then the others are stopped
// too, for they have no sense without it, and that is an error, whatever the part says.
func runAll(ctx context.Context, log *slog.Logger, parts []part) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, p := range parts {
		wg.Go(func() {
			err := p.run(ctx)
			if err == nil && ctx.Err() == nil {
				err = errors.New("it ended by itself, which it must not")
			}
			if err != nil && (ctx.Err() == nil || !errors.Is(err, context.Canceled)) {
				errs[i] = fmt.Errorf("%s: %w", p.name, err)
				log.Error("a part of the server failed; it stops", "part", p.name, "error", err)
			}
			stop()
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
