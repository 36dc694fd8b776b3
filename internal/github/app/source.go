package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

const (
	early    = 5 * time.Minute // a token is replaced this long before it expires
	shortest = time.Minute     // a new token is used at least this long, even if the clocks differ much
)

var _ rest.TokenSource = (*Source)(nil)

// A Source returns the installation tokens for one repository, or for all of an installation. It caches a token until five minutes
// before it expires. If several goroutines wait for a new token, it requests only one. It is safe
// for concurrent use.
type Source struct {
	app         *App
	owner, name string // empty: all repositories of the installation

	turn         chan struct{} // semaphore of size 1; guards the fields below
	installation int64         // 0: not looked up yet
	token        string
	good         time.Time // token is used until this time
}

// Token implements [rest.TokenSource].
func (s *Source) Token(ctx context.Context, refused string) (string, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-s.turn }()
	if s.token != "" && s.token != refused && s.app.now().Before(s.good) {
		return s.token, nil
	}
	s.token = ""
	token, until, err := s.fetch(ctx)
	if errors.Is(err, triage.ErrNotFound) && s.app.o.Installation == 0 && s.installation != 0 {
		s.installation = 0 // the App may have been installed again, under another id
		token, until, err = s.fetch(ctx)
	}
	if errors.Is(err, triage.ErrUncertain) {
		token, until, err = s.fetch(ctx) // a second token does no harm
	}
	if err != nil {
		return "", fmt.Errorf("github app: %w", advise(err))
	}
	now := s.app.now()
	s.token, s.good = token, until.Add(-early)
	if s.good.Before(now.Add(shortest)) {
		s.good = now.Add(shortest)
	}
	return token, nil
}

// fetch requests a token, and first the id of the installation if it is unknown. These requests do
// not call the gate of a write, because they change nothing on GitHub.
func (s *Source) fetch(ctx context.Context) (token string, until time.Time, err error) {
	ctx = effect.WithGate(ctx, nil)
	if s.installation == 0 {
		if s.installation, err = s.app.client.InstallationID(ctx, s.owner, s.name); err != nil {
			return "", time.Time{}, err
		}
	}
	in := github.Installation{ID: s.installation, Permissions: s.app.o.Permissions}
	if s.name != "" {
		in.Repositories = []string{s.name}
	}
	return s.app.client.InstallationToken(ctx, in)
}

// advise adds to an error what the operator should do.
func advise(err error) error {
	switch rest.StatusOf(err) {
	case http.StatusUnauthorized:
		return fmt.Errorf("%w (check the App's id, its private key and this machine's clock)", err)
	case http.StatusNotFound:
		return fmt.Errorf("%w (install the App for the repository)", err)
	case http.StatusUnprocessableEntity, http.StatusForbidden:
		return fmt.Errorf("%w (the App must reach the repository, with the permissions issues: write and contents: read)", err)
	}
	return err
}
