package rest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/internal/roundtrip"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/runner/effect"
)

const (
	maxTries  = 3
	maxAnswer = 32 << 20 // bytes; 100 comments of 64 Ki characters take up to 26 MiB
)

// errNotSent means that a gate or the caller's context stopped a request before it was sent.
var errNotSent = errors.New("the request was not sent")

var errTooLarge = fmt.Errorf("the answer is larger than %d MiB", maxAnswer>>20)

// A transport carries the requests of a client: it authorises them, waits for rate limits and
// repeats reads. It reads each response completely, so that the time limit and the size limit also
// apply to bodies. It records the outcome in the [exchange] of the request's context.
type transport struct {
	base   http.RoundTripper
	token  string
	tokens TokenSource // nil: token is used
	// tokenName is the name of the setting with the token, for errors; empty: unknown.
	tokenName string
	now       func() time.Time
	sleep     func(context.Context, time.Duration) error
	timeout   time.Duration
	maxWait   time.Duration
	log       *slog.Logger
	left      atomic.Int64 // see [Caller.Left]
	rate      *rate
	hold      *Hold // nil: each request waits for its own limits only
}

func newTransport(o Options) *transport {
	t := &transport{
		rate: &rate{}, base: o.Transport, token: o.Token, tokens: o.Tokens, tokenName: o.TokenName, now: o.Now, sleep: o.Sleep,
		timeout: o.RequestTimeout, maxWait: o.MaxWait, log: o.Log, hold: o.Hold,
	}
	if t.base == nil {
		t.base = roundtrip.New()
	}
	t.now = wait.Clock(t.now)
	if t.sleep == nil {
		t.sleep = wait.For
	}
	if t.timeout == 0 {
		t.timeout = defaultRequestTimeout
	}
	if t.maxWait == 0 {
		t.maxWait = defaultMaxWait
	}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	return t
}

// An exchange carries the outcome of a request from the transport to the caller.
type exchange struct {
	spent    *time.Duration // time waited so far, shared by the requests of one call
	write    bool           // the request may change something
	graphQL  bool           // the request goes to the GraphQL API
	account  string         // of the transport's Hold
	repo     string         // "owner/name"; empty: none
	answered bool           // GitHub answered with success
	answer   *AnswerError   // GitHub's answer, when it is not a success
	err      error          // why there is no answer
}

type (
	exchangeKey struct{}
	spentKey    struct{}
)

// ShareWait returns a context under which all calls together wait at most [Options.MaxWait]. If ctx
// already comes from ShareWait, it is returned unchanged.
func ShareWait(ctx context.Context) context.Context {
	if _, ok := ctx.Value(spentKey{}).(*time.Duration); ok {
		return ctx
	}
	return context.WithValue(ctx, spentKey{}, new(time.Duration))
}

func spentOf(ctx context.Context) *time.Duration {
	if spent, ok := ctx.Value(spentKey{}).(*time.Duration); ok {
		return spent
	}
	return new(time.Duration)
}

// A CallInfo describes the call that a request belongs to, for the transport that sends it.
type CallInfo struct {
	Account  string // as given to [NewHold]; empty: there is no Hold
	Repo     string // "owner/name"; empty: the call concerns no repository
	GraphQL  bool   // the request goes to the GraphQL API
	ForEvent bool   // as set by [ForEvent]
}

// CallOf returns the call that the request with this context belongs to; zero: it belongs to none.
func CallOf(ctx context.Context) CallInfo {
	ex, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return CallInfo{}
	}
	event, _ := ctx.Value(eventKey{}).(bool)
	return CallInfo{Account: ex.account, Repo: ex.repo, GraphQL: ex.graphQL, ForEvent: event}
}

type eventKey struct{}

// ForEvent marks the calls under a context as those that carry out the decision on an event.
func ForEvent(ctx context.Context) context.Context { return context.WithValue(ctx, eventKey{}, true) }

// A reply is a response that was read completely.
type reply struct {
	*http.Response
	body   []byte
	answer *AnswerError // nil for success
	token  string       // the token of the request

	graphQL bool // the response is from the GraphQL API
}

// RoundTrip sends one request, and repeats it if that is safe.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ex, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		ex = &exchange{spent: new(time.Duration)}
	}
	ex.write, ex.account = changes(req.Method), t.hold.Account()
	ex.answered, ex.answer, ex.err = false, nil, nil
	r, err := t.persist(req, ex)
	if err != nil {
		ex.err = err
		return nil, err
	}
	ex.answer, ex.answered = r.answer, r.answer == nil
	// go-github would remember these headers and refuse later calls by itself. A response that it
	// would treat as a secondary limit is handled before this point.
	r.Header.Del("X-Ratelimit-Remaining")
	r.Header.Del("X-Ratelimit-Reset")
	r.Body = io.NopCloser(bytes.NewReader(r.body))
	r.Request = req
	return r.Response, nil
}

// persist tries a request until there is a response to return, the error is final, or the time left
// to wait is too short.
func (t *transport) persist(req *http.Request, ex *exchange) (*reply, error) {
	refused, renewed := "", false
	for limits, failures := 0, 0; ; {
		r, wait, limited, err := t.try(req, ex, refused, limits)
		if r != nil && r.StatusCode == http.StatusUnauthorized && t.tokens != nil && !renewed {
			refused, renewed = r.token, true // the token has expired, so GitHub has executed nothing
			continue
		}
		if limited {
			limits++
			if left := t.maxWait - *ex.spent; wait > left {
				return nil, t.limitError(wait, left, r.answer)
			}
		} else {
			failures++
			wait = failureWait(r, failures)
			if failures == maxTries || !passing(req, r, err) || wait > t.maxWait-*ex.spent {
				return r, err
			}
		}
		t.log.Warn("waiting before the request is repeated", "method", req.Method, "path", req.URL.Path,
			"wait", wait, "limited", limited, "cause", cause(r, err))
		*ex.spent += wait
		if err := t.sleep(req.Context(), wait); err != nil {
			return nil, &unsentError{fmt.Errorf("waiting to repeat the request: %w", err)}
		}
	}
}

// try sends a request once, as soon as the account's hold permits it. limited reports whether
// GitHub refused the request because of a rate limit, and wait how long GitHub asks to wait. limits
// is the number of earlier refusals of the request.
func (t *transport) try(req *http.Request, ex *exchange, refused string, limits int) (r *reply, wait time.Duration, limited bool, err error) {
	leave, err := t.enter(req, ex)
	if err != nil {
		return nil, 0, false, err
	}
	defer func() { leave(t.now(), r != nil && !limited && r.StatusCode != http.StatusUnauthorized) }()
	r, err = t.once(req, refused)
	if r != nil && ex.graphQL {
		r.graphQL = true
		r.readErrors(t.now())
	}
	wait, limited = limitWait(r, t.now(), max(limits, t.hold.limited()))
	if limited && ofAccount(r) {
		t.hold.limit(ex.write, t.now(), wait, r.answer)
	}
	return r, wait, limited, err
}

// enter waits until the account's hold permits a request. The caller calls leave with the outcome:
// whether GitHub answered without a limit.
func (t *transport) enter(req *http.Request, ex *exchange) (leave func(now time.Time, answered bool), err error) {
	ctx := req.Context()
	for {
		e := t.hold.enter(t.now(), ex.write)
		left := t.maxWait - *ex.spent
		switch {
		case e.leave != nil:
			return e.leave, nil
		case e.probe == nil && e.wait > left:
			return nil, t.limitError(e.wait, left, e.cause)
		case e.probe != nil:
			start := t.now()
			select {
			case <-e.probe:
			case <-ctx.Done():
				err = ctx.Err()
			case <-time.After(left):
				*ex.spent = max(*ex.spent, t.maxWait)
				return nil, &unsentError{&LimitError{Wait: t.timeout, Probing: true, Err: e.cause}}
			}
			*ex.spent += t.now().Sub(start)
		default:
			*ex.spent += e.wait
			err = t.sleep(ctx, e.wait)
		}
		if err != nil {
			return nil, &unsentError{fmt.Errorf("waiting for the end of GitHub's limit: %w: %w", errNotSent, err)}
		}
	}
}

// limitError returns the error of a request that may not wait as long as GitHub asks. wait counts
// from now.
func (t *transport) limitError(wait, left time.Duration, cause error) error {
	return &unsentError{&LimitError{Wait: wait, Until: t.hold.Until(t.now()), Left: left, Err: cause}}
}

// cause returns why a request is retried, for the log. It omits the text of an error, which may contain
// data of a proxy or a transport.
func cause(r *reply, err error) string {
	if err != nil {
		return roundtrip.Cause(err)
	}
	return fmt.Sprint(r.StatusCode)
}

// once sends the request and reads the response, within the time limit.
func (t *transport) once(req *http.Request, refused string) (*reply, error) {
	parent := req.Context()
	token, err := t.credential(parent, refused)
	if err != nil {
		return nil, &unsentError{&credentialError{err}}
	}
	// This is the last check: getting the token, or waiting for the gate, may have taken longer
	// than the deadline.
	if err := checkMaySend(parent, req.Method); err != nil {
		return nil, &unsentError{fmt.Errorf("%w: %w", errNotSent, err)}
	}
	ctx, cancel := context.WithTimeout(parent, t.timeout)
	defer cancel()
	out, err := prepare(ctx, req, token)
	if err != nil {
		return nil, &unsentError{err}
	}
	start := t.now()
	r, err := t.exchange(out, token)
	if err != nil {
		if ctx.Err() != nil && parent.Err() == nil {
			err = fmt.Errorf("no answer within %s", t.timeout)
		}
		err = redact(err, token)
		if unsent(err) {
			err = &unsentError{err}
		}
		return nil, err
	}
	note(&t.left, r.Header)
	t.log.Debug("request", "method", req.Method, "path", req.URL.Path,
		"status", r.StatusCode, "took", t.now().Sub(start))
	return r, nil
}

// checkMaySend returns why a request must not be sent any more. It also compares the deadline with
// the time, because a process that was suspended may continue before the timer ends the context.
func checkMaySend(ctx context.Context, method string) error {
	if changes(method) {
		if err := effect.PassGate(ctx); err != nil {
			return err
		}
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= 0 {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// changes reports whether a request may change something.
func changes(method string) bool { return method != http.MethodGet && method != http.MethodHead }

// credential returns the token for one try, within the time limit.
func (t *transport) credential(ctx context.Context, refused string) (string, error) {
	if t.tokens == nil {
		return t.token, nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	return t.tokens.Token(ctx, refused)
}

// A credentialError means that the token source returned no token. The request is not retried,
// because the source has retried already.
type credentialError struct{ err error }

func (e *credentialError) Error() string { return "get a token: " + e.err.Error() }
func (e *credentialError) Unwrap() error { return e.err }

// prepare copies the request for one try, because a body can be read only once. It sets the header
// with the token.
func prepare(ctx context.Context, req *http.Request, token string) (*http.Request, error) {
	out := req.Clone(ctx)
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		out.Body = body
	}
	if token != "" {
		out.Header.Set("Authorization", "Bearer "+token)
	}
	return out, nil
}

func (t *transport) exchange(req *http.Request, token string) (*reply, error) {
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if len(body) > maxAnswer {
		return nil, errTooLarge
	}
	if err := CheckOrigin(resp, int64(len(bytes.TrimSpace(body)))); err != nil {
		return nil, err
	}
	t.rate.note(resp.Header)
	r := &reply{Response: resp, body: body, token: token}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		// The token is redacted twice. Before decoding, because clipping could leave half a token;
		// after decoding, because JSON can contain a token in escapes.
		r.answer = decodeAnswer(resp.StatusCode, []byte(secret.Redact(string(body), token)))
		r.answer.redact(token)
		r.answer.readHeaders(resp.Header, t.now(), token)
		if resp.StatusCode == http.StatusUnauthorized && t.tokenName != "" {
			r.answer.details = []string{"check " + t.tokenName}
		}
	}
	return r, nil
}

// unsent reports whether an error proves that no byte of the request was sent.
func unsent(err error) bool {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	e, ok := errors.AsType[*net.OpError](err)
	return ok && (e.Op == "dial" || e.Op == "proxyconnect")
}

// note stores the number of remaining calls from a response. The counter is one higher, because 0
// means unknown. Responses of the search are ignored, because the search has a separate limit.
func note(left *atomic.Int64, h http.Header) {
	if r := h.Get("X-Ratelimit-Resource"); r != "" && r != "core" {
		return
	}
	if n, err := strconv.ParseInt(h.Get("X-Ratelimit-Remaining"), 10, 32); err == nil && n >= 0 {
		left.Store(n + 1)
	}
}
