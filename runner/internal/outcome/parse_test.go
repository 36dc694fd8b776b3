package outcome_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// FuzzParse looks for actions that cause a panic, for names that are not sanitized, and for lists
// that become longer.
func FuzzParse(f *testing.F) {
	for _, e := range examples() {
		f.Add([]byte(e.action))
	}
	f.Add([]byte(`{"type": "add_labels", "labels": ["a\u202e", "a", " A ", "\u200b"]}`))
	f.Add([]byte(`{"type": "close_issue", "after": "9999999h"}`))
	f.Add([]byte(`{"type": "react", "content": null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var a protocol.ActionItem
		if a.UnmarshalJSON(data) != nil {
			return
		}
		e, err := outcome.Parse(a)
		if _, known := outcome.SpecOf(a.Type); errors.Is(err, effect.ErrUnknown) == known {
			t.Fatalf("the type %q: %v", a.Type, err)
		}
		if (e == nil) != (err != nil) {
			t.Fatalf("got %v and %v", e, err)
		}
		if err != nil {
			return
		}
		again, err := outcome.Parse(a)
		if diff := cmp.Diff(e, again); diff != "" || err != nil {
			t.Errorf("the second time: %v\n%s", err, diff)
		}
		values := effect.Values(e)
		if len(values) > strings.Count(string(data), `"`)/2 {
			t.Errorf("%d values", len(values))
		}
		seen := outcome.Names{}
		for _, v := range values {
			if v != sanitize.Name(v) {
				t.Errorf("the value %q is not sanitized", v)
			}
			if seen.Has(v) {
				t.Errorf("the value %q is there twice", v)
			}
			seen = outcome.NamesOf(append(seen.In(values), v))
		}
		if c, ok := e.(effect.Comment); ok && len(c.Body) > 3*len(data) {
			t.Errorf("a body of %d bytes came of %d", len(c.Body), len(data))
		}
		s := outcome.StateOf(triage.Issue{State: "open"})
		outcome.Change(e, s)
		outcome.Holds(e, s)
		for _, o := range outcome.Outcomes(a.Type, values, "r", outcome.RecordOnly(e)) {
			if inverse, ok, err := o.Inverse(); err != nil {
				t.Errorf("the inverse of %v: %v", o, err)
			} else if ok {
				if _, err := outcome.Parse(inverse); err != nil {
					t.Errorf("the inverse %s of %v: %v", inverse, o, err)
				}
			}
		}
	})
}

func TestValidKey(t *testing.T) {
	t.Parallel()
	tests := []struct {
		key  string
		want bool
	}{
		{"a", true},
		{"A.b_c-9", true},
		{strings.Repeat("x", 64), true},
		{"", false},
		{strings.Repeat("x", 65), false},
		{"a b", false},
		{"a=b", false},
		{"a\n", false},
		{"-->", false},
		{"é", false},
		{"a/b", false},
		{"\xff", false},
	}
	for _, tt := range tests {
		if got := outcome.ValidKey(tt.key); got != tt.want {
			t.Errorf("%q: got %v", tt.key, got)
		}
	}
}

func TestCommentKey(t *testing.T) {
	t.Parallel()
	tests := []struct{ action, want string }{
		{`{"type": "update_comment", "body": "x"}`, "sticky"},
		{`{"type": "update_comment", "body": "x", "key": "k"}`, "k"},
		{`{"type": "update_comment", "body": "x", "key": "\u200b"}`, "sticky"},
		{`{"type": "update_comment", "body": "x", "key": null}`, "sticky"},
		{`{"type": "update_comment", "body": "x", "key": " a b "}`, "a b"},
	}
	for _, tt := range tests {
		if got := outcome.CommentKey(item(t, tt.action)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.action, got, tt.want)
		}
	}
}
