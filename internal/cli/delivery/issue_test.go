package delivery

import (
	"errors"
	"testing"

	"github.com/org/foreman-action/triage"
)

func TestParseIssue(t *testing.T) {
	t.Parallel()
	want := triage.Ref{Owner: "o", Repo: "r", Number: 5}
	tests := []struct {
		arg, api string
		ok       bool
	}{
		{"o/r#5", "", true},
		{"o/r#5", "https://ghe.example.org/api/v3", true},
		{"https://github.com/o/r/issues/5", "", true},
		{"https://github.com/o/r/issues/5/", "https://api.github.com", true},
		{"https://GitHub.com/o/r/pull/5", "", true},
		{"https://github.com/o/r/issues/5#issuecomment-12", "", true},
		{"https://github.com/o/r/issues/5?notification=1", "", true},
		{"https://ghe.example.org/o/r/issues/5", "https://ghe.example.org/api/v3", true},
		{"http://127.0.0.1:80/o/r/issues/5", "http://127.0.0.1:80", true},
		{"https://ghe.example.org/o/r/issues/5", "", false},
		{"https://github.com/o/r/issues/5", "https://ghe.example.org/api/v3", false},
	}
	for _, tt := range tests {
		got, err := ParseIssue(tt.arg, tt.api)
		if (err == nil) != tt.ok || tt.ok && got != want {
			t.Errorf("%s on %s: got %v, %v", tt.arg, tt.api, got, err)
		}
		if errors.Is(err, ErrNoIssue) || !IsIssue(tt.arg) {
			t.Errorf("%s: it is taken for no issue", tt.arg)
		}
	}
	for _, arg := range []string{
		"", "o/r", "o/r#", "o/r#x", "o/r#0", "o/r#-1", "a/b/c#1", "event.json", "https://github.com/o/r", "https://github.com/o/r/issues",
		"https://github.com/o/r/issues/new", "https://github.com/o/r/discussions/5", "https://github.com/o/r/issues/5/x", "ftp://github.com/o/r/issues/5",
	} {
		if _, err := ParseIssue(arg, ""); !errors.Is(err, ErrNoIssue) || IsIssue(arg) {
			t.Errorf("%s: it is taken for an issue: %v", arg, err)
		}
	}
}

// FuzzParseIssue checks that every accepted issue can be formatted and parsed again.
func FuzzParseIssue(f *testing.F) {
	f.Add("o/r#5", "")
	f.Add("https://github.com/o/r/issues/5#x", "https://api.github.com")
	f.Add("https://a:b@[::1]/o/r/pull/05?x", "http://[::1]/api")
	f.Fuzz(func(t *testing.T, arg, api string) {
		ref, err := ParseIssue(arg, api)
		if err != nil {
			return
		}
		if again, err := ParseIssue(ref.String(), api); err != nil || again != ref {
			t.Errorf("%q: got %v, and from that %v, %v", arg, ref, again, err)
		}
	})
}
