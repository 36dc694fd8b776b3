package llmtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"

	"github.com/org/foreman-action/internal/testkit/loopback"
)

// The places where an [Answer] can be cut off.
const (
	BeforeHeaders = loopback.BeforeHeaders // the connection closes before the response
	InBody        = loopback.InBody        // the connection closes after half of the body
)

// A Stop is the reason why a model stops. Each provider has its own names for these reasons.
type Stop int

// The reasons.
const (
	Whole   Stop = iota // the text is complete
	Tokens              // the limit of tokens is reached
	Refused             // the model refuses to answer
	Tool                // the model calls a tool after its text
)

// An Answer is an answer of a [Server]. The zero value is a complete, empty text.
type Answer struct {
	Text  string // text of the model; for an error status, the error message
	Think string // the model's reasoning before the text
	Stop  Stop
	// Status is the HTTP status; 0 means 200. For any other status the body is an error.
	Status int
	Error  string      // type of the error; chat completions use it as the code, too
	Header http.Header // headers in addition to Content-Type
	Body   []byte      // the body itself; nil: made from the fields above
	// Hold delays the whole response until the channel is closed, and HoldBody the second half of
	// its body. Nil: no delay.
	Hold, HoldBody <-chan struct{}
	Cut            loopback.Cut
}

// Say returns an answer with a text.
func Say(text string) Answer { return Answer{Text: text} }

// Fail returns an answer with an HTTP status and an error of the named type.
func Fail(status int, name string) Answer {
	return Answer{Status: status, Error: name, Text: "something is wrong"}
}

// Busy returns an answer with an HTTP status and a Retry-After header in seconds.
func Busy(status, seconds int) Answer {
	a := Fail(status, "rate_limit_error")
	a.Header = http.Header{"Retry-After": {strconv.Itoa(seconds)}}
	return a
}

// Huge returns a valid answer with a text of n bytes.
func Huge(n int) Answer { return Say(string(bytes.Repeat([]byte("x"), n))) }

// Raw returns an answer with this body.
func Raw(body string) Answer { return Answer{Body: []byte(body)} }

// encode returns the answer as the server sends it.
func (a Answer) encode(w wire) loopback.Answer {
	out := loopback.Answer{
		Status: a.Status, Header: http.Header{"Content-Type": {"application/json"}}, Body: a.Body,
		Hold: a.Hold, HoldBody: a.HoldBody, Cut: a.Cut,
	}
	maps.Copy(out.Header, a.Header)
	if a.Body != nil {
		return out
	}
	v := w.render(a)
	if a.Status != 0 && a.Status != http.StatusOK {
		v = w.fail(a)
	}
	var err error
	if out.Body, err = json.Marshal(v); err != nil {
		// json.Marshal cannot fail for maps, lists and strings.
		panic("llmtest: encode the answer: " + err.Error())
	}
	return out
}

type object = map[string]any

func (anthropic) render(a Answer) any {
	content := []object{}
	if a.Think != "" {
		content = append(content, object{"type": "thinking", "thinking": a.Think, "signature": "c2lnbmVk"})
	}
	if a.Text != "" {
		content = append(content, object{"type": "text", "text": a.Text})
	}
	if a.Stop == Tool {
		content = append(content, object{"type": "tool_use", "id": "toolu_1", "name": "search", "input": object{"query": a.Text}})
	}
	return object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "content": content,
		"stop_reason":   []string{"end_turn", "max_tokens", "refusal", "tool_use"}[a.Stop],
		"stop_sequence": nil, "usage": object{"input_tokens": 100, "output_tokens": 50},
	}
}

func (anthropic) fail(a Answer) any {
	return object{"type": "error", "error": object{"type": a.Error, "message": a.Text}, "request_id": "req_1"}
}

func (completions) render(a Answer) any {
	m := object{"role": "assistant", "content": a.Text}
	if a.Think != "" {
		m["reasoning"] = a.Think
	}
	switch a.Stop {
	case Whole, Tokens:
	case Refused:
		m["content"], m["refusal"] = nil, a.Text
	case Tool:
		call := object{"id": "call_1", "type": "function", "function": object{"name": "search", "arguments": "{}"}}
		m["content"], m["tool_calls"] = nil, []object{call}
	}
	// OpenAI reports a refusal by the model with the finish reason of a complete text.
	stop := []string{"stop", "length", "stop", "tool_calls"}[a.Stop]
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1775804400, "model": "gpt-test",
		"choices": []object{{"index": 0, "message": m, "logprobs": nil, "finish_reason": stop}},
		"usage":   object{"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150},
	}
}

func (completions) fail(a Answer) any {
	return object{"error": object{"message": a.Text, "type": a.Error, "param": nil, "code": a.Error}}
}
