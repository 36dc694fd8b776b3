package session_test

import (
	"testing"

	"github.com/org/foreman-action/internal/coding/contrib/session"
)

// TestHost checks which server is used and which token it receives.
func TestHost(t *testing.T) {
	t.Parallel()
	tokens := []string{"GH_TOKEN=public", "GH_ENTERPRISE_TOKEN=enterprise"}
	tests := []struct {
		name        string
		environ     []string
		server, api string
		token       string // for the API
	}{
		{"nothing", nil, "https://github.com", "", "public"},
		{"GH_HOST", []string{"GH_HOST=GHE.example.com"}, "https://ghe.example.com", "https://ghe.example.com/api/v3", "enterprise"},
		{"GH_HOST is github.com", []string{"GH_HOST=github.com"}, "https://github.com", "", "public"},
		{"below github.com", []string{"GH_HOST=www.github.com"}, "https://github.com", "", "public"},
		{"looks like github.com", []string{"GH_HOST=evilgithub.com"}, "https://evilgithub.com", "https://evilgithub.com/api/v3", "enterprise"},
		{"github.com in front", []string{"GH_HOST=github.com.evil.example"}, "https://github.com.evil.example", "https://github.com.evil.example/api/v3", "enterprise"},
		{"data residency", []string{"GH_HOST=octo.ghe.com"}, "https://octo.ghe.com", "https://api.octo.ghe.com", "public"},
		{"GH_HOST before the addresses", []string{"GH_HOST=ghe.example.com", "GITHUB_API_URL=https://api.github.com", "GITHUB_SERVER_URL=https://github.com"}, "https://ghe.example.com", "https://ghe.example.com/api/v3", "enterprise"},
		{"addresses of Actions", []string{"GITHUB_API_URL=https://api.github.com", "GITHUB_SERVER_URL=https://github.com"}, "https://github.com", "https://api.github.com", "public"},
		{"addresses of an Enterprise Server", []string{"GITHUB_API_URL=https://ghe.example.com:8443/api/v3", "GITHUB_SERVER_URL=https://ghe.example.com:8443/"}, "https://ghe.example.com:8443", "https://ghe.example.com:8443/api/v3", "enterprise"},
		{"the API alone", []string{"GITHUB_API_URL=https://ghe.example.com/api/v3"}, "https://ghe.example.com", "https://ghe.example.com/api/v3", "enterprise"},
		{"a server on this machine", []string{"GITHUB_API_URL=http://127.0.0.1:1"}, "https://github.com", "http://127.0.0.1:1", "enterprise"},
		{"no address", []string{"GITHUB_API_URL=://"}, "https://github.com", "://", "enterprise"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := session.Session{Environ: append(tokens, tt.environ...)}
			token, _ := s.Token(session.HostOf(s.API()))
			if s.Server() != tt.server || s.API() != tt.api || token != tt.token {
				t.Errorf("got %s, %s, %s", s.Server(), s.API(), token)
			}
		})
	}
	s := session.Session{Environ: []string{"GITHUB_TOKEN=second", "GITHUB_ENTERPRISE_TOKEN=other"}}
	if value, name := s.Token("github.com"); value != "second" || name != "GITHUB_TOKEN" {
		t.Errorf("got %s of %s", value, name)
	}
	if value, name := s.Token("ghe.example.com"); value != "other" || name != "GITHUB_ENTERPRISE_TOKEN" {
		t.Errorf("got %s of %s", value, name)
	}
}
