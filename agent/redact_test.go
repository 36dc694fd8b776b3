package agent_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/org/foreman-action/agent"
)

// TestForeignText checks the sanitized form of a foreign error's text.
func TestForeignText(t *testing.T) {
	t.Parallel()
	jwt := "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJyZXBvIn0.c2lnbmF0dXJl"
	tests := []struct{ name, text, want string }{
		{"harmless", "dial tcp: lookup agent: no such host", "dial tcp: lookup agent: no such host"},
		{"empty", "", ""},
		{"header", "sent Bearer s3cret/token", "sent ***"},
		{"token", "sent s3cret/token.", "sent ***."},
		{"password", "p@ss:word refused", "*** refused"},
		{"password, escaped", "p%40ss%3Aword refused", "*** refused"},
		{"userinfo as in the address", "bot:p%40ss%3Aword refused", "*** refused"},
		{"userinfo, plain", "bot:p@ss:word refused", "*** refused"},
		{"basic", "Ym90OnBAc3M6d29yZA== refused", "*** refused"},
		{"query", "path ?code=0123%2F4567&v=1 refused", "path ?*** refused"},
		{"query value", "0123/4567 and 0123%2F4567 refused", "*** and *** refused"},
		{"short query value", "v 1 refused", "v 1 refused"},
		{"the name alone", "bot refused", "bot refused"},
		{"address", `Post "https://me:pw@other.example:1/x?y=z#f": EOF`, `Post "https://other.example:1/x": EOF`},
		{"address with @ in the password", "get https://me:p@w@other.example/x", "get https://other.example/x"},
		{"address without scheme", "to //me@other.example/x", "to //other.example/x"},
		{"proxy without scheme", `proxy "me:pw@proxy.example:3128"`, `proxy "proxy.example:3128"`},
		{"another's bearer", "got bearer 0123456789abcdef", "got bearer ***"},
		{"a sentence about bearers", "Bearer token required", "Bearer token required"},
		{"web token", "claims of " + jwt + " differ", "claims of *** differ"},
		{"web token in an address", "see https://a.example/" + jwt, "see https://a.example/***"},
		{"control characters", "a\r\n::error::b\t\x1b[1m\x00c\u202ed\u2028e", "a ::error::b [1m c d e"},
		{"not UTF-8", "a\xff\xfeb", "a\uFFFDb"},
		{"as long as allowed", strings.Repeat("é", 200), strings.Repeat("é", 200)},
		{"longer", strings.Repeat("é", 201), strings.Repeat("é", 200) + "…"},
		{"secret at the cut", strings.Repeat("x", 195) + "s3cret/token", strings.Repeat("x", 195) + "***"},
		// Text beyond the limit is not examined. The secret at the limit is truncated, so its
		// first part must be removed, too.
		{"secret at the scan limit", "x" + strings.Repeat(" ", 4090) + "s3cret/token", "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := agent.RemoteOptions{
				URL:       "http://bot:p%40ss%3Aword@agent/?code=0123%2F4567&v=1",
				Authorize: func(context.Context) (string, error) { return "Bearer s3cret/token", nil },
				Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New(tt.text) }),
			}
			_, err := newRemote(t, o).Decide(t.Context(), theTask())
			e := wantError(t, err, agent.ReasonUnreachable)
			if got := e.Err.Error(); got != "no answer: "+tt.want {
				t.Errorf("got %q, want %q", got, "no answer: "+tt.want)
			}
		})
	}
}

// TestUserinfoText checks which parts of userinfo count as a secret.
func TestUserinfoText(t *testing.T) {
	t.Parallel()
	tests := []struct{ userinfo, text, want string }{
		{":@", "dial tcp: refused", "dial tcp: refused"},
		{"to%2Fken@", "to/ken refused", "*** refused"},
		{"to%2Fken@", "to%2Fken refused", "*** refused"},
		{"bot:to%2Fken@", "bot: to/ken refused", "bot: *** refused"},
		{"bot:@", "bot refused", "bot refused"},
	}
	for _, tt := range tests {
		r := newRemote(t, agent.RemoteOptions{
			URL:       "http://" + tt.userinfo + "agent",
			Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New(tt.text) }),
		})
		_, err := r.Decide(t.Context(), theTask())
		if got := wantError(t, err, agent.ReasonUnreachable).Err.Error(); got != "no answer: "+tt.want {
			t.Errorf("%s: got %q, want %q", tt.userinfo, got, "no answer: "+tt.want)
		}
	}
}
