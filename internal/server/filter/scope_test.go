package filter_test

import (
	"testing"

	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/queue"
)

func TestConfigured(t *testing.T) {
	t.Parallel()
	c := filter.NewConfigured([]string{"HTTP://Agent:9001/"}, []string{"Octo/Hello"})
	tests := []struct {
		scope queue.Scope
		want  string
	}{
		{queue.Scope{Kind: queue.ScopeEverything}, ""},
		{queue.Scope{Kind: queue.ScopeRules}, ""},
		{queue.Scope{Kind: queue.ScopeAgent, Name: "http://agent:9001/"}, ""},
		{queue.Scope{Kind: queue.ScopeAgent, Name: "http://agent:9002"}, "no configured agent has this address"},
		{queue.Scope{Kind: queue.ScopeRepo, Name: "octo/HELLO"}, ""},
		{queue.Scope{Kind: queue.ScopeRepo, Name: "octo/helo"}, "this repository is not configured"},
	}
	for _, tt := range tests {
		s, err := filter.Scope(tt.scope)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Warning(s); got != tt.want {
			t.Errorf("%s: got %q, want %q", s, got, tt.want)
		}
		if got := (*filter.Configured)(nil).Warning(s); got != "" {
			t.Errorf("%s: got %q without a configuration", s, got)
		}
	}
}
