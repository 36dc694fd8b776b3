package queue

import (
	"testing"

	"github.com/org/foreman-action/internal/cli/process"
)

func TestBy(t *testing.T) {
	t.Parallel()
	tests := []struct {
		env  map[string]string
		want string
	}{
		{nil, "foremand pause"},
		{map[string]string{"USER": "mona"}, "foremand pause mona"},
		{map[string]string{"USER": "root", "SUDO_USER": "mona"}, "foremand pause mona"},
	}
	for _, tt := range tests {
		o := sharedOptions{Env: process.Env{Getenv: func(name string) string { return tt.env[name] }}}
		if got := o.by("pause"); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.env, got, tt.want)
		}
	}
}
