package rest

import (
	"crypto/tls"
	"errors"
	"net/http"
	"time"

	"github.com/org/foreman-action/internal/roundtrip"
)

const (
	minLimitWait   = time.Second
	secondaryWait  = time.Minute // GitHub's documentation: "wait for at least one minute", then exponentially
	firstRetryWait = time.Second
)

// limitWait reports whether GitHub refused a call because of a rate limit, and how long GitHub asks
// to wait. n is the number of earlier refusals of this request.
func limitWait(r *reply, now time.Time, n int) (time.Duration, bool) {
	if r == nil || r.answer == nil || !limited(r) {
		return 0, false
	}
	if wait := r.answer.RetryAfter; wait != nil {
		return max(*wait, minLimitWait), true
	}
	if r.answer.Spent && !r.answer.Reset.IsZero() {
		return max(r.answer.Reset.Sub(now), minLimitWait), true
	}
	return secondaryWait << min(n, 8), true
}

// ofAccount reports whether a limit applies to all requests of the account. A spent limit of the
// search or of the GraphQL API does not.
func ofAccount(r *reply) bool {
	resource := r.Header.Get("X-Ratelimit-Resource")
	return resource == "" || resource == "core" || !r.answer.Spent || r.answer.RetryAfter != nil
}

func limited(r *reply) bool {
	if r.graphQL && r.answer.ownLimit() {
		return false // the caller may use the REST API instead
	}
	switch r.StatusCode {
	case http.StatusOK: // the response contains errors of the GraphQL API
		return r.answer.limit() || r.answer.RetryAfter != nil
	case http.StatusTooManyRequests:
		return true
	case http.StatusForbidden:
		// A 403 with no calls left may also be about a missing permission, which waiting does not
		// fix.
		return !r.answer.permission() &&
			(r.answer.limit() || r.Header.Get("Retry-After") != "" || r.answer.Spent)
	}
	return false
}

// failureWait returns the wait after the n-th failed try, from 1.
func failureWait(r *reply, n int) time.Duration {
	wait := firstRetryWait << (n - 1)
	if r != nil {
		// The zero time turns every date into MaxRetryAfter, so only a wait in seconds is used. A
		// service that asks for a wait as long as MaxRetryAfter has more than a short failure.
		if asked, ok := roundtrip.RetryAfter(r.Header, time.Time{}); ok && asked < roundtrip.MaxRetryAfter {
			wait = max(wait, asked)
		}
	}
	return wait
}

// passing reports whether a failed try may be repeated. It may if a read failed for a temporary
// reason, or if the request certainly was not sent.
func passing(req *http.Request, r *reply, err error) bool {
	read := !changes(req.Method)
	if err == nil {
		return read && r.StatusCode >= 500 && r.StatusCode != http.StatusNotImplemented
	}
	switch {
	case req.Context().Err() != nil, errors.Is(err, errTooLarge), errors.Is(err, errNotSent):
		return false
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	if _, ok := errors.AsType[*credentialError](err); ok {
		return false
	}
	_, unsent := errors.AsType[*unsentError](err)
	return read || unsent
}
