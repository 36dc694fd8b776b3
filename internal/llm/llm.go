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
	"github.com/org/foreman-action/internal/summarize"
	"github.com/org/foreman-action/internal/wait"
)

var _ summarize.Model = (*Client)(nil)

// The providers, as Options.Provider names them.
const (
	Anthropic = "anthropic" // Messages API
	OpenAI    = "openai"    // chat completions, with max_completion_tokens
	// Ollama selects chat completions with max_tokens, which most servers that are compatible with
	// OpenAI's API accept.
	Ollama = "ollama"
)

// The defaults of Options.
const (
	DefaultMaxTokens = 4096
	DefaultTimeout   = 30 * time.Second
)

const (
	maxModel  = 200      // bytes of a model's name
	maxHeader = 64 << 10 // bytes of a response's headers; applies to our own transport only
)

// Options select the model and configure its client.
type Options struct {
	Provider string // Anthropic, OpenAI or Ollama
	Model    string // the provider's name of the model
	// BaseURL is the address of the service, http or https. Empty means the provider's own address;
	// for Ollama it is this machine. For Anthropic it is the part before "/v1/messages", with or
	// without "/v1". For the others it is the part before "/chat/completions", where a URL without
	// a path means "/v1".
	BaseURL string
	// Key is the API key. Anthropic and OpenAI require one at their own address. For other servers
	// and for Ollama it is optional.
	Key Key
	// MaxTokens limits the length, and so the cost, of one answer; 0 means DefaultMaxTokens.
	MaxTokens int
	// Timeout limits one call of Complete, including all retries and waiting; 0 means
	// DefaultTimeout.
	Timeout time.Duration
	// Transport sends the requests. Nil means a clone of http.DefaultTransport that uses the proxy
	// of the environment and opens one connection per request.
	Transport http.RoundTripper
	// UserAgent is the header User-Agent; empty means "foreman".
	UserAgent string
	// Now is the clock that dates in Retry-After are compared with; nil means time.Now.
	Now func() time.Time
	// Sleep waits for d. If ctx ends first, it returns the error of ctx. Nil means a timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

// A Client sends prompts to one model. It is safe for concurrent use.
type Client struct {
	provider  string
	model     string
	wire      wire
	url       *url.URL
	key       func() string // a function, because printing a Client must not show the key
	maxTokens int
	timeout   time.Duration
	transport http.RoundTripper
	userAgent string
	now       func() time.Time
	sleep     func(ctx context.Context, d time.Duration) error
}

// New checks the options and returns a Client, without sending anything. The error lists all
// mistakes. A key over plain http is refused, unless the host is this machine, a private or
// link-local IP address, or a name without a dot. No error repeats the key or a part of the base
// URL.
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
	c.now = wait.Clock(c.now)
	if c.sleep == nil {
		c.sleep = wait.For
	}
	return c, nil
}

// check returns all mistakes in the options. u is nil if the base URL is invalid; then it is not
// checked here.
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
	wrong(strings.ContainsFunc(string(o.Key), func(r rune) bool { return r <= ' ' || r >= unicode.MaxASCII }), "llm key: it contains a space, a control character or a non-ASCII character")
	wrong(u != nil && u.Scheme == "http" && o.Key != "" && !address.Nearby(u.Hostname()),
		"llm base URL: the key would go over plain http; want https://, or a host on this machine or in a private network")
	wrong(o.MaxTokens < 0, "llm max tokens: want more than 0, got %d", o.MaxTokens)
	wrong(o.Timeout < 0, "llm timeout: want more than 0, got %v", o.Timeout)
	wrong(!printable(o.UserAgent), "llm user agent: it contains a character that is not printable")
	return errors.Join(list...)
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// newTransport returns the transport for Options without one. It keeps no idle connections, because
// most programs send only one prompt.
func newTransport() *http.Transport {
	t := roundtrip.New()
	t.Proxy = http.ProxyFromEnvironment
	t.MaxResponseHeaderBytes = maxHeader
	t.DisableKeepAlives = true
	return t
}
