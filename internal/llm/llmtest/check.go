package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/testkit/loopback"
)

// A fault is an error in a request, and the error response of the service.
type fault struct {
	status int
	name   string
	text   string
}

func (f *fault) Error() string { return fmt.Sprintf("%d %s: %s", f.status, f.name, f.text) }

func invalid(format string, args ...any) *fault {
	return &fault{http.StatusBadRequest, "invalid_request_error", fmt.Sprintf(format, args...)}
}

// A wire is the format of one provider's requests and responses.
type wire interface {
	path() string
	// authorized reports whether the headers hold the key as the provider wants it.
	authorized(h http.Header) bool
	// parse reads the body of a request into r.
	parse(r *Request) error
	render(a Answer) any
	fail(a Answer) any
}

func wireOf(provider string) (w wire, ok bool) {
	switch provider {
	case Anthropic:
		return anthropic{}, true
	case OpenAI:
		return completions{keyed: true}, true
	case Ollama:
		return completions{}, true
	}
	return nil, false
}

// read parses a recorded request, and checks it.
func read(w wire, c loopback.Call) Request {
	r := Request{Method: c.Method, URI: c.URI, Header: c.Header, Body: c.Body}
	media := r.Header.Get("Content-Type")
	switch {
	case c.Err != nil:
		r.Err = &fault{http.StatusRequestEntityTooLarge, "request_too_large", c.Err.Error()}
	case r.URI != w.path():
		r.Err = &fault{http.StatusNotFound, "not_found_error", "no " + r.URI}
	case r.Method != http.MethodPost:
		r.Err = &fault{http.StatusMethodNotAllowed, "invalid_request_error", "want POST"}
	case !w.authorized(r.Header):
		r.Err = &fault{http.StatusUnauthorized, "authentication_error", "invalid key"}
	case media != "application/json":
		r.Err = invalid("want application/json, got %q", media)
	case r.Header.Get("User-Agent") == "" || strings.HasPrefix(r.Header.Get("User-Agent"), "Go-http-client"):
		r.Err = invalid("want a user agent that has a name")
	default:
		if err := w.parse(&r); err != nil {
			r.Err = invalid("%v", err)
		}
	}
	return r
}

// A turn is one message of a conversation.
type turn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// anthropic is the Messages API.
type anthropic struct{}

func (anthropic) path() string { return "/v1/messages" }

func (anthropic) authorized(h http.Header) bool {
	return slices.Equal(h["X-Api-Key"], []string{Key}) && h["Authorization"] == nil
}

func (anthropic) parse(r *Request) error {
	if v := r.Header["Anthropic-Version"]; !slices.Equal(v, []string{"2023-06-01"}) {
		return fmt.Errorf("anthropic-version: got %q", v)
	}
	var body struct {
		Model     string  `json:"model"`
		MaxTokens *int    `json:"max_tokens"`
		System    *string `json:"system"`
		Messages  []turn  `json:"messages"`
	}
	if err := decode(r.Body, &body); err != nil {
		return err
	}
	if body.System != nil {
		body.Messages = append([]turn{{"system", *body.System}}, body.Messages...)
	}
	return r.fill(body.Model, body.MaxTokens, body.Messages)
}

// completions checks requests for chat completions: those to OpenAI have a key, those to Ollama
// need none.
type completions struct{ keyed bool }

func (completions) path() string { return "/v1/chat/completions" }

func (c completions) authorized(h http.Header) bool {
	if h["X-Api-Key"] != nil {
		return false
	}
	return slices.Equal(h["Authorization"], []string{"Bearer " + Key}) || !c.keyed && h["Authorization"] == nil
}

func (c completions) parse(r *Request) error {
	type common struct {
		Model    string `json:"model"`
		Messages []turn `json:"messages"`
	}
	// OpenAI's newer models reject max_tokens; Ollama does not know max_completion_tokens.
	if c.keyed {
		var body struct {
			common
			MaxTokens *int `json:"max_completion_tokens"`
		}
		if err := decode(r.Body, &body); err != nil {
			return err
		}
		return r.fill(body.Model, body.MaxTokens, body.Messages)
	}
	var body struct {
		common
		MaxTokens *int `json:"max_tokens"`
	}
	if err := decode(r.Body, &body); err != nil {
		return err
	}
	return r.fill(body.Model, body.MaxTokens, body.Messages)
}

// decode reads one JSON object, without unknown fields and without further data.
func decode(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("unexpected data after the JSON")
	}
	return nil
}

// fill sets the fields from a body. turns must be one message of the user, with at most one system
// message before it.
func (r *Request) fill(model string, maxTokens *int, turns []turn) error {
	if model == "" {
		return errors.New("model: it is missing")
	}
	if maxTokens == nil || *maxTokens < 1 {
		return errors.New("the bound of tokens: want 1 or more")
	}
	r.Model, r.MaxTokens = model, *maxTokens
	for i, t := range turns {
		if strings.TrimSpace(t.Content) == "" {
			return fmt.Errorf("messages.%d: it is blank", i)
		}
		last := i == len(turns)-1
		switch {
		case t.Role == "user" && last:
			r.Text = t.Content
		case t.Role == "system" && i == 0 && !last:
			r.System = t.Content
		default:
			return fmt.Errorf("messages.%d: role %.40q in the wrong place", i, t.Role)
		}
	}
	if len(turns) == 0 {
		return errors.New("messages: want at least 1")
	}
	return nil
}
