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
	early    = 5 * time.Minute // before it runs out a token is replaced
	shortest = time.Minute     // for which one is used all the same, when the clocks are far apart
)

var _ rest.TokenSource = (*Source)(nil)

// A Source gives the tokens of an installation that reach one repository. A token is kept
// until shortly before it runs out, and replaced once for all who wait. It is safe for
// concurrent use.
type Source struct {
	app         *App
	owner, name string

	turn         chan struct{} // contains a value while the fields below are in use
	installation int64         // 0: not looked up yet
	token        string
	good         time.Time // until when token is used
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
		s.installation = 0 // it may have been installed again since
		token, until, err = s.fetch(ctx)
	}
	if errors.Is(err, triage.ErrUncertain) {
		token, until, err = s.fetch(ctx) // a token more does no harm
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

// fetch asks for a token, and before it for the installation, if it is not known. That changes
// nothing on GitHub, and passes no gate, unlike the calls made with the token.
func (s *Source) fetch(ctx context.Context) (token string, until time.Time, err error) {
	ctx = effect.WithGate(ctx, nil)
	if s.installation == 0 {
		if s.installation, err = s.app.client.InstallationID(ctx, s.owner, s.name); err != nil {
			return "", time.Time{}, err
		}
	}
	return s.app.client.InstallationToken(ctx, github.Installation{
		ID: s.installation, Repositories: []string{s.name}, Permissions: s.app.o.Permissions,
	})
}

// advise returns what to do about an error.
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
