package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/org/foreman-action/triage"
)

// needApp is what the calls of this file need: they are made in the name of an App, with
// a token that the App signs itself.
const needApp = "the App's own token"

// An Installation says what an installation token is asked for.
type Installation struct {
	ID           int64
	Repositories []string          // names without owner that the token reaches; empty: all of the installation
	Permissions  map[string]string // such as "issues": "write"; empty: all of the App
}

// AppSlug returns the name of the App in addresses: its login is "<slug>[bot]".
func (c *Client) AppSlug(ctx context.Context) (string, error) {
	var app struct {
		Slug string `json:"slug"`
	}
	if err := c.app(ctx, "read the App", call{http.MethodGet, "app", nil, &app}); err != nil {
		return "", err
	}
	if app.Slug == "" {
		return "", errors.New("read the App: the answer has no slug")
	}
	return app.Slug, nil
}

// InstallationID returns where the App is installed for a repository. ErrNotFound when it
// is not.
func (c *Client) InstallationID(ctx context.Context, owner, repo string) (int64, error) {
	o := op{what: "find the App's installation for", ref: triage.Ref{Owner: owner, Repo: repo}, wide: true, need: needApp, absent: triage.ErrNotFound}
	var in struct {
		ID int64 `json:"id"`
	}
	if err := c.request(ctx, o, call{http.MethodGet, fmt.Sprintf("repos/%s/%s/installation", owner, repo), nil, &in}); err != nil {
		return 0, err
	}
	if in.ID <= 0 {
		return 0, fmt.Errorf("%s: the answer has no id", o)
	}
	return in.ID, nil
}

// InstallationToken makes a token, and tells until when it is good. ErrNotFound when there
// is no such installation any more.
func (c *Client) InstallationToken(ctx context.Context, in Installation) (token string, until time.Time, err error) {
	var body struct {
		Repositories []string          `json:"repositories,omitempty"`
		Permissions  map[string]string `json:"permissions,omitempty"`
	}
	body.Repositories, body.Permissions = in.Repositories, in.Permissions
	var out struct {
		Token string    `json:"token"`
		Until time.Time `json:"expires_at"`
	}
	what := fmt.Sprintf("make a token of the App's installation %d", in.ID)
	path := fmt.Sprintf("app/installations/%d/access_tokens", in.ID)
	if err := c.app(ctx, what, call{http.MethodPost, path, body, &out}); err != nil {
		return "", time.Time{}, err
	}
	if out.Token == "" {
		return "", time.Time{}, fmt.Errorf("%s: the answer has no token", what)
	}
	return out.Token, out.Until, nil
}

// app is [Client.request] for a call that is about no repository.
func (c *Client) app(ctx context.Context, what string, r call) error {
	ex := &exchange{spent: budgetOf(ctx)}
	_, err := c.exchange(context.WithValue(ctx, exchangeKey{}, ex), r)
	if err == nil {
		return nil
	}
	o := op{what: what, need: needApp, absent: triage.ErrNotFound}
	return fmt.Errorf("%s: %w", what, o.cause(ex, err))
}
