// Package github is the project's only access to GitHub: to its REST API, and to its GraphQL API
// for what the REST API lacks. It implements [runner.Issues], [runner.Repository] and
// [runner.Search], and reads configuration files from a repository. Package rest handles the
// transport and failures.
package github

import (
	"context"
	"errors"
	"net/http"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// Options configure the connection to GitHub. The zero value reads public data from api.github.com
// without a token.
type Options = rest.Options

// A Client reads and writes on one GitHub host with one token. It is safe for concurrent use. Its
// methods keep the contract of [runner.Issues]: they try a read up to three times, wait for rate
// limits up to a maximum, and never repeat a write whose outcome is unknown.
type Client struct {
	caller *rest.Caller
	labels *Labels // nil: none are remembered
}

var (
	_ runner.Issues     = (*Client)(nil)
	_ runner.Repository = (*Client)(nil)
	_ runner.Search     = (*Client)(nil)
)

// New returns a client. It does no I/O; an error means that BaseURL is not usable.
func New(o Options) (*Client, error) {
	caller, err := rest.New(o)
	if err != nil {
		return nil, err
	}
	return &Client{caller: caller}, nil
}

// Remembering returns the client with a memory of labels, which several clients may share.
func (c *Client) Remembering(l *Labels) *Client { return &Client{c.caller, l} }

// KnownLabel returns a label from the memory. See [runner.Host].
func (c *Client) KnownLabel(ref triage.Ref, name string) (triage.LabelID, bool) {
	return c.labels.find(ref.Owner+"/"+ref.Repo, name)
}

// Budget returns the number of calls that remain in this hour. See [runner.Search].
func (c *Client) Budget() (left int, ok bool) { return c.caller.Left() }

// Limit returns the number of calls in an hour; 0: GitHub has not reported it yet.
func (c *Client) Limit() int { return c.caller.Limit() }

// Pulls returns the pull requests of a repository.
func (c *Client) Pulls(owner, repo string) Pulls { return Pulls{c.caller, owner, repo} }

// Viewer returns the login of the token's owner. A token of an installation or of a workflow has no
// owner: the error is then a PermissionError.
func (c *Client) Viewer(ctx context.Context) (string, error) {
	o := rest.Op{What: "look up the owner of the token", Scope: rest.NoRepository, Need: "a token of an account", Absent: triage.ErrNotFound}
	var user login
	if _, err := c.caller.Do(ctx, o, rest.Call{Method: http.MethodGet, Path: "user", Out: &user}); err != nil {
		return "", err
	}
	if user.Login == "" {
		return "", errors.New("look up the owner of the token: the answer has no login")
	}
	return user.Login, nil
}
