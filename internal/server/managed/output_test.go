package managed

import (
	"fmt"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/secret"
)

// TestRedactedEnd checks that secrets are removed before an output is shortened, because a
// truncated secret would not be found.
func TestRedactedEnd(t *testing.T) {
	t.Parallel()
	a := Agent{
		HarnessURL: "http://managed-1:hunter-harness@10.0.0.1:5",
		Env: map[string]secret.Text{
			"KEY": "hunter-0123456789", "LONGER": "hunter-0123456789-and-more", "SHORT": "no", "PLUS": "hunter+/=",
			"PEM": "-----BEGIN-----\nhunter-line-1\nhunter-line-2\n-----END-----\n",
		},
	}
	tests := []struct{ name, output, want string }{
		{"nothing", "", ""},
		{"short", "no key: hunter-0123456789\n", "no key: ***"},
		{"one in another", "hunter-0123456789-and-more", "***"},
		{"address", "cannot reach http://managed-1:hunter-harness@10.0.0.1:5/queue", "cannot reach ***/queue"},
		{"header", "Authorization: Basic bWFuYWdlZC0xOmh1bnRlci1oYXJuZXNz", "Authorization: Basic ***"},
		{"query", "?key=hunter%2B%2F%3D", "?key=***"},
		{"a line of several", "at hunter-line-2", "at ***"},
		{"where it is cut", "hunter-0123456789" + strings.Repeat("x", maxShown-2), "**" + strings.Repeat("x", maxShown-2)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := a.redactedEnd(tt.output); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestRedactedEndOfLongOutput checks that no part of a secret is shown, wherever a long output was
// truncated.
func TestRedactedEndOfLongOutput(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("hunter-0123456789", 150)
	a := Agent{HarnessURL: "http://x", Env: map[string]secret.Text{"KEY": secret.Text(key)}}
	for more := range 20 {
		var end tailBuffer
		for _, part := range []string{strings.Repeat(key, 1+maxRead/len(key)), strings.Repeat(".", more)} {
			if _, err := fmt.Fprint(&end, part); err != nil {
				t.Fatal(err)
			}
		}
		if got := a.redactedEnd(string(end)); len(end) != maxRead || strings.Contains(got, "hunter") {
			t.Errorf("%d more: %q", more, got)
		}
	}
}
