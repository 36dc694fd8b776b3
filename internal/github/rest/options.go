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
	// Token is sent as a bearer token; empty sends none. Errors never contain it.
	Token string
	// TokenName is the source of Token, such as "GITHUB_TOKEN". It is part of the error when GitHub
	// refuses the token. Empty: the error does not name the source.
	TokenName string
	// Tokens returns tokens that expire; it replaces Token. Nil: Token is used.
	Tokens TokenSource
	// UserAgent is the User-Agent header; empty means "foreman-action".
	UserAgent string
	// Transport carries the requests; nil means a copy of [http.DefaultTransport],
	// which honours the proxy variables of the environment.
	Transport http.RoundTripper
	// Now returns the time; nil means [time.Now].
	Now func() time.Time
	// Sleep waits for a duration. If the context ends first, it returns the context's error. Nil
	// waits in real time.
	Sleep func(context.Context, time.Duration) error
	// RequestTimeout bounds one request, from connecting to the last byte of its
	// answer; 0 means 30 seconds.
	RequestTimeout time.Duration
	// MaxWait bounds how long one call may wait, in total, for rate limits and
	// between tries; 0 means 90 seconds.
	MaxWait time.Duration
	// Hold delays all requests of the account while GitHub limits it. Nil: each request waits for
	// its own limits only.
	Hold *Hold
	// Log gets a debug record for each request and a warning for each wait; nil
	// discards.
	Log *slog.Logger
}

// A TokenSource returns tokens that expire, such as those of a GitHub App. Implementations are safe
// for concurrent use.
type TokenSource interface {
	// Token returns a token for the next request. refused is a token that GitHub no longer accepts,
	// and which Token must not return again; empty: none. The error contains no secret.
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
