// Package app lets the client of package github work in the name of a GitHub App: it
// signs, and gets and keeps the tokens of the App's installations.
//
// It is a package of its own so that programs with another token do not contain the code for
// signing.
package app

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/org/foreman-action/internal/github"
)

const (
	backdated = time.Minute     // a signature is made as if before, for clocks differ
	signature = 9 * time.Minute // how long it is valid; GitHub accepts at most 10 minutes
)

// Options configure an [App].
type Options struct {
	ID string // the App's id, or its client id
	// Key is the App's private key in PEM, as GitHub hands it out. It appears in no error.
	Key []byte
	// Installation is the id of the one installation that is used; 0: it is looked up for
	// each repository.
	Installation int64
	// Permissions are the permissions of the tokens; nil: issues: write, contents: read and
	// metadata: read.
	Permissions map[string]string
	// GitHub is how GitHub is reached; its Token and Tokens do not count.
	GitHub github.Options
}

// An App is a GitHub App. It is safe for concurrent use.
type App struct {
	o      Options
	client *github.App // in the App's own name
	now    func() time.Time

	mu    sync.Mutex
	login string // see Login
}

// New returns an App. It does no I/O; the error states which option is not usable.
func New(o Options) (*App, error) {
	if o.ID == "" {
		return nil, errors.New("github app: the App's id is not set")
	}
	key, err := jwt.ParseRSAPrivateKeyFromPEM(o.Key)
	if err != nil {
		// The parser's words could repeat what it was given.
		return nil, errors.New("github app: the private key is unusable: want the PEM file with an RSA key that GitHub made for the App")
	}
	if o.Permissions == nil {
		o.Permissions = map[string]string{"issues": "write", "contents": "read", "metadata": "read"}
	}
	a := &App{o: o, now: o.GitHub.Now}
	if a.now == nil {
		a.now = time.Now
	}
	via := o.GitHub
	via.Token, via.Tokens = "", &signer{id: o.ID, key: key, now: a.now}
	if a.client, err = github.NewApp(via); err != nil {
		return nil, fmt.Errorf("github app: %w", err)
	}
	a.o.Key = nil // the signer has it
	return a, nil
}

// Login returns the login under which the App writes, such as "foreman[bot]". It is asked
// for once.
func (a *App) Login(ctx context.Context) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.login != "" {
		return a.login, nil
	}
	slug, err := a.client.Slug(ctx)
	if err != nil {
		return "", fmt.Errorf("github app: %w", err)
	}
	a.login = slug + "[bot]"
	return a.login, nil
}

// Client returns a client whose tokens reach one repository, "owner/name", and nothing
// else. It does no I/O.
func (a *App) Client(repo string) (*github.Client, error) {
	source, err := a.Source(repo)
	if err != nil {
		return nil, err
	}
	o := a.o.GitHub
	o.Token, o.Tokens = "", source
	return github.New(o)
}

// Source returns a source of tokens for one repository, "owner/name". It does no I/O.
func (a *App) Source(repo string) (*Source, error) {
	owner, name, ok := strings.Cut(repo, "/")
	if !ok || owner == "" || name == "" {
		return nil, fmt.Errorf("github app: repository %q: want owner/name", repo)
	}
	return &Source{app: a, owner: owner, name: name, turn: make(chan struct{}, 1), installation: a.o.Installation}, nil
}

// A signer makes the tokens with which an App authenticates as itself.
type signer struct {
	id  string
	key *rsa.PrivateKey
	now func() time.Time
}

// Token implements [rest.TokenSource]. Signing again helps only against a wrong clock that was
// corrected meanwhile.
func (s *signer) Token(context.Context, string) (string, error) {
	now := s.now()
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer:    s.id,
		IssuedAt:  jwt.NewNumericDate(now.Add(-backdated)),
		ExpiresAt: jwt.NewNumericDate(now.Add(signature)),
	})
	signed, err := token.SignedString(s.key)
	if err != nil {
		return "", errors.New("sign for the App: the private key cannot sign")
	}
	return signed, nil
}
