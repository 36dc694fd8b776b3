// Package hub reads issues and repositories of GitHub for contributors. It never waits. When
// GitHub refuses a read because of a rate limit, all reads of the run end, and the refusal is
// recorded.
package hub

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/gh"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/filecache"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/triage"
)

// cacheDir is the folder of cached answers, relative to the controller's root.
const cacheDir = controller.Folder + "/cache/http"

// maxAge is how long an answer is kept.
const maxAge = 24 * time.Hour

// A Hub reads from GitHub, with the contributor's token or without one. It is safe for concurrent
// use. An error is a [*BlockedError], a [*contract.Problem] or the error of the context, or it
// matches [triage.ErrNotFound].
type Hub struct {
	session session.Session
	caller  *rest.Caller
	scheme  string // of the API's address
	anon    bool   // there is no token

	mu      sync.Mutex // guards the fields below
	cache   *filecache.Cache
	state   controller.State
	stopped *BlockedError // why reads have ended; nil if they have not ended
}

// Open returns a hub for one run of a command. The token is that of the environment for the host,
// or that of gh; without one only public repositories can be read.
func Open(ctx context.Context, s session.Session) (*Hub, error) {
	base := s.API()
	o := rest.Options{BaseURL: base, UserAgent: s.UserAgent, Now: s.Now, Sleep: s.Sleep, MaxWait: 1}
	if !s.Offline {
		o.Token, o.TokenName = token(ctx, s, session.HostOf(base))
	}
	caller, err := rest.New(o)
	if err != nil {
		return nil, contract.Fail(contract.CodeUsage, "GH_HOST or GITHUB_API_URL: %w", err)
	}
	scheme, _, _ := strings.Cut(cmp.Or(base, "https:"), ":")
	h := &Hub{session: s, caller: caller, scheme: scheme, anon: o.Token == ""}
	if h.state, err = s.Controller.State(); err != nil {
		if _, ok := controller.Invalid(err); !ok { // an unreadable state contains no refusals
			return nil, err
		}
	}
	// The cache is optional: without it, every read is a request.
	h.cache, _ = filecache.Open(s.Controller.Abs(cacheDir), "v1")
	return h, nil
}

// token returns the token for a host, and a name of its source for people. It is empty if there is
// no token.
func token(ctx context.Context, s session.Session, host string) (value, name string) {
	if value, name = s.Token(host); value != "" {
		return value, name
	}
	value, err := gh.CLI{Environ: s.Environ, Host: host}.Token(ctx)
	if err != nil || value == "" {
		return "", ""
	}
	return value, "the token of gh"
}

// A read describes one request to GitHub.
type read struct {
	op    rest.Op
	scope string // scope in a [contract.Throttle]
	path  string
	query string // names the read in a throttle; empty: path
	issue bool   // reads the issue itself, so a missing one is an error for the user
}

// name returns the name of the read in a throttle.
func (r read) name() string {
	if r.query != "" {
		return r.query
	}
	return "/" + r.path
}

// A kept is a cached answer.
type kept struct {
	At   time.Time
	Path string
	ETag string
	Last int // see rest.Reply
	Body json.RawMessage
}

// get makes a read, or answers it from the cache, and decodes the answer. last is the number of the
// last page of a list; 0 if this is the last page.
func (h *Hub) get(ctx context.Context, r read, out any) (last int, err error) {
	if err := h.mayRead(r); err != nil {
		return 0, err
	}
	old, found := h.load(r)
	if h.session.Offline {
		if !found {
			return 0, offline(r)
		}
		return old.Last, decode(r, old.Body, out)
	}
	var body json.RawMessage
	reply, err := h.caller.Do(ctx, r.op, rest.Call{Method: http.MethodGet, Path: r.path, Out: &body, ETag: old.ETag})
	if to := h.movedTo(err); to != "" {
		if r.issue {
			return 0, h.moved(ctx, r, to, err)
		}
		reply, err = h.caller.Do(ctx, r.op, rest.Call{Method: http.MethodGet, Path: to, Out: &body})
	}
	if err != nil {
		return 0, h.failed(ctx, r, err)
	}
	if reply.Same {
		body, reply.ETag, reply.Last = old.Body, old.ETag, old.Last
	}
	h.store(r, kept{h.session.Now(), r.path, reply.ETag, reply.Last, body})
	return reply.Last, decode(r, body, out)
}

// mayRead returns an error if GitHub has refused an earlier read, so that this one must not be
// made.
func (h *Hub) mayRead(r read) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped != nil {
		return h.stopped
	}
	if h.session.IgnoreBackoff || h.session.Offline {
		return nil
	}
	if blocked, ok := h.state.Waiting(r.scope, r.name(), h.session.Now()); ok {
		h.stopped = &BlockedError{Throttle: blocked}
		return h.stopped
	}
	return nil
}

// Ahead returns an error if GitHub has recently refused one of the paths. Callers check all paths
// that they will need before the first read. So a run that cannot succeed makes no requests.
func (h *Hub) Ahead(scope string, paths ...string) error {
	for _, p := range paths {
		if err := h.mayRead(read{scope: scope, path: p}); err != nil {
			return err
		}
	}
	return nil
}

// key returns the name under which the cache stores an answer.
func (h *Hub) key(r read) string {
	sum := sha256.Sum256([]byte(h.caller.Host() + "\n" + r.path))
	return hex.EncodeToString(sum[:])
}

func (h *Hub) load(r read) (kept, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var k kept
	now := h.session.Now()
	if !h.cache.Load(h.key(r), &k) || k.Path != r.path || now.Sub(k.At) > maxAge || k.At.After(now.Add(time.Minute)) {
		return kept{}, false
	}
	return k, true
}

func (h *Hub) store(r read, k kept) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.cache.Store(h.key(r), k) // the cache is optional
}

func decode(r read, body json.RawMessage, out any) error {
	if err := json.Unmarshal(body, out); err != nil {
		return contract.Fail(contract.CodeUnreachable, "%s: decode the response: %w", r.op, err)
	}
	return nil
}

// absent reports whether a status means that GitHub has no such object: it does not exist, was
// deleted (410, also of an issue whose repository has disabled issues), or is a file of an empty
// repository (409).
func absent(status int) bool {
	switch status {
	case http.StatusNotFound, http.StatusGone, http.StatusConflict:
		return true
	}
	return status < http.StatusBadRequest
}

// failed converts the error of a read into one of the errors that [Hub] documents.
func (h *Hub) failed(ctx context.Context, r read, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	answer, ok := errors.AsType[*rest.AnswerError](err)
	if !ok {
		return contract.Fail(contract.CodeUnreachable, "%w; check the connection, then run the command again", err)
	}
	now := h.session.Now()
	blocked, throttled := throttle(answer, now)
	switch {
	case throttled:
	case answer.Status == http.StatusUnauthorized:
		return contract.Fail(contract.CodeAuth, "%w", err).With(h.session.SignIn(session.HostOf(h.session.API())))
	case answer.SSO != "":
		return contract.Fail(contract.CodeAuth, "%w: authorize the token for the organization at %s", err, answer.SSO).
			With(contract.Next{Action: contract.ActionAuthenticate, Command: answer.SSO, Kind: contract.KindURL})
	case answer.Status == http.StatusUnprocessableEntity:
		return contract.Fail(contract.CodeUsage, "%w", err)
	case absent(answer.Status):
		if !r.issue {
			return fmt.Errorf("%w: %w", triage.ErrNotFound, err)
		}
		if answer.Status == http.StatusGone {
			return contract.Fail(contract.CodeIssueNotFound, "%s: %w", r.op, answer).With(contract.Run(contract.ActionDiscover, "contribflow discover --json"))
		}
		hint := ""
		if h.anon {
			hint = "; private repositories need a token: run gh auth login, or set GH_TOKEN"
		}
		return contract.Fail(contract.CodeIssueNotFound, "%w%s", err, hint)
	default:
		blocked = unavailable(answer)
	}
	blocked.Scope, blocked.FailingQuery = r.scope, r.name()
	if blocked.Kind == contract.SecondaryLimit && r.scope != contract.ScopeDiscovery {
		blocked.RetryGuidance = "Do not immediately retry. Wait until GitHub accepts reads again, then run the command again."
	}
	stop := &BlockedError{Throttle: blocked}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped == nil && (throttled || answer.Status >= http.StatusInternalServerError) {
		h.stopped = stop
	}
	if throttled {
		if err := h.session.Controller.Remember(blocked, now); err != nil {
			return err
		}
	}
	return stop
}
