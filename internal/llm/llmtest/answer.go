package llmtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"

	"github.com/org/foreman-action/internal/loopback"
)

// The places where an [Answer] can be cut off.
const (
	BeforeHeaders = loopback.BeforeHeaders // the connection closes without an answer
	InBody        = loopback.InBody        // the connection closes after half of the body
)

// A Stop is the reason why a model stops. Each provider has names of its own for them.
type Stop int

// The reasons.
const (
	Whole   Stop = iota // the text is complete
	Tokens              // it ran out of tokens
	Refused             // it refuses to answer
	Tool                // it calls a tool, after its text
)

// An Answer is an answer of a [Server]. The zero value is a complete, empty text.
type Answer struct {
	Text  string // of the model; of a failure, its message
	Think string // its thoughts before the text
	Stop  Stop
	// Status is the HTTP status; 0 means 200. With any other, the body is an error.
	Status int
	Error  string      // the error's type, and for chat completions its code as well
	Header http.Header // on top of Content-Type
	Body   []byte      // the body itself; nil: made of the fields above
	// Hold and HoldBody hold back the whole answer, or the second half of its body, until
	// they are closed; nil: nothing is held back.
	Hold, HoldBody <-chan struct{}
	Cut            loopback.Cut
}

// Say returns an answer with a text.
func Say(text string) Answer { return Answer{Text: text} }

// Fail answers with a status and an error of a type.
func Fail(status int, name string) Answer {
	return Answer{Status: status, Error: name, Text: "something is wrong"}
}

// Busy answers with a status and the seconds after which to ask again.
func Busy(status, seconds int) Answer {
	a := Fail(status, "rate_limit_error")
	a.Header = http.Header{"Retry-After": {strconv.Itoa(seconds)}}
	return a
}

// Huge answers with a correct text of n bytes.
func Huge(n int) Answer { return Say(string(bytes.Repeat([]byte("x"), n))) }

// Raw answers with a body of its own.
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
		// A value of maps, lists and strings always has a form.
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
	// A refusal of the model itself ends like any other text.
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
