// Package github is the code host of package runner on GitHub: [Host.Host] returns what a Runner
// reads and writes, and [Host.Files] the configuration in a repository.
//
// Requests wait for rate limits, up to 90 seconds for each call. A read that fails temporarily is
// tried up to three times. A write whose outcome is unknown is never repeated; its error matches
// [triage.ErrUncertain].
package github

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// Options configure a [Host].
type Options struct {
	// Token returns the token for the next request, such as the function that [AppToken] returns. It
	// is called before each request, so it must keep the token, and be safe for concurrent use. Its
	// error must not contain secrets, and ends the request. An empty token means a request without
	// one. Required.
	Token func(context.Context) (string, error)
	// BaseURL is the root of the API, such as "https://github.example.com/api/v3" for an Enterprise
	// Server. Empty: https://api.github.com.
	BaseURL string
	// Transport carries the requests. Nil: a copy of [http.DefaultTransport], which honours the proxy
	// variables of the environment.
	Transport http.RoundTripper
	// Log receives a debug record for each request, and a warning for each wait. Nil: they are
	// discarded.
	Log *slog.Logger
}

// A Host reads and writes on GitHub. It is safe for concurrent use. The zero value is not usable.
type Host struct{ client *github.Client }

// New returns a Host. It makes no requests. The error names the invalid option.
func New(o Options) (*Host, error) {
	if o.Token == nil {
		return nil, errors.New("github: Options.Token is nil")
	}
	client, err := github.New(github.Options{BaseURL: o.BaseURL, Tokens: tokens(o.Token), Transport: o.Transport, Log: o.Log})
	if err != nil {
		return nil, fmt.Errorf("github: Options.BaseURL: %w", err)
	}
	return &Host{client}, nil
}

// Host returns the host for a Runner. login is the account to which the token belongs, such as
// "my-app[bot]"; the Runner recognizes its own comments and changes by it. Empty:
// [runner.DefaultBot].
func (h *Host) Host(login string) runner.Host {
	host := runner.HostOf(h.client)
	host.File = h.client.FilesAt("")
	host.Login, host.LoginSetting = login, "the login of github.Host"
	return host
}

// Files returns the files of a repository, from which [config.Load] reads the configuration. ref is
// a branch, a tag or a commit; empty: the default branch. Only the last element of a pattern may
// contain wildcards. The result is safe for concurrent use.
func (h *Host) Files(repo triage.Repo, ref string) config.Files {
	return github.Branch{Client: h.client, Tree: github.Tree{Owner: repo.Owner, Repo: repo.Name, Ref: ref}}
}

// Extended returns the file of another repository that a configuration extends. It is a value for
// [config.Spec.Remote]. The error matches fs.ErrNotExist if the file does not exist at that tag or
// commit, or the token has no access to it.
func (h *Host) Extended(ctx context.Context, file config.RemoteFile) ([]byte, error) {
	return h.client.Extended(ctx, file)
}

// tokens implements the token source of the client.
type tokens func(context.Context) (string, error)

// refusedKey is the key of the context value with the token that GitHub no longer accepts.
type refusedKey struct{}

// Token returns a token. The context reports to the function of AppToken which token GitHub refused.
func (t tokens) Token(ctx context.Context, refused string) (string, error) {
	return t(context.WithValue(ctx, refusedKey{}, refused))
}
