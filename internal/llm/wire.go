package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// A provider describes a kind of service.
type provider struct {
	base  string // its own base URL
	keyed bool   // whether that address requires a key
	wire  wire
}

func providerOf(name string) (p provider, ok bool) {
	switch name {
	case Anthropic:
		return provider{"https://api.anthropic.com", true, messages{}}, true
	case OpenAI:
		return provider{"https://api.openai.com/v1", true, chat{}}, true
	case Ollama:
		return provider{"http://localhost:11434/v1", false, chat{plain: true}}, true
	}
	return provider{}, false
}

// A wire is the format of one API's requests and responses.
type wire interface {
	// path returns the path of requests, made from the path of the base URL.
	path(base string) string
	// authorize sets the API's own headers, and the key unless it is empty.
	authorize(h http.Header, key string)
	// encode returns the body of a request.
	encode(q question) any
	// decode returns the text of a complete response. Its errors repeat nothing from the response.
	decode(data []byte) (string, error)
}

// A question is a prompt for one model.
type question struct {
	model, system, text string
	maxTokens           int
}

// A message is one turn of a conversation. Both APIs use this form.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// marshal returns v as compact JSON that does not escape '<', '>' and '&'.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// unmarshal decodes one JSON value, with no further data after it. Its errors quote no data,
// because a server may echo the request.
func unmarshal(data []byte, v any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("the answer is empty")
	}
	if !utf8.Valid(data) {
		return errors.New("the answer is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(v); err != nil {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return errors.New("the answer has an unexpected form")
		}
		return errors.New("the answer is not JSON")
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("unexpected data after the JSON of the answer")
	}
	return nil
}

// whole returns text, or an error if it is blank.
func whole(text string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", errors.New("the answer contains no text")
	}
	return text, nil
}

// stopped returns the error for a model that stopped before its text was complete.
func stopped(reason string) error {
	switch reason {
	case "":
		return errors.New("the model did not mark its answer as complete")
	case "max_tokens", "length", "model_context_window_exceeded":
		return errors.New("the answer is incomplete: it reached the token limit")
	case "refusal", "content_filter":
		return errors.New("the model refused to answer")
	case "tool_use", "pause_turn", "tool_calls", "function_call":
		return errors.New("the model wants to use a tool, and has none")
	}
	return errors.New("the model stopped for an unknown reason")
}

// words returns the known error names in an error response, such as "overloaded_error". Other parts
// are dropped, because the service may echo our request, including the key.
func words(data []byte) []string {
	var e struct {
		Error struct {
			Type    any `json:"type"`
			Code    any `json:"code"`
			Details struct {
				Code any `json:"error_code"`
			} `json:"details"`
		} `json:"error"`
	}
	// A field of a wrong type does not prevent the decoding of the others.
	_ = unmarshal(data, &e)
	var list []string
	for _, v := range []any{e.Error.Type, e.Error.Code, e.Error.Details.Code} {
		if s, ok := v.(string); ok && slices.Contains(strings.Fields(known+spent), s) && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// The error names that statusError may repeat.
const (
	known = "api_error authentication_error billing_error conflict_error context_length_exceeded invalid_api_key " +
		"invalid_request_error model_not_found not_found_error overloaded_error permission_error rate_limit_error " +
		"rate_limit_exceeded request_too_large requests server_error server_is_overloaded service_unavailable_error " +
		"slow_down timeout_error tokens unsupported_parameter unsupported_value "
	// spent lists the errors for which a retry is useless: the money or the quota is used up.
	spent = "credit_balance_exhausted enforced_spend_limit_reached insufficient_quota " +
		"organization_spend_limit_exceeded organization_usage_limit_exceeded project_spend_limit_exceeded"
)

// A statusError is an answer with a status other than 200.
type statusError struct {
	status int
	words  []string
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("status %d", e.status)
	if len(e.words) > 0 {
		text += " (" + strings.Join(e.words, ", ") + ")"
	}
	if e.status >= 300 && e.status < 400 {
		text += ", and redirects are not followed"
	}
	return text
}

// busy reports whether a retry of the same request may succeed.
func (e *statusError) busy() bool {
	lasting := slices.ContainsFunc(e.words, func(w string) bool { return slices.Contains(strings.Fields(spent), w) })
	return !lasting && slices.Contains([]int{http.StatusTooManyRequests, http.StatusServiceUnavailable, 529}, e.status)
}
