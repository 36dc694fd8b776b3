// Package actions is the interface to the Actions runner: its input to a container action
// (environment, inputs, OIDC) and its output (outputs, job summary, log, annotations).
//
// All output may contain untrusted text of an issue, so nothing is printed raw: a value can
// forge neither an output nor a workflow command.
package actions

import (
	"crypto/rand"
	"io"
	"net/http"
)

// Options configure a [Runtime]: the environment, log and network of the step's process.
type Options struct {
	// Getenv reads one variable of the environment. Nil: an empty environment.
	Getenv func(string) string
	// Stdout is the log that the runner reads. Nil discards.
	Stdout io.Writer
	// HTTP requests the OIDC token. Redirects are never followed and the time of a request is
	// always limited, whatever the client's settings. Nil: the default transport.
	HTTP *http.Client
	// Random supplies the random bytes of the delimiters of outputs. Nil: crypto/rand.
	Random io.Reader
}

// A Runtime is one step of a workflow as its action sees it. Its parts are safe for concurrent use.
// Make it with [New].
//
// It also works outside Actions (GITHUB_ACTIONS is not "true"). Then it issues no workflow
// commands: annotations and group titles are plain lines, and Mask does nothing because it would
// print the secret. Outputs and the summary are dropped unless the variables with the paths of
// their files are set.
type Runtime struct {
	Log    *Log
	Files  *Files
	Tokens *TokenSource

	getenv func(string) string
}

// New returns the runtime of the step whose variables Getenv returns. New reads nothing else and
// writes nothing. Errors from writing to Stdout are dropped because there is no other place to
// report them.
func New(o Options) *Runtime {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Stdout == nil {
		o.Stdout = io.Discard
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	log := newLog(o.Stdout, readEnv(o.Getenv))
	return &Runtime{
		Log: log, Files: &Files{getenv: o.Getenv, random: o.Random, log: log}, Tokens: newTokenSource(o.Getenv, o.HTTP, log),
		getenv: o.Getenv,
	}
}

// Env returns the context of the step.
func (r *Runtime) Env() Env { return readEnv(r.getenv) }

// ParseInputs reads every input and returns all mistakes at once, joined. Each mistake is an
// [*InputError]. ParseInputs masks in the log the tokens of the agent and of the model, and the
// passwords in their addresses. It does not mask the GitHub token, because the runner does that
// itself.
func (r *Runtime) ParseInputs() (Values, error) {
	v, secrets, err := parseInputs(r.getenv)
	for _, s := range secrets {
		r.Log.Mask(s)
	}
	return v, err
}
