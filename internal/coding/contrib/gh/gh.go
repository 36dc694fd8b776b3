// Package gh runs gh, GitHub's command line. gh signs people in, and makes the public writes of
// contribflow.
package gh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/text"
)

// ErrMissing means that there is no gh on the search path.
var ErrMissing = errors.New("gh is not installed; get it from https://cli.github.com")

// maxOutput is the most bytes of gh's output that are stored.
const maxOutput = 1 << 20

// An Error is a command of gh that failed.
type Error struct {
	Command string // such as "pr create"
	Stderr  string // one line, without secrets, clipped
	Err     error
}

// Error returns the command and why it failed.
func (e *Error) Error() string {
	if e.Stderr == "" {
		return fmt.Sprintf("gh %s: %v", e.Command, e.Err)
	}
	return fmt.Sprintf("gh %s: %s", e.Command, e.Stderr)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// A CLI runs gh in a directory with the environment of the process.
type CLI struct {
	Dir     string // empty: the working directory of the process
	Environ []string
	// Host is the GitHub server for gh, such as "github.com"; empty: gh chooses.
	Host string
	// Offline makes SignedIn return true for a configured account, without a request to GitHub.
	Offline bool
}

// Run runs gh and returns its output, without the log of GH_DEBUG that would hide an error. An error
// is an [*Error]; it matches [ErrMissing] if gh is not installed. gh never waits for input: a prompt
// is an error.
func (c CLI) Run(ctx context.Context, args ...string) (string, error) {
	const pause = 5 * time.Second
	name := strings.Join(args[:min(len(args), 2)], " ")
	path, err := exec.LookPath("gh")
	if err != nil {
		return "", &Error{name, "", ErrMissing}
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // arguments are a list, never a shell's line
	cmd.Dir = c.Dir
	cmd.Env = append(append([]string{}, c.Environ...), "GH_PROMPT_DISABLED=1", "GH_DEBUG=", "GH_NO_UPDATE_NOTIFIER=1", "NO_COLOR=1", "GH_PAGER=cat")
	if c.Host != "" {
		cmd.Env = append(cmd.Env, "GH_HOST="+c.Host)
	}
	cmd.Stdout, cmd.Stderr = &limited{to: &stdout}, &limited{to: &stderr}
	cmd.WaitDelay = pause
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		const shown = 500
		return stdout.String(), &Error{name, text.Plain(secret.RedactForms(strings.Join(strings.Fields(stderr.String()), " ")), shown), err}
	}
	return stdout.String(), nil
}

// limit is the time that gh gets to look at its accounts.
const limit = 15 * time.Second

// SignedIn reports whether gh has an account at the host that GitHub does not refuse. It does not ask
// "gh auth status", which fails if any other account of gh has an expired token. If GitHub answers
// nothing about the account, such as in an outage or beyond a rate limit, a configured account counts.
func (c CLI) SignedIn(ctx context.Context) bool {
	if !c.Offline {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		if _, err := c.Login(limited); err == nil || Refused(err) {
			return err == nil
		}
	}
	_, err := c.Token(ctx)
	return err == nil
}

// Login returns the name of the account that gh uses.
func (c CLI) Login(ctx context.Context) (string, error) {
	out, err := c.Run(ctx, "api", "user", "--jq", ".login")
	return strings.TrimSpace(out), err
}

// Refused reports whether GitHub refused the token of gh.
func Refused(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	return ok && strings.Contains(failed.Stderr, "HTTP 401")
}

// Token returns the token of gh's account at the host.
func (c CLI) Token(ctx context.Context) (string, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := c.Run(limited, "auth", "token", "--hostname", c.Host)
	return strings.TrimSpace(out), err
}

// A limited buffer drops writes beyond maxOutput.
type limited struct{ to *bytes.Buffer }

// Write stores as much of p as fits, and reports all of it as written.
func (l *limited) Write(p []byte) (int, error) {
	l.to.Write(p[:min(len(p), max(0, maxOutput-l.to.Len()))])
	return len(p), nil
}

// Problem returns an error of gh as a problem with a code.
func Problem(err error) *contract.Problem {
	if errors.Is(err, ErrMissing) {
		return &contract.Problem{Code: contract.CodeGHMissing, Err: err, Next: contract.Instruct(contract.ActionFixError, "Install gh, sign in with gh auth login, then run the command again.")}
	}
	next, ok := SignOn(err)
	if !ok {
		next = contract.Run(contract.ActionAuthenticate, "gh auth login")
	}
	return &contract.Problem{Code: contract.CodeAuth, Err: err, Next: next}
}

// SignOn returns the next step after a refusal by an organization that requires SAML single
// sign-on: the address at which a person authorizes the token, if gh printed it. ok is false for
// other errors.
func SignOn(err error) (next contract.Next, ok bool) {
	failed, ok := errors.AsType[*Error](err)
	if !ok || !strings.Contains(failed.Stderr, "SAML") {
		return contract.Next{}, false
	}
	if _, rest, found := strings.Cut(failed.Stderr, "Authorize in your web browser:"); found {
		if words := strings.Fields(rest); len(words) > 0 && strings.HasPrefix(words[0], "https://") {
			return contract.Next{Action: contract.ActionAuthenticate, Command: words[0], Kind: contract.KindURL}, true
		}
	}
	return contract.Run(contract.ActionAuthenticate, "gh auth refresh"), true
}
