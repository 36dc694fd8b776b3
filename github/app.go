package github

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/app"
	"github.com/org/foreman-action/protocol"
)

// An App is an installation of a GitHub App, from which [AppToken] gets tokens.
type App struct {
	ID string // the App's id, or its client id; required
	// Key is the App's private key in PEM, as downloaded from GitHub. Required. Errors never contain
	// it.
	Key []byte
	// Repo is the repository, "owner/name", to which the tokens give access. Empty: all repositories
	// of Installation.
	Repo string
	// Installation is the id of the installation. 0: that of Repo, which GitHub is asked for.
	Installation int64
	// Permissions are the permissions of the tokens, such as "issues": "write". Nil: issues: write,
	// contents: read and metadata: read.
	Permissions map[string]string

	BaseURL   string            // as in Options
	Transport http.RoundTripper // as in Options
	Log       *slog.Logger      // as in Options
}

// AppToken returns a function for [Options.Token]. It keeps a token until five minutes before it
// expires, and requests another one if GitHub refuses the token earlier. It is safe for concurrent
// use. AppToken makes no requests; its error names the invalid field.
func AppToken(a App) (func(context.Context) (string, error), error) {
	_, _, named := protocol.SplitRepo(a.Repo)
	switch {
	case a.ID == "":
		return nil, errors.New("github: App.ID is empty")
	case len(a.Key) == 0:
		return nil, errors.New("github: App.Key is empty")
	case a.Repo == "" && a.Installation == 0:
		return nil, errors.New("github: App.Repo and App.Installation are empty: set one of them")
	case a.Repo != "" && !named:
		return nil, fmt.Errorf("github: App.Repo is %q: want owner/name", a.Repo)
	case a.Installation < 0:
		return nil, fmt.Errorf("github: App.Installation is %d: want the id of an installation", a.Installation)
	}
	connection := github.Options{BaseURL: a.BaseURL, Transport: a.Transport, Log: a.Log}
	if _, err := github.New(connection); err != nil {
		return nil, fmt.Errorf("github: App.BaseURL: %w", err)
	}
	of, err := app.New(app.Options{
		ID: a.ID, Key: slices.Clone(a.Key), Installation: a.Installation, Permissions: maps.Clone(a.Permissions), GitHub: connection,
	})
	if err != nil {
		return nil, fmt.Errorf("github: App.Key: %w", err)
	}
	source, err := of.Source(a.Repo)
	if err != nil {
		return nil, fmt.Errorf("github: App.Repo: %w", err)
	}
	return func(ctx context.Context) (string, error) {
		refused, _ := ctx.Value(refusedKey{}).(string)
		return source.Token(ctx, refused)
	}, nil
}
