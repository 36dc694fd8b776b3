package rest

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/org/foreman-action/triage"
)

func TestDecodeAnswer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"nothing", 404, "", "404 Not Found"},
		{"not JSON", 502, "<html>", "502 Bad Gateway"},
		{"a list", 400, "[]", "400 Bad Request"},
		{"the status again", 404, `{"message":"Not Found"}`, "404 Not Found"},
		{"a message", 403, `{"message":"no","documentation_url":"x"}`, "403 Forbidden: no"},
		{"a message of another type", 403, `{"message":{"a":1}}`, "403 Forbidden"},
		{"one sentence of errors", 422, `{"message":"m","errors":"why"}`, "422 Unprocessable Entity: m (why)"},
		{"sentences", 422, `{"message":"m","errors":["a","b"]}`, "422 Unprocessable Entity: m (a; b)"},
		{"only a code", 422, `{"message":"m","errors":[{"code":"missing"}]}`, "422 Unprocessable Entity: m (missing)"},
		{"only a resource", 422, `{"errors":[{"resource":"Issue","code":"x"}]}`, "422 Unprocessable Entity (Issue: x)"},
		{"nothing to read in errors", 422, `{"message":"m","errors":[7,null,[],{"code":3}]}`, "422 Unprocessable Entity: m"},
		{"more than one line", 400, `{"message":"a\r\n::error::b\u2028\u0000c"}`, "400 Bad Request: a  ::error::b  c"},
		{"no status that is known", 499, `{}`, "499 "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := decodeAnswer(tt.status, []byte(tt.body)).Error(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAcceptedPermissions(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"":                                  "",
		"issues=write":                      "issues: write",
		"issues=write; pull_requests=write": "issues: write or pull-requests: write",
		"contents=write,workflows=write;administration": "contents: write and workflows: write or administration",
		"a=ghs_secret":               "a: ***",
		"a\r\n::error::b":            "a  ::error::b",
		strings.Repeat("x", 100_000): strings.Repeat("x", maxMessage) + "…",
	} {
		a := &AnswerError{Status: 403, Message: "Resource not accessible by integration"}
		a.readHeaders(http.Header{"X-Accepted-Github-Permissions": {header}}, time.Unix(0, 0), "ghs_secret")
		p, ok := errors.AsType[*triage.PermissionError](Op{Need: NeedIssuesWrite}.judge(a, true))
		if !ok || p.Accepted != want {
			t.Errorf("%.80q: got %+v, want %.80q", header, p, want)
		}
	}
}

// FuzzDecodeAnswer: whatever the body is, the error is one line of bounded length.
func FuzzDecodeAnswer(f *testing.F) {
	for _, seed := range []string{
		"", "{", "null", `{"message":"x","errors":[{"resource":"Label","field":"name","code":"invalid"}]}`,
		`{"message":"\ud800\n","errors":["a","b","c","d"]}`, `{"errors":{"a":1}}`, `{"message":"` + strings.Repeat("ü", 1000) + `"}`,
	} {
		f.Add(422, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		a := decodeAnswer(status, body)
		got := a.Error()
		if n := utf8.RuneCountInString(got); n > 100+(1+maxDetails)*(maxMessage+3) {
			t.Errorf("the error has %d characters", n)
		}
		if strings.ContainsFunc(got, unicode.IsControl) || !utf8.ValidString(got) {
			t.Errorf("not one clean line: %q", got)
		}
		_, _, _ = a.permission(), a.limit(), a.redirect()
	})
}
