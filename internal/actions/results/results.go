// Package results stores memory in the results service of GitHub Actions: an [Artifact] store, and
// a [Cache] store that supports both versions of the cache service. Each is a memory.Store of one
// repository.
//
// The upload of artifacts and the whole cache service are internal to GitHub, so the requests
// imitate those of GitHub's own clients. Artifacts are read over the documented REST API. A caller
// treats every error of these stores as a warning: a job continues without memory.
//
// The package has its own client of the cache service because the client in
// github.com/tonistiigi/go-actions-cache adds 1.5 MB to the program, shows signatures in its
// errors, masks no signature, reads responses of any size and does not retry after 5xx.
package results

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/org/foreman-action/internal/actions/results/internal/rpc"
	"github.com/org/foreman-action/internal/roundtrip"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/memory"
)

// Errors that callers branch on; test with errors.Is.
var (
	// ErrDenied means that the job has no permission for the operation. The text names the missing
	// permission, the mode of the cache, or the reason that the service gave. Nothing was stored.
	ErrDenied = errors.New("denied")
	// ErrTaken means that this run of the workflow already has an artifact with that name. The
	// service neither lists that artifact nor allows its replacement, for example after an attempt
	// that was killed halfway. Nothing was stored.
	ErrTaken = errors.New("the name is taken in this run of the workflow")
	// ErrUnavailable means that the service does not exist here: the runner gave no
	// address or no token for it.
	ErrUnavailable = errors.New("the runner does not provide this service")
)

// Options configure a store. The names in capitals are the runner's variables that contain the
// values. Errors and logs contain no token.
type Options struct {
	ResultsURL   string // ACTIONS_RESULTS_URL
	CacheURL     string // ACTIONS_CACHE_URL, the address of version 1 of the cache service
	RuntimeToken string // ACTIONS_RUNTIME_TOKEN
	CacheMode    string // ACTIONS_CACHE_MODE: none, read, write or write-only; empty: unknown
	ServerURL    string // GITHUB_SERVER_URL; determines the version of the cache service
	Repo         string // GITHUB_REPOSITORY, "owner/name"; records of other repositories are refused

	// RepositoryID (GITHUB_REPOSITORY_ID) and DefaultBranch, without "refs/heads/",
	// decide which artifacts are trusted. The artifact store needs both.
	RepositoryID  int64
	DefaultBranch string

	// Reader reads the artifacts of earlier runs. Nil: the REST API at APIURL
	// (GITHUB_API_URL) with Token, which needs the permission `actions: read`.
	Reader Reader
	APIURL string
	Token  string

	// CacheVersion distinguishes the caches of different programs. Empty: our own.
	CacheVersion string

	// Transport carries the requests. Nil: a copy of [http.DefaultTransport], which
	// honours the proxy variables of the environment.
	Transport http.RoundTripper
	// RequestTimeout limits one request, its answer included. 0: 30 seconds.
	RequestTimeout time.Duration
	// Now returns the time, for the log. Nil: [time.Now].
	Now func() time.Time
	// Sleep waits for the duration between tries. If the context ends first, it returns the
	// context's error. Nil: a wait in real time.
	Sleep func(context.Context, time.Duration) error
	// Log gets a debug record for each request, and warnings. Nil discards.
	Log *slog.Logger
	// Mask hides a text in the job's log. It gets the signature of every signed
	// address before the address is used. Nil: nothing is masked.
	Mask func(string)
}

func (o Options) withDefaults() Options {
	if o.CacheVersion == "" {
		o.CacheVersion = defaultVersion()
	}
	if o.Transport == nil {
		o.Transport = roundtrip.New()
	}
	if o.RequestTimeout <= 0 {
		o.RequestTimeout = 30 * time.Second
	}
	o.Now = wait.Clock(o.Now)
	if o.Sleep == nil {
		o.Sleep = wait.For
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Mask == nil {
		o.Mask = func(string) {}
	}
	return o
}

// serviceClient returns a client of a service of the runner. name is the variable that contains the
// address, for errors.
func (o Options) serviceClient(address, name string) (*rpc.Client, error) {
	switch {
	case address == "":
		return nil, fmt.Errorf("%w: %s is not set", ErrUnavailable, name)
	case o.RuntimeToken == "":
		return nil, fmt.Errorf("%w: ACTIONS_RUNTIME_TOKEN is not set", ErrUnavailable)
	}
	if _, err := memory.Key(o.Repo, 1); err != nil {
		return nil, err
	}
	return o.client(address, name, o.RuntimeToken)
}

func (o Options) client(address, name, token string) (*rpc.Client, error) {
	return rpc.New(rpc.Options{
		URL: address, Name: name, Token: token, Transport: o.Transport, Timeout: o.RequestTimeout,
		Now: o.Now, Sleep: o.Sleep, Log: o.Log, Mask: o.Mask,
	})
}

// denied adds ErrDenied to an error about a missing permission.
func denied(err error) error {
	if rpc.IsForbidden(err) {
		return fmt.Errorf("%w: %w", ErrDenied, err)
	}
	return err
}

// refusal returns the error for a refused request, with the service's message unless it is empty.
func refusal(what, message string) error {
	if message != "" {
		message = ": " + message
	}
	return fmt.Errorf("%s: the service refused%s", what, message)
}
