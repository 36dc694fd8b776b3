// Package command contains the common parts of the commands of all programs: exit codes, errors
// and versions.
package command

import (
	"errors"
	"runtime/debug"
)

// The exit codes of every command.
const (
	ExitOK     = 0 // success, also: a skip, an escalation, a dry run, a requested stop of a server
	ExitFailed = 1 // something failed that may work another time
	ExitUsage  = 2 // a mistake in the arguments, the inputs, the event or the configuration
	// ExitInterrupted means that a signal, such as Ctrl-C, ended the command early.
	ExitInterrupted = 130
)

// A FailedError is a failure that is not the user's mistake; it ends with [ExitFailed].
type FailedError struct{ err error }

// Error returns the text of the cause.
func (e *FailedError) Error() string { return e.err.Error() }

// Unwrap returns the error that failed.
func (e *FailedError) Unwrap() error { return e.err }

// Failed marks an error as a [FailedError]; nil stays nil.
func Failed(err error) error {
	if err == nil {
		return nil
	}
	return &FailedError{err}
}

// ExitCode returns the exit code for the error that a command returned.
func ExitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	if reported, ok := errors.AsType[*ReportedError](err); ok {
		return reported.Code
	}
	if _, ok := errors.AsType[*FailedError](err); ok {
		return ExitFailed
	}
	return ExitUsage
}

// Version returns the version set by the linker, or else that of the build information.
func Version(linked string) string {
	if linked != "" {
		return linked
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
