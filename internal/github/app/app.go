// Package app lets the client of package github act as a GitHub App. It signs requests of the App,
// and requests and caches the tokens of the App's installations.
//
// It is a separate package so that programs that use another kind of token do not contain the code
// for signing.
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
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/wait"
)

const (
	backdated = time.Minute     // a signature's issue time is this much in the past, because clocks differ
	signature = 9 * time.Minute // how long a signature is valid; GitHub accepts at most 10 minutes
)

// Options configure an [App].
type Options struct {
	ID string // the App's id, or its client id
	// Key is the App's private key in PEM, as downloaded from GitHub. Errors never contain it.
	Key []byte
	// Installation is the id of the one installation to use; 0: App looks up the installation of
	// each repository.
	Installation int64
	// Permissions are the permissions of the installation tokens; nil: issues: write, contents:
	// read and metadata: read.
	Permissions map[string]string
	// GitHub configures the connection to GitHub; its Token and Tokens are ignored. Its Hold is that
	// of the installation.
	GitHub github.Options
	// Hold is that of the App itself, with which it requests tokens; nil: none. It must be another
	// one than the installation's, because the probe of the installation may need a token.
	Hold *rest.Hold
}

// An App is a GitHub App. It is safe for concurrent use.
type App struct {
	o      Options
	client *github.App // authenticates as the App itself
	now    func() time.Time

	mu    sync.Mutex
	login string // see Login
}

// New returns an App. It does no I/O; the error names the invalid option.
func New(o Options) (*App, error) {
	if o.ID == "" {
		return nil, errors.New("github app: the App's id is not set")
	}
	key, err := jwt.ParseRSAPrivateKeyFromPEM(o.Key)
	if err != nil {
		// The parser's error could contain the key.
		return nil, errors.New("github app: the private key is unusable: want the PEM file with an RSA key that GitHub made for the App")
	}
	if o.Permissions == nil {
		o.Permissions = map[string]string{"issues": "write", "contents": "read", "metadata": "read"}
	}
	a := &App{o: o, now: wait.Clock(o.GitHub.Now)}
	via := o.GitHub
	via.Hold = o.Hold
	via.Token, via.Tokens = "", &signer{id: o.ID, key: key, now: a.now}
	if a.client, err = github.NewApp(via); err != nil {
		return nil, fmt.Errorf("github app: %w", err)
	}
	a.o.Key = nil // only the signer needs the key
	return a, nil
}

// Login returns the login under which the App writes, such as "foreman[bot]". It requests the login
// from GitHub only once.
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

// Deliveries returns the deliveries of the App's webhook. It does no I/O.
func (a *App) Deliveries() github.Deliveries { return a.client.Deliveries() }

// Client returns a client whose tokens give access to one repository, "owner/name", and to no
// other. It does no I/O.
func (a *App) Client(repo string) (*github.Client, error) {
	source, err := a.Source(repo)
	if err != nil {
		return nil, err
	}
	o := a.o.GitHub
	o.Token, o.Tokens = "", source
	return github.New(o)
}

// Source returns a source of tokens for one repository, "owner/name". An empty repo means all
// repositories of the installation, which must be set in Options. It does no I/O.
func (a *App) Source(repo string) (*Source, error) {
	owner, name, ok := strings.Cut(repo, "/")
	all := repo == "" && a.o.Installation != 0
	if !all && (!ok || owner == "" || name == "") {
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

// Token implements [rest.TokenSource]. Each call signs a new token. After a refusal a new token
// helps only if the machine's clock was wrong and has been corrected since.
func (s *signer) Token(context.Context, string) (string, error) {
	now := s.now()
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer:    s.id,
		IssuedAt:  jwt.NewNumericDate(now.Add(-backdated)),
		ExpiresAt: jwt.NewNumericDate(now.Add(signature)),
	})
	signed, err := token.SignedString(s.key)
	if err != nil {
		return "", errors.New("make the App's token: signing with the private key failed")
	}
	return signed, nil
}
