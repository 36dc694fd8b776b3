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

// ErrNoIDToken means that the job has no permission to request an OIDC token.
var ErrNoIDToken = errors.New("the job has no permission for an OIDC token: add `id-token: write` to its permissions")

// idTokenTimeout bounds the request for an OIDC token, body included.
const idTokenTimeout = 10 * time.Second

// A TokenSource requests OIDC tokens from the runner. It is safe for concurrent use.
type TokenSource struct {
	log *Log
	// request is the GetIDToken method of the library's Action. The field does not hold the Action
	// itself: then reflection could reach all its methods, and the linker would keep html/template
	// in the program.
	request func(ctx context.Context, audience string) (string, error)
}

func newTokenSource(getenv func(string) string, client *http.Client, log *Log) *TokenSource {
	lib := githubactions.New(githubactions.WithGetenv(getenv), githubactions.WithHTTPClient(boundedClient(client)))
	return &TokenSource{log, lib.GetIDToken}
}

// IDToken requests an OIDC token for the audience from the runner, masks it in the log and returns
// it. The token is valid for minutes, so callers request a new one for each use.
//
// The error is [ErrNoIDToken] when the workflow lacks the permission. IDToken makes one request,
// follows no redirect, and reads at most 64 kB within 10 s. Errors contain neither the runner's
// request token nor its response.
func (s *TokenSource) IDToken(ctx context.Context, audience string) (string, error) {
	if audience == "" {
		return "", errors.New("request an OIDC token: the audience is empty")
	}
	token, err := s.request(ctx, audience)
	if err != nil {
		return "", fmt.Errorf("request an OIDC token: %w", idTokenError(err))
	}
	if !isJWT(token) {
		return "", errors.New("request an OIDC token: the answer contains no token")
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
	return errors.New("the answer is not the expected JSON")
}

// connectionError returns errors of the network as they are, so that users can fix the cause. It
// hides any other error, because the text may quote the server.
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

// isJWT reports whether a text has the form of a signed token: three parts in the base64url
// alphabet. Such a text contains no character that is special in a header or a mask command.
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

// boundedClient returns a copy of c that follows no redirects and has a time limit. A redirect
// would send the request's token to another server.
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
