// Package failure classifies the errors of commands: mistakes of the user, or failures.
package failure

import (
	"errors"

	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/triage"
)

// Classify turns an error of a run into one with an exit code; nil stays nil.
func Classify(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, triage.ErrNeedsHost) {
		return command.Usage(err)
	}
	if _, ok := errors.AsType[*command.UsageError](err); ok {
		return err
	}
	if Problems(err) != nil {
		return command.Usage(err)
	}
	return command.Failed(err)
}

// Problems returns the mistakes in files that an error holds; nil when it holds none.
func Problems(err error) yamlfile.Problems {
	ps, _ := errors.AsType[yamlfile.Problems](err)
	return ps
}
