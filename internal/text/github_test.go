package text_test

import (
	"testing"

	"github.com/org/foreman-action/internal/text"
)

// TestSameLogin checks the ways in which a person may write a login.
func TestSameLogin(t *testing.T) {
	t.Parallel()
	tests := []struct {
		login, name string
		want        bool
	}{
		{"mona", "Mona", true},
		{"my-app[bot]", "@My-App", true},
		{"my-app[bot]", " my-app[bot] ", true},
		{"my-app", "my-app[bot]", false}, // a person may have that login
		{"my-app[bot]", "my", false},
		{"my-app[bot]", "[bot]", false},
		{"mona", "@", false},
		{"[bot]", "", false},
		{"", "", false},
	}
	for _, tt := range tests {
		if got := text.SameLogin(tt.login, tt.name); got != tt.want {
			t.Errorf("%q, written %q: got %v", tt.login, tt.name, got)
		}
	}
}
