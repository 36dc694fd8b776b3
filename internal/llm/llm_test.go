package llm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/llm"
	"github.com/org/foreman-action/internal/summarize"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	ok := llm.Options{Provider: llm.OpenAI, Model: "gpt-5", Key: theKey}
	with := func(change func(*llm.Options)) llm.Options {
		o := ok
		change(&o)
		return o
	}
	plain := "llm base URL: the key would go over plain http; want https://, or a host on this machine or in a private network"
	tests := []struct {
		name string
		o    llm.Options
		want string
	}{
		{"good", ok, ""},
		{"no provider", with(func(o *llm.Options) { o.Provider = "" }), `llm provider: want anthropic, openai or ollama, got ""`},
		{"another provider", with(func(o *llm.Options) { o.Provider = "OpenAI" }), `llm provider: want anthropic, openai or ollama, got "OpenAI"`},
		{"no model", with(func(o *llm.Options) { o.Model = " " }), "llm model: it is empty"},
		{"two lines", with(func(o *llm.Options) { o.Model = "a\nb" }), "llm model: want at most 200 printable characters"},
		{"long model", with(func(o *llm.Options) { o.Model = strings.Repeat("m", 201) }), "llm model: want at most 200 printable characters"},
		{"no key", with(func(o *llm.Options) { o.Key = "" }), "llm key: openai needs one"},
		{"no key for Anthropic", llm.Options{Provider: llm.Anthropic, Model: "m"}, "llm key: anthropic needs one"},
		{"no key elsewhere", with(func(o *llm.Options) { o.Key, o.BaseURL = "", "http://10.0.0.1:8000/v1" }), ""},
		{"no key for Ollama", llm.Options{Provider: llm.Ollama, Model: "m"}, ""},
		{"no key over http", llm.Options{Provider: llm.Ollama, Model: "m", BaseURL: "http://example.com"}, ""},
		{"key with a line break", with(func(o *llm.Options) { o.Key += "\n" }), "llm key: it contains a space, a control character or a non-ASCII character"},
		{"key with an accent", with(func(o *llm.Options) { o.Key += "é" }), "llm key: it contains a space, a control character or a non-ASCII character"},
		{"key over http", with(func(o *llm.Options) { o.BaseURL = "http://hunter2.example.com" }), plain},
		{"key over http for Ollama", llm.Options{Provider: llm.Ollama, Model: "m", Key: theKey, BaseURL: "http://hunter2.example.com"}, plain},
		{"tokens", with(func(o *llm.Options) { o.MaxTokens = -1 }), "llm max tokens: want more than 0, got -1"},
		{"timeout", with(func(o *llm.Options) { o.Timeout = -time.Second }), "llm timeout: want more than 0, got -1s"},
		{"user agent", with(func(o *llm.Options) { o.UserAgent = "a\r\nb: c" }), "llm user agent: it contains a character that is not printable"},
		{"several", llm.Options{Provider: llm.OpenAI, BaseURL: "ftp://hunter2", MaxTokens: -1},
			"llm base URL: want one that starts with https:// or http://\nllm model: it is empty\nllm max tokens: want more than 0, got -1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := llm.New(tt.o)
			if errText(err) != tt.want || (c == nil) != (err != nil) {
				t.Errorf("got %v, %v; want %q", c != nil, err, tt.want)
			}
			wantNone(t, errText(err))
		})
	}
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	tests := []struct{ provider, base, want string }{
		{llm.Anthropic, "", "https://api.anthropic.com/v1/messages"},
		{llm.Anthropic, "https://proxy.example.com", "https://proxy.example.com/v1/messages"},
		{llm.Anthropic, "https://proxy.example.com/v1/", "https://proxy.example.com/v1/messages"},
		{llm.Anthropic, "https://proxy.example.com/anthropic//", "https://proxy.example.com/anthropic/v1/messages"},
		{llm.OpenAI, "", "https://api.openai.com/v1/chat/completions"},
		{llm.OpenAI, "https://proxy.example.com:8443/", "https://proxy.example.com:8443/v1/chat/completions"},
		{llm.OpenAI, "https://proxy.example.com/api/v2", "https://proxy.example.com/api/v2/chat/completions"},
		{llm.OpenAI, "https://proxy.example.com:", "https://proxy.example.com/v1/chat/completions"},
		{llm.Ollama, "", "http://localhost:11434/v1/chat/completions"},
		{llm.Ollama, "http://ollama:11434", "http://ollama:11434/v1/chat/completions"},
		{llm.Ollama, "http://[fd00::1]:11434/v1", "http://[fd00::1]:11434/v1/chat/completions"},
		{llm.Ollama, "HTTP://LocalHost", "http://LocalHost/v1/chat/completions"},
		{llm.OpenAI, "http://127.0.0.9", "http://127.0.0.9/v1/chat/completions"},
		{llm.OpenAI, "http://192.168.1.1", "http://192.168.1.1/v1/chat/completions"},
		{llm.OpenAI, "http://169.254.1.1", "http://169.254.1.1/v1/chat/completions"},
		{llm.OpenAI, "http://[fe80::1]", "http://[fe80::1]/v1/chat/completions"},
		{llm.OpenAI, "http://[::1]", "http://[::1]/v1/chat/completions"},
		{llm.OpenAI, "http://models.localhost", "http://models.localhost/v1/chat/completions"},
		{llm.OpenAI, "http://8.8.8.8", "llm base URL: the key would go over plain http"},
		{llm.OpenAI, "http://134744072", "llm base URL: the key would go over plain http"},
		{llm.OpenAI, "http://0x08080808", "llm base URL: the key would go over plain http"},
		{llm.OpenAI, "http://localhost.example.com", "llm base URL: the key would go over plain http"},
		{llm.OpenAI, "http://[::ffff:8.8.8.8]", "llm base URL: the key would go over plain http"},
		{llm.OpenAI, "hunter2.example.com/v1", "llm base URL: want one that starts with"},
		{llm.OpenAI, "localhost:1234", "llm base URL: want one that starts with"},
		{llm.OpenAI, "https://", "llm base URL: want a host name"},
		{llm.OpenAI, "https://hun ter2", "llm base URL: it is not a valid URL"},
		{llm.OpenAI, "https://hunter2;x", "llm base URL: want a host name"},
		{llm.OpenAI, "https://hünter2.example", "llm base URL: want a host name"},
		{llm.OpenAI, "https://[fe80::1%25eth0]", "llm base URL: want a host name"},
		{llm.OpenAI, "https://example.com:70000", "llm base URL: the port"},
		{llm.OpenAI, "https://example.com:0", "llm base URL: the port"},
		{llm.OpenAI, "https://hunter2@example.com", "llm base URL: want a host and a path"},
		{llm.OpenAI, "https://example.com/?key=hunter2", "llm base URL: want a host and a path"},
		{llm.OpenAI, "https://example.com/?", "llm base URL: want a host and a path"},
		{llm.OpenAI, "https://example.com/#hunter2", "llm base URL: want a host and a path"},
		{llm.OpenAI, "https://example.com/a%2Fb", "llm base URL: want a host and a path"},
	}
	for _, tt := range tests {
		c := &canned{response: response(400, "")}
		client, err := llm.New(llm.Options{Provider: tt.provider, Model: "m", Key: theKey, BaseURL: tt.base, Transport: c})
		if err != nil {
			if !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%s %q: got error %v, want %q", tt.provider, tt.base, err, tt.want)
			}
			wantNone(t, err.Error())
			continue
		}
		_, err = client.Complete(t.Context(), thePrompt())
		got := c.requests[0].URL
		if got.String() != tt.want {
			t.Errorf("%s %q: got %q, want %q", tt.provider, tt.base, got, tt.want)
		}
		if want := "ask " + tt.provider + " at " + got.Host + ": status 400"; errText(err) != want {
			t.Errorf("%s %q: got %v, want %q", tt.provider, tt.base, err, want)
		}
	}
}

// TestKeyIsHidden prints every value that contains a key in every possible way.
func TestKeyIsHidden(t *testing.T) {
	t.Parallel()
	o := llm.Options{Provider: llm.OpenAI, Model: "m", Key: theKey}
	c := newClient(t, o)
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(h).Info("x", "key", o.Key, "list", []llm.Key{o.Key}, "map", map[string]any{"k": o.Key})
	}
	data, err := json.Marshal(map[string]any{"key": o.Key, "list": []llm.Key{o.Key}})
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{log.String(), string(data)}
	for _, verb := range strings.Fields("%v %+v %#v %s %q %x %X %d %T %t %5s %c %U") {
		for _, v := range []any{o.Key, &o.Key, o, &o, c, *c, []llm.Key{o.Key}} {
			texts = append(texts, fmt.Sprintf(verb, v))
		}
	}
	for _, text := range texts {
		wantNone(t, text)
		if strings.Contains(text, fmt.Sprintf("%x", "hunter2")) || strings.Contains(text, "104 117 110 116") {
			t.Errorf("%q holds the key in numbers", text)
		}
	}
	if got := fmt.Sprintf("%v|%v", o.Key, llm.Key("")); got != "[secret]|" {
		t.Errorf("got %q", got)
	}
}

func TestPromptRefused(t *testing.T) {
	t.Parallel()
	c := &canned{response: response(400, "")}
	client := newClient(t, llm.Options{Provider: llm.Ollama, Transport: c})
	for _, p := range []summarize.Prompt{{}, {System: "hello"}, {Text: " \n"}, {Text: "labelled", MaxTokens: -1}} {
		_, err := client.Complete(t.Context(), p)
		if got, want := errText(err), "ask ollama at localhost:11434: the prompt has no text, or MaxTokens is negative"; got != want {
			t.Errorf("%+v: got %q, want %q", p, got, want)
		}
	}
	if len(c.requests) > 0 {
		t.Errorf("got %d requests, want none", len(c.requests))
	}
}

// TestEnvironmentIsNotSent checks that a client does not send keys from the environment.
func TestEnvironmentIsNotSent(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-hunter2")
	t.Setenv("OPENAI_API_KEY", "sk-hunter2")
	c := &canned{response: response(http.StatusTeapot, "")}
	client := newClient(t, llm.Options{Provider: llm.Ollama, Transport: c})
	_, _ = client.Complete(t.Context(), thePrompt())
	wantHeader := "Accept, Content-Type, User-Agent"
	if got := headerNames(c.requests[0].Header); got != wantHeader {
		t.Errorf("got headers %s, want %s", got, wantHeader)
	}
}
