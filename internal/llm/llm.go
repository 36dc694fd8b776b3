package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/roundtrip"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/memory"
)

var _ memory.Model = (*Client)(nil)

// The providers, as Options.Provider names them.
const (
	Anthropic = "anthropic" // Messages API
	OpenAI    = "openai"    // chat completions, with max_completion_tokens
	// Ollama is chat completions with max_tokens: the form for most servers that are
	// compatible with OpenAI's.
	Ollama = "ollama"
)

// The defaults of Options.
const (
	DefaultMaxTokens = 4096
	DefaultTimeout   = 30 * time.Second
)

const (
	maxModel  = 200      // bytes of a model's name
	maxHeader = 64 << 10 // bytes of an answer's headers, with the transport of our own
)

// Options select the model, and configure its client.
type Options struct {
	Provider string // Anthropic, OpenAI or Ollama
	Model    string // as the provider names it
	// BaseURL is where the service is, http or https; empty means the provider's own address,
	// and this machine for Ollama. For Anthropic it is the part before "/v1/messages", and may
	// include "/v1"; for the others it is the part before "/chat/completions", and a URL
	// without a path means "/v1".
	BaseURL string
	// Key is the API key. Anthropic and OpenAI need one at their own address; servers
	// elsewhere, and Ollama, get one when there is one.
	Key Key
	// MaxTokens limits the cost of one answer; 0 means DefaultMaxTokens.
	MaxTokens int
	// Timeout bounds one Complete, from connecting to the last byte, with all waiting
	// and repeating in between; 0 means DefaultTimeout.
	Timeout time.Duration
	// Transport carries the requests. nil means a clone of http.DefaultTransport that
	// takes its proxy from the environment and opens one connection per request.
	Transport http.RoundTripper
	// UserAgent is the header of that name; empty means "foreman".
	UserAgent string
	// Now is the clock that dates in answers are compared with; nil means time.Now.
	Now func() time.Time
	// Sleep waits for d, or until ctx is done and returns its error then; nil means a
	// timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

// A Client asks one model. It is safe for concurrent use.
type Client struct {
	provider  string
	model     string
	wire      wire
	url       *url.URL
	key       func() string // a function, so that no way of printing a Client shows it
	maxTokens int
	timeout   time.Duration
	transport http.RoundTripper
	userAgent string
	now       func() time.Time
	sleep     func(ctx context.Context, d time.Duration) error
}

// New checks the options and returns a Client; nothing is sent. All mistakes are
// reported at once. A key is refused over plain http, unless the host is this machine,
// a private or link-local IP address, or a name without a dot. No error repeats the
// key or any part of the base URL.
func New(o Options) (*Client, error) {
	p, ok := providerOf(o.Provider)
	if !ok {
		return nil, fmt.Errorf("llm provider: want %s, %s or %s, got %.40q", Anthropic, OpenAI, Ollama, o.Provider)
	}
	u, err := parseBase(cmp.Or(o.BaseURL, p.base))
	if all := errors.Join(err, o.check(p, u)); all != nil {
		return nil, all
	}
	u.Path = p.wire.path(strings.TrimRight(u.Path, "/"))
	c := &Client{
		provider:  o.Provider,
		model:     o.Model,
		wire:      p.wire,
		url:       u,
		key:       func() string { return string(o.Key) },
		maxTokens: cmp.Or(o.MaxTokens, DefaultMaxTokens),
		timeout:   cmp.Or(o.Timeout, DefaultTimeout),
		transport: o.Transport,
		userAgent: cmp.Or(o.UserAgent, "foreman"),
		now:       o.Now,
		sleep:     o.Sleep,
	}
	if c.transport == nil {
		c.transport = newTransport()
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.sleep == nil {
		c.sleep = wait.For
	}
	return c, nil
}

// check returns every mistake in the options. u is nil when the base URL is one.
func (o Options) check(p provider, u *url.URL) error {
	var list []error
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			list = append(list, fmt.Errorf(format, args...))
		}
	}
	wrong(strings.TrimSpace(o.Model) == "", "llm model: it is empty")
	wrong(len(o.Model) > maxModel || !printable(o.Model), "llm model: want at most %d printable characters", maxModel)
	wrong(p.keyed && o.BaseURL == "" && o.Key == "", "llm key: %s needs one", o.Provider)
	// A key that was pasted with its line break would end up in a second header.
	wrong(strings.ContainsFunc(string(o.Key), func(r rune) bool { return r <= ' ' || r >= unicode.MaxASCII }), "llm key: it holds a space or something that is not ASCII")
	wrong(u != nil && u.Scheme == "http" && o.Key != "" && !address.Nearby(u.Hostname()),
		"llm base URL: the key would go over plain http; want https://, or a host on this machine or in a private network")
	wrong(o.MaxTokens < 0, "llm max tokens: want more than 0, got %d", o.MaxTokens)
	wrong(o.Timeout < 0, "llm timeout: want more than 0, got %v", o.Timeout)
	wrong(!printable(o.UserAgent), "llm user agent: it holds a control character")
	return errors.Join(list...)
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// newTransport returns the transport of a Client that was given none. One question is
// all that most programs have: no connection is kept.
func newTransport() *http.Transport {
	t := roundtrip.New()
	t.Proxy = http.ProxyFromEnvironment
	t.MaxResponseHeaderBytes = maxHeader
	t.DisableKeepAlives = true
	return t
}
