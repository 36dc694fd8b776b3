package rest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	defaultBaseURL        = "https://api.github.com"
	defaultUserAgent      = "foreman-action"
	defaultRequestTimeout = 30 * time.Second
	defaultMaxWait        = 90 * time.Second
)

// Options configures a [Caller]. The zero value reads public data from
// api.github.com without a token.
type Options struct {
	// BaseURL is the API's root, such as "https://api.github.com" or, for an
	// Enterprise Server, "https://github.example.com/api/v3", with or without a
	// trailing slash. Empty means api.github.com.
	BaseURL string
	// Token is sent as a bearer token; empty sends none. It appears in no error.
	Token string
	// TokenName is the source of Token, such as "GITHUB_TOKEN", for the error of a call that
	// GitHub refuses it for; empty: the error does not name it.
	TokenName string
	// Tokens gives tokens that run out, in the place of Token; nil: there are none.
	Tokens TokenSource
	// UserAgent names the program to GitHub; empty means "foreman-action".
	UserAgent string
	// Transport carries the requests; nil means a copy of [http.DefaultTransport],
	// which honours the proxy variables of the environment.
	Transport http.RoundTripper
	// Now returns the time; nil means [time.Now].
	Now func() time.Time
	// Sleep waits for a duration or until the context ends, whose error it then
	// returns; nil waits in real time.
	Sleep func(context.Context, time.Duration) error
	// RequestTimeout bounds one request, from connecting to the last byte of its
	// answer; 0 means 30 seconds.
	RequestTimeout time.Duration
	// MaxWait bounds how long one call may wait, in total, for rate limits and
	// between tries; 0 means 90 seconds.
	MaxWait time.Duration
	// Log gets a debug record for each request and a warning for each wait; nil
	// discards.
	Log *slog.Logger
}

// A TokenSource gives tokens that run out, such as those of a GitHub App.
// Implementations are safe for concurrent use.
type TokenSource interface {
	// Token returns a token for the next request. refused is one that GitHub does not take
	// any more, and which is not to be returned again; empty: none. The error shows no
	// secret.
	Token(ctx context.Context, refused string) (string, error)
}

func baseURL(s string) (*url.URL, error) {
	if s == "" {
		s = defaultBaseURL
	}
	u, err := url.Parse(s)
	if err != nil {
		// The parser's message repeats its input, which may hold a password.
		return nil, errors.New("github base URL: not a URL")
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "":
		return nil, errors.New("github base URL: want http(s)://host/path")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return nil, errors.New("github base URL: user, query and fragment are not allowed")
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	u.RawPath = ""
	return u, nil
}
