package llm

import (
	"errors"
	"net/http"
	"strings"
)

// apiVersion is the version of the Messages API.
const apiVersion = "2023-06-01"

// messages is the wire of Anthropic's Messages API.
// https://docs.claude.com/en/api/messages
type messages struct{}

func (messages) path(base string) string { return strings.TrimSuffix(base, "/v1") + "/v1/messages" }

func (messages) authorize(h http.Header, key string) {
	h.Set("Anthropic-Version", apiVersion)
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

func (messages) encode(q question) any {
	return struct {
		Model     string    `json:"model"`
		MaxTokens int       `json:"max_tokens"`
		System    string    `json:"system,omitempty"`
		Messages  []message `json:"messages"`
	}{q.model, q.maxTokens, q.system, []message{{"user", q.text}}}
}

func (messages) decode(data []byte) (string, error) {
	var m struct {
		Type       string `json:"type"`
		StopReason string `json:"stop_reason"`
		Content    []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := unmarshal(data, &m); err != nil {
		return "", err
	}
	if m.Type != "message" {
		return "", errors.New("the answer is not a message")
	}
	if m.StopReason != "end_turn" {
		return "", stopped(m.StopReason)
	}
	var text strings.Builder
	for _, c := range m.Content {
		switch c.Type {
		case "text":
			text.WriteString(c.Text)
		case "thinking", "redacted_thinking":
			// Some models send their reasoning without being asked. It is not part of the answer.
		default:
			return "", errors.New("the answer contains something besides text")
		}
	}
	return whole(text.String())
}
