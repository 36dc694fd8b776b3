// Package actions is the Actions runtime: what the runner hands to a container
// action (environment, inputs, OIDC) and what it reads back (outputs, job summary,
// log, annotations).
//
// Everything that goes out may hold text of a stranger's issue, so nothing is
// printed raw: a value can forge neither an output nor a workflow command.
package actions

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"sync"

	githubactions "github.com/sethvargo/go-githubactions"
)

// Options are what a [Runtime] is made of.
type Options struct {
	// Getenv reads one variable of the environment. Nil: an empty environment.
	Getenv func(string) string
	// Stdout is the log that the runner reads. Nil discards.
	Stdout io.Writer
	// HTTP asks for the OIDC token; its redirects are not followed and its time is
	// bounded whatever it says. Nil: the default transport.
	HTTP *http.Client
	// Random makes the delimiters of outputs. Nil: crypto/rand.
	Random io.Reader
}

// A Runtime is one step of a workflow as its action sees it. It is safe for
// concurrent use; make it with [New].
//
// It is usable outside Actions too (GITHUB_ACTIONS is not "true"): then it issues
// no workflow commands. Annotations and group titles are plain lines, Mask does
// nothing because it would print the secret, and outputs and the summary go
// nowhere unless their files are named.
type Runtime struct {
	getenv func(string) string
	out    *lineWriter
	random io.Reader
	live   bool // inside Actions: workflow commands are understood
	debug  bool // RUNNER_DEBUG

	// The library's methods, and not its Action: an Action that reflection can
	// reach would keep html/template in the program.
	input   func(string) string
	issue   func(*githubactions.Command)
	idToken func(ctx context.Context, audience string) (string, error)

	mu        sync.Mutex    // guards what follows, and the order of file writes
	annotated map[Level]int // annotations issued
	outputs   int           // bytes of outputs written, as GitHub counts them
}

// New returns the runtime of the environment that Getenv shows. It reads nothing
// else and writes nothing. An error of writing to Stdout is dropped: there is no
// other place to report it.
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
	out := &lineWriter{w: o.Stdout}
	lib := githubactions.New(
		githubactions.WithGetenv(o.Getenv),
		githubactions.WithWriter(out),
		githubactions.WithHTTPClient(boundedClient(o.HTTP)),
	)
	return &Runtime{
		getenv:    o.Getenv,
		out:       out,
		random:    o.Random,
		live:      o.Getenv("GITHUB_ACTIONS") == "true",
		debug:     o.Getenv("RUNNER_DEBUG") == "1",
		input:     lib.GetInput,
		issue:     lib.IssueCommand,
		idToken:   lib.GetIDToken,
		annotated: map[Level]int{},
	}
}

// A lineWriter passes whole lines on, one caller at a time. It reports no error,
// for the library panics on one.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.w.Write(p)
	return len(p), nil
}
