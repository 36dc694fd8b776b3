package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/org/foreman-action/triage"
)

// Viewer returns the login that the token belongs to. Tokens of installations and of
// workflows belong to none: PermissionError.
func (c *Client) Viewer(ctx context.Context) (string, error) {
	var user struct {
		Login string `json:"login"`
	}
	o := op{what: "ask whose the token is", need: "a token of an account", absent: triage.ErrNotFound}
	ex := &exchange{spent: budgetOf(ctx)}
	if _, err := c.exchange(context.WithValue(ctx, exchangeKey{}, ex), call{http.MethodGet, "user", nil, &user}); err != nil {
		return "", fmt.Errorf("%s: %w", o.what, o.cause(ex, err))
	}
	if user.Login == "" {
		return "", errors.New("ask whose the token is: the answer has no login")
	}
	return user.Login, nil
}
