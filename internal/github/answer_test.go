package github

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

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

// FuzzFileContent: whatever GitHub says a file is, no panic and never more than it can hold.
func FuzzFileContent(f *testing.F) {
	for _, seed := range []string{
		`{"type":"file","encoding":"base64","content":"aGk=\n","size":2}`, `[]`, `{}`, `7`, ``, `{"type":"symlink"}`,
		`{"type":"file","encoding":"none","size":2000000}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if data, err := fileContent(raw); err == nil && len(data) > len(raw) {
			t.Errorf("%d bytes out of %d", len(data), len(raw))
		}
	})
}

func FuzzEscapePath(f *testing.F) {
	for _, seed := range []string{"", "a/b", "../x", "a//b", "./a", "what? #1 100%", "a\x00b", "%2e%2e/x", "\\..\\"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		escaped, err := escapePath(path)
		if err != nil {
			return
		}
		for s := range strings.SplitSeq(escaped, "/") {
			if s == "." || s == ".." || strings.ContainsAny(s, "?#\\ ") {
				t.Errorf("%q became %q", path, escaped)
			}
		}
	})
}

// FuzzTimelineEvent: whatever an event is, it has a name and a time or it is none, and
// what was read of it is read again.
func FuzzTimelineEvent(f *testing.F) {
	paths, _ := filepath.Glob("testdata/timeline/*.txtar")
	for _, path := range paths {
		ar, err := txtar.ParseFile(path)
		var list []json.RawMessage
		if err != nil || json.Unmarshal(ar.Files[0].Data, &list) != nil {
			f.Fatal(path, err)
		}
		for _, raw := range list {
			f.Add([]byte(raw))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, ok := decodeTimelineEvent(raw)
		if !ok {
			if e != (triage.TimelineEvent{}) {
				t.Errorf("refused, but got %+v", e)
			}
			return
		}
		if e.Kind == "" || e.At.IsZero() || e.At.Location() != time.UTC {
			t.Errorf("got %+v, want a name and a time in UTC", e)
		}
		for _, at := range []time.Time{e.At, e.Edited} {
			if year := at.Year(); year < 0 || year > 9999 {
				return // in the zone that it came in it could be written
			}
		}
		if again, ok := decodeTimelineEvent(encodeTimelineEvent(t, e)); !ok || again != e {
			t.Errorf("got %+v, then %+v", e, again)
		}
	})
}

func encodeTimelineEvent(t *testing.T, e triage.TimelineEvent) []byte {
	t.Helper()
	raw, err := json.Marshal(map[string]any{
		"id": e.ID, "event": e.Kind, "created_at": e.At.Format(time.RFC3339Nano), "body": e.Body, "html_url": e.URL,
		"actor": map[string]string{"login": e.Actor, "type": e.ActorType}, "label": map[string]string{"name": e.Label},
		"assignee": map[string]string{"login": e.Assignee}, "milestone": map[string]string{"title": e.Milestone},
		"issue_type": map[string]string{"name": e.IssueType}, "prev_issue_type": map[string]string{"name": e.IssueType},
		"updated_at": e.Edited, "state_reason": e.Reason, "lock_reason": e.Reason, "rename": map[string]string{"from": e.From},
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
