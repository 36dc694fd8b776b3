// Package app is the foreman program: its command table, and the only place that
// knows every concrete type and puts them together.
package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/org/foreman-action/internal/command"
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

// buildVersion is set by the linker of a release.
var buildVersion string

func version() string { return command.Version(buildVersion) }
