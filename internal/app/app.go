// Package app is the foreman program: its command table, and the only place that
// knows every concrete type and puts them together.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"
)

// The exit codes of every command.
const (
	exitOK     = 0 // done; a skip, an escalation and a dry run are done too
	exitFailed = 1 // something failed that may work another time
	exitUsage  = 2 // a mistake in the arguments, the inputs, the event or the configuration
)

// An App is one run of the program. Args, Stdout and Stderr must be set.
type App struct {
	Args   []string            // without the program's name
	Getenv func(string) string // nil: an empty environment
	Stdin  io.Reader           // nil: empty
	Stdout io.Writer
	Stderr io.Writer
	Dir    string // the working directory; empty: the process's
	Colour bool   // Stdout shows ANSI colours
	// Terminal says that Stderr is one, on which a line can be written anew.
	Terminal bool

	Now   func() time.Time                           // nil: time.Now
	Sleep func(context.Context, time.Duration) error // nil: real
}

// workDir returns the directory that relative paths start from.
func (a App) workDir() (string, error) {
	if a.Dir != "" {
		return a.Dir, nil
	}
	return os.Getwd()
}

// Main runs the command that Args name and returns the exit code. Without
// arguments inside GitHub Actions it is the action.
func (a App) Main(ctx context.Context) int {
	if a.Getenv == nil {
		a.Getenv = func(string) string { return "" }
	}
	if a.Now == nil {
		a.Now = time.Now
	}
	args := a.Args
	if len(args) == 0 && a.Getenv("GITHUB_ACTIONS") == "true" {
		args = []string{"action"}
	}
	return a.command(ctx, args)
}

// A usageError is a mistake of the user's, which ends with exit code 2.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// exitCode tells the exit code of an error that cobra returned or that a command
// left to Main.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	if _, ok := errors.AsType[*failure](err); ok {
		return exitFailed
	}
	return exitUsage
}

// A failure is an error that is nobody's mistake here; it ends with exit code 1.
type failure struct{ err error }

func (e *failure) Error() string { return e.err.Error() }
func (e *failure) Unwrap() error { return e.err }

// buildVersion is set by the linker of a release.
var buildVersion string

// version is the release, else what the build knows of itself.
func version() string {
	if buildVersion != "" {
		return buildVersion
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
