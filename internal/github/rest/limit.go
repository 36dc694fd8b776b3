package rest

import (
	"crypto/tls"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	minLimitWait   = time.Second
	secondaryWait  = time.Minute // GitHub: "wait for at least one minute", then exponentially
	maxAskedWait   = 30 * 24 * time.Hour
	firstRetryWait = time.Second
)

// limitWait reports whether an answer refuses a call because of a rate limit, and
// how long GitHub asks to wait; n counts the refusals of this request before.
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

func limited(r *reply) bool {
	if r.graphQL && r.answer.ownLimit() {
		return false // others may be asked
	}
	switch r.StatusCode {
	case http.StatusOK: // with errors of the GraphQL API
		return r.answer.limit() || r.answer.RetryAfter != nil
	case http.StatusTooManyRequests:
		return true
	case http.StatusForbidden:
		// The last call of an hour may be refused for want of permission, too.
		return !r.answer.permission() &&
			(r.answer.limit() || r.Header.Get("Retry-After") != "" || r.answer.Spent)
	}
	return false
}

// retryAfter reads the header in either form, seconds or a date.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0, false
	}
	if secs, err := strconv.ParseInt(v, 10, 64); err == nil && secs >= 0 {
		return time.Duration(min(secs, int64(maxAskedWait/time.Second))) * time.Second, true
	}
	if at, err := http.ParseTime(v); err == nil {
		return min(max(at.Sub(now), 0), maxAskedWait), true
	}
	return 0, false
}

// failureWait is the pause after the n-th failed try, from 1.
func failureWait(r *reply, n int) time.Duration {
	wait := firstRetryWait << (n - 1)
	if r != nil {
		// Only a wait in seconds below the limit counts. Without a clock a date counts as the
		// limit, and a service that asks for so long has more than a short failure.
		if asked, ok := retryAfter(r.Header, time.Time{}); ok && asked < maxAskedWait {
			wait = max(wait, asked)
		}
	}
	return wait
}

// passing reports whether a failed try may be made again: a read that failed for a
// passing reason, or any request that certainly did not leave.
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
