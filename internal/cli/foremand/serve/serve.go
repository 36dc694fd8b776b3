// Package serve is the command that runs the server.
package serve

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/cli/foremand/deployment"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/logpart"
	"github.com/org/foreman-action/internal/server/assembly"
	"github.com/org/foreman-action/internal/server/database"
)

const help = `Runs the server until SIGINT or SIGTERM. Writes under way are then finished, agents keep
their claims, and the exit code is 0. "foremand drain" lets it finish its work before. SIGHUP
and "foremand reload" make it read the configuration again.

Without credentials for agents in the configuration it listens on this machine only.`

// Options are all that the command depends on.
type Options struct {
	Env       process.Env
	Config    string             // configuration file
	Databases database.Locations // empty ones: as configured
	Host      string             // to listen on; empty: as configured
	Port      int                // to listen on, 0: any free one; negative: as configured
	Verbose   bool               // log every step of all parts
	LogLevel  string             // levels that override those of the configuration; empty: none
	Pprof     string             // loopback address that serves profiles; empty: none
}

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	o := Options{Env: env}
	c := &cobra.Command{
		Use:     "serve --config FILE",
		Aliases: []string{"start"},
		Short:   "Run the server",
		Long:    help,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("host") && !address.ValidHost(o.Host) {
				return fmt.Errorf("--host: want a name or an IP address, without a port, got %q; the port is --port", o.Host)
			}
			if c.Flags().Changed("log-level") {
				if _, err := (logpart.Levels{}).With(o.LogLevel); err != nil {
					return fmt.Errorf("--log-level: %w", err)
				}
			}
			if c.Flags().Changed("pprof") {
				if err := checkLoopback(o.Pprof); err != nil {
					return fmt.Errorf("--pprof: %w", err)
				}
			}
			if c.Flags().Changed("port") && (o.Port < 0 || o.Port > 65535) {
				return fmt.Errorf("--port: want 0 to 65535, got %d", o.Port)
			}
			return Run(c.Context(), o)
		},
	}
	deployment.RequireConfig(c, &o.Config)
	fl := c.Flags()
	fl.StringVar(&o.Databases.Memory, "db", "", "`file` of the memory of an earlier version, whose content moves into the database (default: as configured, else in the user's folder for state)")
	fl.StringVar(&o.Databases.Queue, "queue-db", "", "`file` of the database, or postgres://… (default: as configured, else in the user's folder for state)")
	fl.StringVar(&o.Host, "host", "", "`address` to listen on (default: as configured, else 127.0.0.1)")
	fl.IntVar(&o.Port, "port", -1, "`port` to listen on (default: as configured, else 8000; 0: any free one)")
	fl.Lookup("port").DefValue = "0" // the usage text has the default
	fl.BoolVarP(&o.Verbose, "verbose", "v", false, "log every step of all parts")
	fl.StringVar(&o.LogLevel, "log-level", "", "lowest `level` that is logged, and levels of parts, such as warn,executor=debug (default: as configured, else info)")
	fl.StringVar(&o.Pprof, "pprof", "", "loopback `address` that serves profiles of the process, such as 127.0.0.1:6060")
	return c
}

// Run runs the server until ctx ends.
func Run(ctx context.Context, o Options) error {
	ctx, stop := context.WithCancel(ctx) // a server that was drained stops as on a signal
	defer stop()
	handler := newLogHandler(o.Env)
	handler.Set(o.levels(serverconfig.Log{}))
	log := slog.New(handler)
	s, err := load(ctx, o, log)
	if err != nil {
		return err
	}
	at, err := deployment.Databases(o.Env, o.Databases, s.Queue, s.Memory)
	if err != nil {
		return err
	}
	if at.Left != "" {
		log.Warn("found the memory of an earlier version in the default folder; it is not used, because the database of this server is elsewhere: if it belongs to this server, name it once by --db or memory.db_path",
			"memory", at.Left, "database", at.Queue)
	}
	var hangups <-chan os.Signal // nil: none arrive
	if o.Env.Hangups != nil {
		hangups = o.Env.Hangups()
	}
	l, err := listen(ctx, o.Env.Getenv, s)
	if err != nil {
		return err
	}
	defer l.Close()
	if o.Pprof != "" {
		stop, err := profile(ctx, o.Pprof, log)
		if err != nil {
			return err
		}
		defer func() { _ = stop() }() // the process ends
	}
	systemd := newNotifier(ctx, o.Env.Getenv, log)
	defer systemd.close()
	r := &reloader{o: o, quit: stop, systemd: systemd, at: at, bind: bindAddress(l), limits: assembly.NewLimits(logpart.Of(log, logpart.GitHub)), handler: handler, log: log, current: s, stop: func() {}}
	done := make(chan struct{})
	defer close(done)
	go r.follow(ctx, hangups, done)
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx)) // while the server stops, too
	var watchdog sync.WaitGroup
	defer watchdog.Wait() // it uses systemd, which is closed afterwards
	defer stopWatching()
	watchdog.Go(func() { systemd.run(watching, r.stuck) })
	stopping := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(stopping)
		systemd.stopping()
	})
	err = r.run(ctx, l)
	if !cancel() {
		<-stopping
	}
	return err
}

// load reads the configuration, applies the flags, and logs the warnings.
func load(ctx context.Context, o Options, log *slog.Logger) (*serverconfig.Config, error) {
	s, err := deployment.Load(ctx, o.Env, o.Config)
	if err != nil {
		return nil, err
	}
	for _, w := range s.Warnings {
		log.Warn("configuration", "file", w.File, "line", w.Line, "column", w.Column, "warning", w.Message)
	}
	if o.Host != "" {
		s.Server.Host = o.Host
		if s.Server.InClear() {
			log.Warn("configuration", "flag", "--host", "warning", serverconfig.InClearWarning)
		}
	}
	if o.Port >= 0 {
		s.Server.Port = o.Port
	}
	return s, nil
}

// levels returns the levels of a configuration, changed by the flags.
func (o Options) levels(l serverconfig.Log) logpart.Levels {
	if o.Verbose {
		return logpart.Levels{Default: slog.LevelDebug}
	}
	levels := l.Levels()
	if o.LogLevel == "" {
		return levels
	}
	changed, _ := levels.With(o.LogLevel) // the command has checked it
	return changed
}

// newLogHandler returns the handler of the server's log: text on a terminal, JSON elsewhere.
func newLogHandler(env process.Env) *logpart.Handler {
	o := &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Value.Kind() == slog.KindDuration { // JSON would have it in nanoseconds
			a.Value = slog.StringValue(a.Value.Duration().Round(time.Millisecond).String())
		}
		return a
	}}
	if env.Terminal {
		return logpart.NewHandler(slog.NewTextHandler(env.Stderr, o))
	}
	return logpart.NewHandler(slog.NewJSONHandler(env.Stderr, o))
}
