package command

import "fmt"

// A UsageError is a mistake in the arguments, the inputs, the event or the configuration;
// it ends with [ExitUsage], unless it wraps a [FailedError].
type UsageError struct{ err error }

// Error returns the text of the mistake.
func (e *UsageError) Error() string { return e.err.Error() }

// Unwrap returns the mistake.
func (e *UsageError) Unwrap() error { return e.err }

// Usage marks an error, which must not be nil, as a [UsageError].
func Usage(err error) error { return &UsageError{err} }

// Usagef returns a [UsageError] with a formatted text, like [fmt.Errorf].
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// A ReportedError is an exit code for an error that the command already reported.
type ReportedError struct{ Code int }

// Error names the exit code.
func (e *ReportedError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// Reported returns a [ReportedError] with an exit code, and nil for [ExitOK].
func Reported(code int) error {
	if code == ExitOK {
		return nil
	}
	return &ReportedError{code}
}
