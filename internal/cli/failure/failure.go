// Package failure classifies the errors of commands: mistakes of the user, or failures.
package failure

import (
	"errors"
	"strings"

	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/triage"
)

// ErrNoToken is [triage.ErrNeedsHost] for users of a command: it names where they set a token.
const ErrNoToken = AccessError("a token is needed: the input token, or GITHUB_TOKEN")

// An AccessError is [triage.ErrNeedsHost] with a reason in words for users.
type AccessError string

// Error returns the text.
func (e AccessError) Error() string { return string(e) }

// Is reports whether the target is [triage.ErrNeedsHost].
func (AccessError) Is(target error) bool { return target == triage.ErrNeedsHost }

// Advise returns a text of the libraries for users of a command: it names where they set the token
// that is missing.
func Advise(text string) string {
	return strings.ReplaceAll(text, triage.ErrNeedsHost.Error(), ErrNoToken.Error())
}

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
