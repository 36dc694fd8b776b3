// Package results keeps memory in the results service of GitHub Actions: an
// [Artifact] store, and a [Cache] store over both versions of the cache service.
// Each is a memory.Store of one repository.
//
// The upload of artifacts and the whole of the cache service are internal to
// GitHub and spoken as its own clients speak them; the reading of artifacts is the
// documented REST API. A caller treats every error of these stores as a warning:
// memory is a help, and a job goes on without it.
package results

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/org/foreman-action/memory"
)

// Errors that callers branch on; test with errors.Is.
var (
	// ErrDenied says that the job may not do this, and why: the text names the
	// missing permission, the mode of the cache, or the service's own reason. Nothing
	// was stored.
	ErrDenied = errors.New("denied")
	// ErrTaken says that this run of the workflow has an artifact of the name already,
	// which the service neither shows nor lets us replace, as after an attempt that
	// was killed halfway. Nothing was stored.
	ErrTaken = errors.New("the name is taken in this run of the workflow")
	// ErrUnavailable says that there is no such service here: the runner gave no
	// address or no token for it.
	ErrUnavailable = errors.New("the runner offers no such service")
)

const (
	defaultTimeout = 30 * time.Second
	userAgent      = "foreman-action"
)

// Options are what a store is made of; the names in capitals are the variables of
// the runner that hold the values. No error and no log shows a token.
type Options struct {
	ResultsURL   string // ACTIONS_RESULTS_URL
	CacheURL     string // ACTIONS_CACHE_URL; that of version 1 of the cache service
	RuntimeToken string // ACTIONS_RUNTIME_TOKEN
	CacheMode    string // ACTIONS_CACHE_MODE: none, read, write or write-only; empty: not told
	ServerURL    string // GITHUB_SERVER_URL; decides about the version of the cache service
	Repo         string // GITHUB_REPOSITORY, "owner/name"; no other repository's records are kept

	// RepositoryID (GITHUB_REPOSITORY_ID) and DefaultBranch, without "refs/heads/",
	// say whose artifacts are believed. The artifact store needs both.
	RepositoryID  int64
	DefaultBranch string

	// Reader reads the artifacts of earlier runs. Nil: the REST API at APIURL
	// (GITHUB_API_URL), asked with Token, which needs the permission `actions: read`.
	Reader Reader
	APIURL string
	Token  string

	// CacheVersion keeps the caches of different programs apart. Empty: our own.
	CacheVersion string

	// Transport carries the requests. Nil: a copy of [http.DefaultTransport], which
	// honours the proxy variables of the environment.
	Transport http.RoundTripper
	// RequestTimeout bounds one request, its answer included. 0: 30 seconds.
	RequestTimeout time.Duration
	// Now tells the time, for the log. Nil: [time.Now].
	Now func() time.Time
	// Sleep waits between tries, or until the context ends, whose error it returns.
	// Nil: in real time.
	Sleep func(context.Context, time.Duration) error
	// Log gets a debug record for each request, and warnings. Nil discards.
	Log *slog.Logger
	// Mask hides a text in the job's log. It gets the signature of every signed
	// address before the address is used. Nil: nothing is masked.
	Mask func(string)
}

// NewArtifact returns the store of the artifacts of o.Repo. It does no I/O; its
// errors are [ErrUnavailable], or name the option that is wrong.
func NewArtifact(o Options) (*Artifact, error) {
	c, err := newClient(o, o.ResultsURL, "ACTIONS_RESULTS_URL")
	switch {
	case err != nil:
		return nil, fmt.Errorf("artifact store: %w", err)
	case o.RepositoryID < 1:
		return nil, errors.New("artifact store: the id of the repository is not known")
	case o.DefaultBranch == "":
		return nil, errors.New("artifact store: the default branch is not known")
	}
	reader := o.Reader
	if reader == nil {
		if reader, err = newREST(o); err != nil {
			return nil, fmt.Errorf("artifact store: %w", err)
		}
	}
	return &Artifact{
		c: c, reader: reader, repo: o.Repo, repoID: o.RepositoryID, branch: o.DefaultBranch,
		gate: newGate(), seen: map[int]held{},
	}, nil
}

// NewCache returns the store of the caches of o.Repo. On github.com and ghe.com it
// speaks version 2 of the service, elsewhere version 1 if ACTIONS_CACHE_URL is
// there. (ACTIONS_CACHE_SERVICE_V2, which would tell, is not given to containers.)
// Programs that run workflows at home say that they are github.com: where there is an
// ACTIONS_CACHE_URL, and an ACTIONS_RESULTS_URL without TLS, which GitHub never has,
// version 1 is spoken too.
// It does no I/O; its errors are [ErrUnavailable], or name the option that is wrong.
func NewCache(o Options) (*Cache, error) {
	version := o.CacheVersion
	if version == "" {
		version = defaultVersion()
	}
	s := &Cache{repo: o.Repo, mode: o.CacheMode, gate: newGate(), seen: map[int]slot{}}
	switch {
	case hosted(o.ServerURL) && o.ResultsURL != "" && (o.CacheURL == "" || !plain(o.ResultsURL)):
		c, err := newClient(o, o.ResultsURL, "ACTIONS_RESULTS_URL")
		if err != nil {
			return nil, fmt.Errorf("cache store: %w", err)
		}
		s.c, s.wire = c, &cacheV2{c: c, version: version}
	default:
		c, err := newClient(o, o.CacheURL, "ACTIONS_CACHE_URL")
		if err != nil {
			return nil, fmt.Errorf("cache store: %w", err)
		}
		s.c, s.wire = c, &cacheV1{c: c, version: version}
	}
	return s, nil
}

// hosted reports whether a server is GitHub's own, and not an Enterprise Server.
func hosted(server string) bool {
	u, err := url.Parse(server)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host == "github.com" || strings.HasSuffix(host, ".ghe.com")
}

// plain reports whether an address is one without TLS.
func plain(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "http"
}

// checkIssue is what both stores ask before they do anything.
func checkIssue(ctx context.Context, own, repo string, issue int) error {
	if _, err := memory.Key(repo, issue); err != nil {
		return err
	}
	if !strings.EqualFold(own, repo) {
		return fmt.Errorf("this store keeps the memory of %s only", own)
	}
	return ctx.Err()
}

// A gate lets one saver of a process through at a time: the services would take
// two for rivals, which costs waiting.
type gate chan struct{}

func newGate() gate { return make(gate, 1) }

func (g gate) enter(ctx context.Context) error {
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g gate) leave() { <-g }

// admit says whether a record may be saved over a stored one, of which the revision
// or the error of reading it is given.
func admit(next, stored int, err error) error {
	switch {
	case errors.Is(err, memory.ErrNotFound):
		stored = 0
	case errors.Is(err, memory.ErrBroken) && next == 0:
		return nil
	case errors.Is(err, memory.ErrBroken):
		return fmt.Errorf("%w: %w", memory.ErrConflict, err)
	case err != nil:
		return err
	}
	if next != stored {
		return fmt.Errorf("%w: it has revision %d, not %d", memory.ErrConflict, stored, next)
	}
	return nil
}

// told reports whether an error is about what is stored, and not about the way to it.
func told(err error) bool {
	return err == nil || errors.Is(err, memory.ErrBroken) || errors.Is(err, memory.ErrNewer)
}
