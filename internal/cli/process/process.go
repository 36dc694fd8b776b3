// Package process contains the process environment of commands: streams, variables, working
// directory and clock.
package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/wait"
)

// An Env is the environment of one run of the program. Commands need all fields except those marked
// optional; [Env.Complete] sets the functions. An Env must not change while a command runs.
type Env struct {
	Getenv func(string) string
	// LookupEnv is Getenv that also reports whether the variable is set; nil: a variable that is
	// not empty counts as set.
	LookupEnv func(string) (string, bool)
	Environ   func() []string // for programs that a command starts; nil: empty
	Stdin     io.Reader       // nil: empty
	Stdout    io.Writer
	Stderr    io.Writer
	Dir       string // the working directory; empty: the process's
	// OutTerminal reports whether Stdout is a terminal.
	OutTerminal bool
	// Colour is the value of --color, which all copies of an Env share. Nil: [Env.Complete] sets it.
	Colour *Colour
	// Terminal reports whether Stderr is a terminal, so that a line can be rewritten in place.
	Terminal bool
	Version  string // of the program; empty: unknown
	// Repository is the one that released the program, as OWNER/NAME; empty: org/foreman-action.
	Repository string
	Program    string // the name or path that the program was started under; empty: unknown
	// Hangups starts the delivery of SIGHUP, which would otherwise end the program; nil: no signals
	// are delivered.
	Hangups func() <-chan os.Signal

	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error // nil: sleep for real
}

// Complete returns the environment with an empty Getenv and the real clock where these fields are
// nil.
func (e Env) Complete() Env {
	if e.Getenv == nil {
		e.Getenv = func(string) string { return "" }
	}
	if e.LookupEnv == nil {
		e.LookupEnv = func(name string) (string, bool) {
			value := e.Getenv(name)
			return value, value != ""
		}
	}
	if e.Environ == nil {
		e.Environ = func() []string { return nil }
	}
	if e.Colour == nil {
		e.Colour = new(Colour)
	}
	e.Now = wait.Clock(e.Now)
	return e
}

// WorkDir returns the directory that relative paths start from.
func (e Env) WorkDir() (string, error) {
	if e.Dir != "" {
		return e.Dir, nil
	}
	return os.Getwd()
}

// Path returns the path of a file or folder that the user names. An empty name stays
// empty.
func (e Env) Path(name string) string {
	dir, err := e.WorkDir()
	if name == "" || err != nil {
		return name
	}
	return Below(dir, name)
}

// Below returns name itself if it is absolute, or else the path of name in dir.
func Below(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

// OutputFile returns the name of a file to write, and an empty name for each name of standard output:
// none, "-" and "/dev/stdout".
func OutputFile(name string) string {
	if name == "-" || name == "/dev/stdout" {
		return ""
	}
	return name
}

// StateDir returns the folder for what the program keeps for the user: foreman in $XDG_STATE_HOME, or else in
// ~/.local/state.
func (e Env) StateDir() (string, error) {
	state := e.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) { // https://specifications.freedesktop.org/basedir-spec
		home := e.Getenv("HOME")
		if home == "" {
			var err error
			if home, err = os.UserHomeDir(); err != nil {
				return "", err
			}
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "foreman"), nil
}

// UserAgent returns the name and version under which the program calls servers.
func (e Env) UserAgent() string { return "foreman-action/" + e.Version }

// Log writes a line to Stderr, sanitized for terminals.
func (e Env) Log(format string, args ...any) {
	fmt.Fprintln(e.Stderr, sanitize.Log(fmt.Sprintf(format, args...)))
}

// Print writes a text to Stdout unchanged. A write error counts as a failure of the command.
func (e Env) Print(text string) error {
	if _, err := io.WriteString(e.Stdout, text); err != nil {
		return command.Failed(fmt.Errorf("print the report: %w", err))
	}
	return nil
}
