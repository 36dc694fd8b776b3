package effect_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
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
		e, err := effect.Parse(a)
		if _, known := effect.SpecOf(a.Type); errors.Is(err, effect.ErrUnknown) == known {
			t.Fatalf("the type %q: %v", a.Type, err)
		}
		if (e == nil) != (err != nil) {
			t.Fatalf("got %v and %v", e, err)
		}
		if err != nil {
			return
		}
		again, err := effect.Parse(a)
		if diff := cmp.Diff(e, again); diff != "" || err != nil {
			t.Errorf("the second time: %v\n%s", err, diff)
		}
		values := effect.Values(e)
		if len(values) > strings.Count(string(data), `"`)/2 {
			t.Errorf("%d values", len(values))
		}
		seen := effect.Names{}
		for _, v := range values {
			if v != sanitize.Name(v) {
				t.Errorf("the value %q is not sanitized", v)
			}
			if seen.Has(v) {
				t.Errorf("the value %q is there twice", v)
			}
			seen = effect.NamesOf(append(seen.In(values), v))
		}
		if c, ok := e.(effect.Comment); ok && len(c.Body) > 3*len(data) {
			t.Errorf("a body of %d bytes came of %d", len(c.Body), len(data))
		}
		s := effect.StateOf(triage.Issue{State: "open"})
		effect.Change(e, s)
		effect.Holds(e, s)
		for _, o := range effect.Outcomes(a.Type, values, "r", effect.RecordOnly(e)) {
			if inverse, ok, err := o.Inverse(); err != nil {
				t.Errorf("the inverse of %v: %v", o, err)
			} else if ok {
				if _, err := effect.Parse(inverse); err != nil {
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
		if got := effect.ValidKey(tt.key); got != tt.want {
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
		if got := effect.CommentKey(item(t, tt.action)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.action, got, tt.want)
		}
	}
}

func TestGate(t *testing.T) {
	t.Parallel()
	closed := errors.New("not now")
	open := func(context.Context) error { return nil }
	shut := func(context.Context) error { return closed }
	tests := []struct {
		name string
		ctx  context.Context
		halt bool
	}{
		{"none", t.Context(), false},
		{"nil", effect.WithGate(t.Context(), nil), false},
		{"open", effect.WithGate(t.Context(), open), false},
		{"shut", effect.WithGate(t.Context(), shut), true},
		{"nil over a shut one", effect.WithGate(effect.WithGate(t.Context(), shut), nil), false},
		{"the inner one counts", effect.WithGate(effect.WithGate(t.Context(), open), shut), true},
	}
	for _, tt := range tests {
		err := effect.PassGate(tt.ctx)
		if errors.Is(err, triage.ErrHalted) != tt.halt || errors.Is(err, closed) != tt.halt || (err != nil) != tt.halt {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
	// A gate gets the context of the request.
	type key struct{}
	ctx := effect.WithGate(t.Context(), func(ctx context.Context) error {
		if ctx.Value(key{}) != "request" {
			return closed
		}
		return nil
	})
	if err := effect.PassGate(context.WithValue(ctx, key{}, "request")); err != nil {
		t.Error(err)
	}
}
