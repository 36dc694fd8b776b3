// Package remote reaches GitHub for a command: the client, the host of a run, and the
// files of repositories.
package remote

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/runner"
)

// An Access contains the settings of calls to GitHub.
type Access struct {
	Token     string // empty: no token, so no call is made
	TokenName string // where people set it, such as GITHUB_TOKEN
	APIURL    string // empty: GitHub's own
	UserAgent string
	Now       func() time.Time                           // nil: time.Now
	Sleep     func(context.Context, time.Duration) error // nil: sleep for real
}

// FromEnv returns the access settings in the environment.
func FromEnv(env process.Env) Access {
	const variable = "GITHUB_TOKEN"
	return Access{
		Token: env.Getenv(variable), TokenName: variable, APIURL: env.Getenv("GITHUB_API_URL"),
		UserAgent: env.UserAgent(), Now: env.Now, Sleep: env.Sleep,
	}
}

// Client returns a client, or nil when there is no token.
func (a Access) Client() (*github.Client, error) {
	if a.Token == "" {
		return nil, nil
	}
	client, err := github.New(github.Options{
		BaseURL: a.APIURL, Token: a.Token, TokenName: a.TokenName, UserAgent: a.UserAgent, Now: a.Now, Sleep: a.Sleep,
	})
	if err != nil {
		return nil, command.Usagef("GITHUB_API_URL: %w", err)
	}
	return client, nil
}

// File reads the file that a configuration extends. Without a token the error is [failure.ErrNoToken].
func (a Access) File(ctx context.Context, file config.RemoteFile) ([]byte, error) {
	client, err := a.Client()
	if client == nil {
		return nil, cmp.Or[error](err, failure.ErrNoToken)
	}
	data, err := client.Extended(ctx, file)
	return data, unusable(err)
}

// HostOf returns the host for a [runner.Runner] from a client, which may be nil, and the login
// under which the runner acts. An empty login means the default one.
func HostOf(client *github.Client, login string) runner.Host {
	var h runner.Host
	if client != nil {
		h = runner.HostOf(client)
		h.File = client.FilesAt("")
	}
	h.Login = login
	return h
}

// A Branch is a [github.Branch] whose errors are classified.
type Branch github.Branch

// Read returns the content of a file. The error matches fs.ErrNotExist if the file does not
// exist.
func (b Branch) Read(ctx context.Context, name string) ([]byte, error) {
	data, err := github.Branch(b).Read(ctx, name)
	return data, unusable(err)
}

// Glob returns the files that match a pattern; only its last part may hold wildcards.
func (b Branch) Glob(ctx context.Context, pattern string) ([]string, error) {
	names, err := github.Branch(b).Glob(ctx, pattern)
	return names, unusable(err)
}

// unusable marks an error as the user's mistake if the path exists, but is not a file or is too
// large, or if a pattern cannot be used.
func unusable(err error) error {
	if _, ok := errors.AsType[*github.ContentError](err); ok {
		return command.Usage(err)
	}
	return err
}

// Tokenless replaces a place that needs a token when there is none: every read fails.
type Tokenless struct{}

// Read fails with [failure.ErrNoToken].
func (Tokenless) Read(_ context.Context, name string) ([]byte, error) {
	return nil, command.Usagef("read %s from the repository: %w", name, failure.ErrNoToken)
}

// Glob fails with [failure.ErrNoToken].
func (Tokenless) Glob(_ context.Context, pattern string) ([]string, error) {
	return nil, command.Usagef("find %s in the repository: %w", pattern, failure.ErrNoToken)
}
