package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// chat is the wire of OpenAI's chat completions.
// https://platform.openai.com/docs/api-reference/chat and
// https://docs.ollama.com/api/openai-compatibility
type chat struct {
	// plain bounds the answer with max_tokens, which OpenAI's newer models refuse and
	// most other servers want.
	plain bool
}

func (chat) path(base string) string {
	if base == "" {
		base = "/v1"
	}
	return base + "/chat/completions"
}

func (chat) authorize(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

func (c chat) encode(q question) any {
	type request struct {
		Model               string    `json:"model"`
		MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
		MaxTokens           int       `json:"max_tokens,omitempty"`
		Messages            []message `json:"messages"`
	}
	r := request{Model: q.model, MaxCompletionTokens: q.maxTokens}
	if c.plain {
		r.MaxCompletionTokens, r.MaxTokens = 0, q.maxTokens
	}
	if q.system != "" {
		r.Messages = append(r.Messages, message{"system", q.system})
	}
	r.Messages = append(r.Messages, message{"user", q.text})
	return r
}

func (chat) decode(data []byte) (string, error) {
	var m struct {
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Content      string            `json:"content"`
				Refusal      string            `json:"refusal"`
				ToolCalls    []json.RawMessage `json:"tool_calls"`
				FunctionCall json.RawMessage   `json:"function_call"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := unmarshal(data, &m); err != nil {
		return "", err
	}
	if len(m.Choices) != 1 {
		return "", fmt.Errorf("the answer has %d choices, not 1", len(m.Choices))
	}
	c := m.Choices[0]
	called := len(c.Message.FunctionCall) > 0 && !bytes.Equal(c.Message.FunctionCall, []byte("null"))
	switch {
	case c.FinishReason != "stop":
		return "", stopped(c.FinishReason)
	case c.Message.Refusal != "":
		return "", stopped("refusal")
	case len(c.Message.ToolCalls) > 0 || called:
		return "", errors.New("the answer contains something besides text")
	}
	return whole(c.Message.Content)
}
