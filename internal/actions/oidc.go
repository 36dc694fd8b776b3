package actions

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	githubactions "github.com/sethvargo/go-githubactions"
)

// ErrNoIDToken means that the job may not request an OIDC token.
var ErrNoIDToken = errors.New("the job may not ask for one: add `id-token: write` to its permissions")

// idTokenTimeout bounds the request for an OIDC token, body included.
const idTokenTimeout = 10 * time.Second

// A TokenSource requests OIDC tokens from the runner. It is safe for concurrent use.
type TokenSource struct {
	log *Log
	// The library's method, and not its Action: an Action that reflection can reach would
	// keep html/template in the program.
	request func(ctx context.Context, audience string) (string, error)
}

func newTokenSource(getenv func(string) string, client *http.Client, log *Log) *TokenSource {
	lib := githubactions.New(githubactions.WithGetenv(getenv), githubactions.WithHTTPClient(boundedClient(client)))
	return &TokenSource{log, lib.GetIDToken}
}

// IDToken asks the runner for an OIDC token that names the audience, masks it in the
// log and returns it. The token is valid for minutes: ask for one per use.
//
// The error is [ErrNoIDToken] when the workflow lacks the permission. One request
// is made, without following a redirect, and at most 64 kB are read within 10 s.
// An error contains neither the token of the request nor the answer.
func (s *TokenSource) IDToken(ctx context.Context, audience string) (string, error) {
	if audience == "" {
		return "", errors.New("request an OIDC token: the audience is empty")
	}
	token, err := s.request(ctx, audience)
	if err != nil {
		return "", fmt.Errorf("request an OIDC token: %w", idTokenError(err))
	}
	if !isJWT(token) {
		return "", errors.New("request an OIDC token: the answer holds no token")
	}
	s.log.Mask(token)
	return token, nil
}

// idTokenError returns an error that is safe to show: it contains neither the answer
// nor a header.
func idTokenError(err error) error {
	var missing *githubactions.EnvMissingError
	var refused *githubactions.RequestFailedError
	var request *url.Error
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf("%w (%s is not set)", ErrNoIDToken, missing.Name)
	case errors.As(err, &refused):
		return fmt.Errorf("HTTP status %d", refused.StatusCode)
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer in time: %w", context.DeadlineExceeded)
	case errors.As(err, &request) && request.Op == "parse":
		return errors.New("ACTIONS_ID_TOKEN_REQUEST_URL is not an address")
	case errors.As(err, &request):
		return connectionError(request.Err)
	}
	return errors.New("the answer is not the JSON that was expected")
}

// connectionError returns an error of the network, for the user to fix. It hides any other error,
// which may quote the peer.
func connectionError(err error) error {
	var network *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &network):
		return network
	case errors.As(err, &certificate):
		return certificate
	}
	return errors.New("the connection failed")
}

// isJWT reports whether a text has the form of a signed token: three parts in the
// alphabet of base64url. Such a text can stand in a header and in a mask.
func isJWT(s string) bool {
	if strings.Count(s, ".") != 2 {
		return false
	}
	for part := range strings.SplitSeq(s, ".") {
		if part == "" || strings.ContainsFunc(part, notBase64URL) {
			return false
		}
	}
	return true
}

func notBase64URL(c rune) bool {
	return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
}

// boundedClient returns a client like the given one that follows no redirect, which
// would carry the request's token elsewhere, and that does not wait for ever.
func boundedClient(c *http.Client) *http.Client {
	bounded := http.Client{}
	if c != nil {
		bounded = *c
	}
	if bounded.Timeout <= 0 || bounded.Timeout > idTokenTimeout {
		bounded.Timeout = idTokenTimeout
	}
	bounded.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &bounded
}
