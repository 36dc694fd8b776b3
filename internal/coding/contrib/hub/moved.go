package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/github/rest"
)

// movedTo returns the new address of an object whose repository was renamed, or which was
// transferred. It is empty for other errors, and for addresses on another host, which must not get
// the token.
func (h *Hub) movedTo(err error) string {
	answer, ok := errors.AsType[*rest.AnswerError](err)
	if !ok || answer.Status < http.StatusMultipleChoices || answer.Status >= http.StatusBadRequest {
		return ""
	}
	to, err := url.Parse(answer.Location)
	if err != nil || to.User != nil || !strings.EqualFold(to.Host, h.caller.Host()) || to.Scheme != h.scheme {
		return ""
	}
	return to.String()
}

// moved returns the problem of an issue that has a new address. Later commands need the new name,
// because they compare names, for example of the fork's parent.
func (h *Hub) moved(ctx context.Context, r read, to string, cause error) error {
	var issue struct {
		Number int    `json:"number"`
		Repo   string `json:"repository_url"`
	}
	if _, err := h.caller.Do(ctx, r.op, rest.Call{Method: http.MethodGet, Path: to, Out: &issue}); err != nil {
		return h.failed(ctx, r, err)
	}
	_, full, _ := strings.Cut(issue.Repo, "/repos/")
	ref, err := controller.ParseIssue(fmt.Sprintf("%s#%d", full, issue.Number))
	if err != nil {
		return contract.Fail(contract.CodeIssueNotFound, "%w", cause)
	}
	next := contract.Run(contract.ActionPlan, "contribflow plan "+ref.String()+" --json")
	if r.scope == contract.ScopeScore {
		next = contract.Run(contract.ActionScore, "contribflow score "+ref.String()+" --json")
	}
	return contract.Fail(contract.CodeIssueMoved, "%s: it is now %s", r.op, ref).With(next)
}
