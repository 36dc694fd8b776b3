package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/triage"
)

// An App makes calls about a GitHub App, with a token that the App signs itself. It is safe for
// concurrent use.
type App struct {
	caller *rest.Caller
}

// NewApp returns an App. It does no I/O; an error means that BaseURL is not usable.
func NewApp(o Options) (*App, error) {
	caller, err := rest.New(o)
	if err != nil {
		return nil, err
	}
	return &App{caller}, nil
}

// needApp is the permission that errors of an [App] name as missing.
const needApp = "the App's own token"

// ofApp returns an Op about the App, without a repository.
func ofApp(what string) rest.Op {
	return rest.Op{What: what, Scope: rest.NoRepository, Need: needApp, Absent: triage.ErrNotFound}
}

// An Installation is a request for an installation token.
type Installation struct {
	ID           int64
	Repositories []string          // names without owner that the token gives access to; empty: all of the installation
	Permissions  map[string]string // such as "issues": "write"; empty: all of the App
}

// Slug returns the name of the App in web addresses. The App's login is "<slug>[bot]".
func (a *App) Slug(ctx context.Context) (string, error) {
	var app struct {
		Slug string `json:"slug"`
	}
	if _, err := a.caller.Do(ctx, ofApp("read the App"), rest.Call{Method: http.MethodGet, Path: "app", Out: &app}); err != nil {
		return "", err
	}
	if app.Slug == "" {
		return "", errors.New("read the App: the answer has no slug")
	}
	return app.Slug, nil
}

// InstallationID returns the id of the App's installation for a repository. ErrNotFound means that
// the App is not installed there.
func (a *App) InstallationID(ctx context.Context, owner, repo string) (int64, error) {
	o := rest.InRepository("find the App's installation for", owner, repo, needApp)
	var in struct {
		ID int64 `json:"id"`
	}
	path := fmt.Sprintf("repos/%s/%s/installation", owner, repo)
	if _, err := a.caller.Do(ctx, o, rest.Call{Method: http.MethodGet, Path: path, Out: &in}); err != nil {
		return 0, err
	}
	if in.ID <= 0 {
		return 0, fmt.Errorf("%s: the answer has no id", o)
	}
	return in.ID, nil
}

// InstallationToken creates a token, and returns the time until which it is valid. ErrNotFound
// means that the installation no longer exists.
func (a *App) InstallationToken(ctx context.Context, in Installation) (token string, until time.Time, err error) {
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
	if _, err := a.caller.Do(ctx, ofApp(what), rest.Call{Method: http.MethodPost, Path: path, In: body, Out: &out}); err != nil {
		return "", time.Time{}, err
	}
	if out.Token == "" {
		return "", time.Time{}, fmt.Errorf("%s: the answer has no token", what)
	}
	return out.Token, out.Until, nil
}
