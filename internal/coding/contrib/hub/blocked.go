package hub

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/github/rest"
)

// A BlockedError means that GitHub refuses requests or does not answer for some time. No further
// reads are made.
type BlockedError struct{ Throttle contract.Throttle }

// Error returns the kind and GitHub's message.
func (e *BlockedError) Error() string {
	return fmt.Sprintf("read %s: %s: %s", e.Throttle.FailingQuery, strings.ReplaceAll(e.Throttle.Kind, "_", " "), e.Throttle.Message)
}

// Next returns the recommended next step.
func (e *BlockedError) Next() contract.Next {
	switch {
	case e.Throttle.Kind == contract.Offline:
		return contract.Instruct(contract.ActionWaitOrRefine, "Run the command again without --offline.")
	case e.Throttle.Kind == contract.Unavailable && e.Throttle.HTTPStatus < http.StatusInternalServerError:
		return contract.Instruct(contract.ActionWaitOrRefine, "Check that the repository exists, that you can read it and that it accepts issues, or choose another issue with: contribflow discover --json")
	case e.Throttle.Kind == contract.Unavailable:
		return contract.Instruct(contract.ActionWaitOrRefine, "Wait some minutes, look at https://www.githubstatus.com, then run the command again.")
	case e.Throttle.Scope == contract.ScopeDiscovery:
		return contract.Run(contract.ActionWaitOrRefine, "gh api rate_limit --jq '.resources.search'")
	}
	return contract.Run(contract.ActionWaitOrRefine, "gh api rate_limit --jq '.resources.core'")
}

// Reason returns why a command stopped, as a sentence.
func (e *BlockedError) Reason() string {
	switch {
	case e.Throttle.Kind == contract.Offline:
		return "The response of GitHub is not in the cache, and --offline forbids reading it."
	case e.Throttle.Kind == contract.Unavailable:
		return fmt.Sprintf("GitHub refused the read with the status %d.", e.Throttle.HTTPStatus)
	case e.Throttle.Scope == contract.ScopeDiscovery:
		return "GitHub issue search is currently throttled. Wait before retrying or narrow the discovery profile."
	}
	return "GitHub is currently throttling reads. Wait before retrying."
}

// Document returns the document of a look-up that this error ended.
func (e *BlockedError) Document(issue string) contract.BlockedLookup {
	return contract.BlockedLookup{Status: contract.Blocked, Issue: issue, Blocked: e.Throttle, Next: e.Next(), Reason: e.Reason()}
}

// throttle reports whether an answer refuses a read because of a rate limit. It exists because
// go-github detects this only for status 403. For a secondary limit, go-github takes the wait from
// the headers of the primary limit.
func throttle(a *rest.AnswerError, now time.Time) (contract.Throttle, bool) {
	if a.Status != http.StatusForbidden && a.Status != http.StatusTooManyRequests {
		return contract.Throttle{}, false
	}
	t := contract.Throttle{Message: a.Message, HTTPStatus: a.Status}
	message := strings.ToLower(a.Message)
	secondary := strings.Contains(message, "secondary rate limit") || strings.Contains(message, "abuse") ||
		strings.HasSuffix(a.Docs, "secondary-rate-limits") || strings.HasSuffix(a.Docs, "#abuse-rate-limits")
	switch {
	case !secondary && a.Spent:
		t.Kind = contract.PrimaryLimit
		t.RetryGuidance = "Do not retry before retryAfterAt: the token has no calls left until then."
		if !a.Reset.IsZero() {
			t.RetryAfterSeconds, t.RetryAfterAt = after(a.Reset.Sub(now), a.Reset)
		}
	case secondary, a.RetryAfter != nil, a.Status == http.StatusTooManyRequests:
		t.Kind = contract.SecondaryLimit
		t.RetryGuidance = "Do not immediately retry the same search. Wait for GitHub search protection to cool down or rerun discovery with narrower --lang, --topic, or --type flags."
		if a.RetryAfter != nil {
			t.RetryAfterSeconds, t.RetryAfterAt = after(*a.RetryAfter, now.Add(*a.RetryAfter))
		}
	default:
		return contract.Throttle{}, false
	}
	if t.Message == "" {
		t.Message = http.StatusText(a.Status)
	}
	return t, true
}

// after returns a wait in seconds and its end, as documents contain them.
func after(d time.Duration, at time.Time) (*int, *contract.Time) {
	seconds := max(0, int(math.Ceil(d.Seconds())))
	moment := contract.Time(at.UTC())
	return &seconds, &moment
}

// unavailable describes an answer that refuses, or fails, for another reason than the rate.
func unavailable(a *rest.AnswerError) contract.Throttle {
	return contract.Throttle{
		Kind: contract.Unavailable, Message: a.Error(), HTTPStatus: a.Status,
		RetryGuidance: "Do not retry in a loop. Find out why GitHub refuses, then run the command again.",
	}
}

func offline(r read) error {
	return &BlockedError{contract.Throttle{
		Kind: contract.Offline, Scope: r.scope, FailingQuery: r.name(), Message: "Not in the cache of the last 24 hours.",
		RetryGuidance: "Run the command again without --offline.",
	}}
}
