package poll

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

// errTooManyPostponed reports that an issue cannot be postponed.
var errTooManyPostponed = fmt.Errorf("%d issues wait already", maxPostponed)

// concernsOneIssue reports whether an error is about one issue, so that a poll can go on
// with the others.
func concernsOneIssue(ctx context.Context, err error) bool {
	if status := rest.StatusOf(err); status == http.StatusUnauthorized || status == http.StatusForbidden {
		return false
	}
	return ctx.Err() == nil && !errors.Is(err, triage.ErrLimited) && !errors.Is(err, queue.ErrUnavailable)
}

// advice returns what an operator can do about an error.
func advice(err error) string {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "GitHub's name cannot be resolved; check the network, the proxy and identity.api_url"
	}
	if errors.Is(err, triage.ErrLimited) {
		return "the limit of calls is spent; it goes on when GitHub gives more"
	}
	if need, ok := errors.AsType[*triage.PermissionError](err); ok {
		return "the token may not read issues; give it " + need.Need
	}
	switch status := rest.StatusOf(err); {
	case status == http.StatusUnauthorized:
		return "GitHub refuses the token; it may have run out or been revoked: check identity"
	case status == http.StatusForbidden:
		return "GitHub refuses it; check what the token may do, and whether it is authorised for the organisation"
	case status >= http.StatusInternalServerError:
		return "GitHub has trouble; it is tried again"
	case errors.Is(err, triage.ErrNotFound):
		return "there is no such repository, it was renamed, or the token does not see it; check repos and the token"
	}
	return "it is tried again"
}
