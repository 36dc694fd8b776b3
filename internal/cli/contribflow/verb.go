package contribflow

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/filelock"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/wait"
)

// flags are the flags of every command.
type flags struct {
	json, quiet, noColour, exitCode, offline, ignoreBackoff bool
	cwd, config                                             string
}

// A verb is a command that makes a document.
type verb struct {
	use, short, long string
	args             cobra.PositionalArgs // nil: none
	flags            func(*pflag.FlagSet) // nil: it has none
	values           map[string][]string  // that shells complete, by flag
	writes           bool                 // acquires the lock of the folder
	configured       bool                 // requires a valid configuration
	// check validates the flags and arguments before any file is read or written; nil: always valid.
	check func(args []string) error
	// run makes the document.
	run func(ctx context.Context, s session.Session, args []string) (contract.Document, error)
	// show prints the document for people.
	show func(w *screen, document contract.Document)
}

// command returns the verb as a command.
func (v verb) command(env process.Env, f *flags) *cobra.Command {
	c := &cobra.Command{Use: v.use, Short: v.short, Long: v.long}
	c.Args = func(c *cobra.Command, args []string) error {
		if v.args == nil && len(args) > 0 {
			return command.Usagef("%s takes no arguments, got %q", c.CommandPath(), text.Quote(args[0]))
		}
		if v.args == nil {
			return nil
		}
		if err := v.args(c, args); err != nil {
			return command.Usage(err)
		}
		return nil
	}
	if v.flags != nil {
		v.flags(c.Flags())
	}
	for flag, values := range v.values {
		group.Values(c, flag, values...)
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		screen := newScreen(env, *f)
		document, err := v.execute(c.Context(), env, *f, screen, args)
		screen.clear()
		if err != nil {
			return err
		}
		if f.json {
			data, err := contract.Encode(document)
			if err != nil {
				return command.Failed(err)
			}
			if err := env.Print(string(data)); err != nil {
				return err
			}
		} else {
			v.show(screen, document)
			screen.next(document.Step())
			if err := env.Print(screen.text()); err != nil {
				return err
			}
		}
		if f.exitCode {
			return command.Reported(document.ExitCode())
		}
		return nil
	}
	return c
}

// execute opens the controller's folder and runs the verb in it.
func (v verb) execute(ctx context.Context, env process.Env, f flags, screen *screen, args []string) (contract.Document, error) {
	if v.check != nil {
		if err := v.check(args); err != nil {
			return nil, err
		}
	}
	s, err := open(env, f, v.configured)
	if err != nil {
		return nil, err
	}
	s.Report = screen.progress
	if v.writes {
		unlock, err := s.Controller.Lock(ctx, env.Sleep)
		if errors.Is(err, filelock.ErrLocked) {
			return nil, &contract.Problem{Code: contract.CodeLocked, Err: err}
		}
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	return v.run(ctx, s, args)
}

// open returns the session of a command.
func open(env process.Env, f flags, configured bool) (session.Session, error) {
	dir, err := env.WorkDir()
	if err != nil {
		return session.Session{}, fmt.Errorf("find the working folder: %w", err)
	}
	if f.cwd != "" {
		dir = process.Below(dir, f.cwd)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return session.Session{}, contract.Fail(contract.CodeUsage, "--cwd %s: there is no such folder", text.Quote(f.cwd))
	}
	c, err := controller.Find(dir)
	if err != nil {
		return session.Session{}, err
	}
	c.ConfigFile, c.KeyFile = env.Path(f.config), controller.KeyFile(env.Getenv)
	sleep := env.Sleep
	if sleep == nil {
		sleep = wait.For
	}
	s := session.Session{
		Controller: c, Dir: dir, Environ: env.Environ(), Now: env.Now, Sleep: sleep, Offline: f.offline, IgnoreBackoff: f.ignoreBackoff,
		UserAgent: "contribflow/" + env.Version,
	}
	config, exists, err := c.Config()
	if f.config != "" && !exists && err == nil {
		return session.Session{}, contract.Fail(contract.CodeConfig, "--config %s: there is no such file", text.Quote(f.config))
	}
	if configured && err != nil {
		return session.Session{}, &contract.Problem{Code: contract.CodeConfig, Err: err}
	}
	if configured && !exists {
		return session.Session{}, contract.Fail(contract.CodeConfig, "there is no %s here or above; make one with: contribflow init", controller.ConfigPath).
			With(contract.Run(contract.ActionInit, "contribflow init --json"))
	}
	s.Config = config
	return s, nil
}
