// Package model reaches the language model that a configuration names.
package model

import (
	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/llm"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/protocol"
)

// New returns a client for a model of a provider.
func New(env process.Env, backend protocol.LLMBackendRef, settings config.Model, key secret.Text) (*llm.Client, error) {
	return llm.New(llm.Options{
		Provider: backend.Provider, Model: backend.Model, BaseURL: settings.BaseURL, Key: key,
		MaxTokens: settings.MaxTokens, Timeout: settings.Timeout, UserAgent: env.UserAgent(),
		Now: env.Now, Sleep: env.Sleep,
	})
}

// Key returns a provider's key: given, or else the one in the environment.
func Key(getenv func(string) string, provider string, given secret.Text) secret.Text {
	key := string(given)
	names := map[string]string{llm.Anthropic: "ANTHROPIC_API_KEY", llm.OpenAI: "OPENAI_API_KEY"}
	for _, name := range []string{"FOREMAN_LLM_KEY", names[provider]} {
		if key == "" && name != "" {
			key = getenv(name)
		}
	}
	return secret.Text(key)
}
