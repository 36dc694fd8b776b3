package github

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/triage"
)

// FuzzFileContent checks that no response causes a panic or returns more content than the limit.
func FuzzFileContent(f *testing.F) {
	for _, seed := range []string{
		`{"type":"file","encoding":"base64","content":"aGk=\n","size":2}`, `[]`, `{}`, `7`, ``, `{"type":"symlink"}`,
		`{"type":"file","encoding":"none","size":2000000}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if data, err := rest.FileContent(raw); err == nil && len(data) > len(raw) {
			t.Errorf("%d bytes out of %d", len(data), len(raw))
		}
	})
}

func FuzzEscapePath(f *testing.F) {
	for _, seed := range []string{"", "a/b", "../x", "a//b", "./a", "what? #1 100%", "a\x00b", "%2e%2e/x", "\\..\\"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		escaped, err := rest.EscapePath(path)
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

// FuzzTimelineEvent checks that each parsed event has a kind and a time, and that it can be encoded
// and decoded again.
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
				return // converted to UTC, the year may be outside of 0 to 9999, which JSON does not allow
			}
		}
		if again, ok := decodeTimelineEvent(encodeTimelineEvent(t, e)); !ok || again != e {
			t.Errorf("got %+v, then %+v", e, again)
		}
	})
}

func encodeTimelineEvent(t *testing.T, e triage.TimelineEvent) []byte {
	t.Helper()
	name := ""
	if e.Kind == "committed" && e.ActorType == "Bot" {
		name = "a[bot]"
	}
	fields := map[string]any{
		"author": map[string]string{"name": name},
		"id":     e.ID, "event": e.Kind, "created_at": e.At.Format(time.RFC3339Nano), "body": e.Body, "html_url": e.URL,
		"actor": map[string]string{"login": e.Actor, "type": e.ActorType}, "label": map[string]string{"name": e.Label},
		"assignee": map[string]string{"login": e.Assignee}, "milestone": map[string]string{"title": e.Milestone},
		"issue_type": map[string]string{"name": e.IssueType}, "prev_issue_type": map[string]string{"name": e.IssueType},
		"updated_at": e.Edited, "author_association": e.Association, "state_reason": e.Reason, "lock_reason": e.Reason, "rename": map[string]string{"from": e.From},
	}
	if e.Intends {
		fields["intent"] = map[bool]any{true: map[string]string{}, false: nil}[e.Intended]
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
