package protocol_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/protocol"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct{ item, want string }{
		{`{"type":"add_label","label":"bug","priority":1}`, ""},
		{`{"type":"add_label"}`, "add_label: label: required, but missing"},
		{`{"type":"add_label","label":null}`, "add_label: label: required, but missing"},
		{`{"type":"add_label","Label":"bug"}`, "add_label: label: required, but missing"},
		{`{"type":"add_label","label":" \n"}`, "add_label: label: must not be empty"},
		{`{"type":"add_label","label":["bug"]}`, "add_label: label: want a string, got a list"},
		{`{"type":"comment","body":"hi"}`, ""},
		{`{"type":"comment","body":""}`, "comment: body: must not be empty"},
		{`{"type":"close_issue"}`, ""},
		{`{"type":"close_issue","reason":null}`, ""},
		{`{"type":"close_issue","reason":"not_planned"}`, ""},
		{`{"type":"close_issue","reason":"duplicate"}`, `close_issue: reason: want 'completed' or 'not_planned', got "duplicate"`},
		{`{"type":"close_issue","reason":""}`, `close_issue: reason: want 'completed' or 'not_planned', got ""`},
		{`{"type":"comment","body":"hi","once":"hello"}`, ""},
		{`{"type":"comment","body":"hi","once":""}`, "comment: once: must not be empty"},
		{`{"type":"close_issue","after":"3d","veto":["comment","reopen"]}`, ""},
		{`{"type":"close_issue","after":"72h","veto":"thumbs_down"}`, ""},
		{`{"type":"close_issue","after":72}`, "close_issue: after: want a string, got a number"},
		{`{"type":"close_issue","after":""}`, `close_issue: after: want a time such as "72h" or "3d", of a year at most, got ""`},
		{`{"type":"close_issue","after":"0s"}`, `close_issue: after: want a time such as "72h" or "3d", of a year at most, got "0s"`},
		{`{"type":"close_issue","after":"-3d"}`, `close_issue: after: want a time such as "72h" or "3d", of a year at most, got "-3d"`},
		{`{"type":"close_issue","after":"367d"}`, `close_issue: after: want a time such as "72h" or "3d", of a year at most, got "367d"`},
		{`{"type":"close_issue","veto":["shout"]}`, `close_issue: veto: want 'thumbs_down', 'comment' or 'reopen', got "shout"`},
		{`{"type":"close_issue","veto":[]}`, "close_issue: veto: must not be empty"},
		{`{"type":"never_again","label":"bug"}`, ""},
		{`{"type":"never_again"}`, "never_again: label: required, but missing"},
		{`{"type":"add_labels","labels":"bug"}`, ""},
		{`{"type":"add_labels","labels":["a","b"]}`, ""},
		{`{"type":"add_labels","labels":[]}`, "add_labels: labels: must not be empty"},
		{`{"type":"add_labels","labels":["a",""]}`, "add_labels: labels: must not be empty"},
		{`{"type":"add_labels","labels":["a",2]}`, "add_labels: labels[1]: want a string, got a number"},
		{`{"type":"remove_label","label":"bug"}`, ""},
		{`{"type":"reopen_issue"}`, ""},
		{`{"type":"assign","assignees":["octocat"]}`, ""},
		{`{"type":"unassign"}`, "unassign: assignees: required, but missing"},
		{`{"type":"set_milestone","milestone":3}`, "set_milestone: milestone: want a string, got a number"},
		{`{"type":"set_type","issue_type":"Bug"}`, ""},
		{`{"type":"lock"}`, ""},
		{`{"type":"lock","reason":"too heated"}`, ""},
		{`{"type":"react","content":"tada"}`, `react: content: want '+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket' or 'eyes', got "tada"`},
		{`{"type":"update_comment","key":7}`, "update_comment: body: required, but missing; key: want a string, got a number"},
		{`{"type":"update_comment","body":"b","key":""}`, "update_comment: key: must not be empty"},
		{`{"type":"mark_duplicate","of":7}`, ""},
		{`{"type":"mark_duplicate","of":"7"}`, "mark_duplicate: of: want a whole number, got a string"},
		{`{"type":"mark_duplicate","of":0}`, "mark_duplicate: of: want a whole number of 1 or more, got 0"},
		{`{"type":"mark_duplicate","of":-7}`, "mark_duplicate: of: want a whole number of 1 or more, got -7"},
		{`{"type":"hide_comment"}`, ""},
		{`{"type":"hide_comment","key":"status"}`, ""},
		{`{"type":"hide_comment","key":" "}`, "hide_comment: key: must not be empty"},
		{`{"type":"request_review"}`, "request_review: want users or teams"},
		{`{"type":"request_review","users":null,"teams":null}`, "request_review: want users or teams"},
		{`{"type":"request_review","users":["mona"]}`, ""},
		{`{"type":"request_review","users":null,"teams":"docs"}`, ""},
		{`{"type":"request_review","users":[],"teams":["docs"]}`, "request_review: users: must not be empty"},
		{`{"type":"request_review","users":[1]}`, "request_review: users[0]: want a string, got a number"},
		{`{"type":"mark_duplicate","of":1.5}`, "mark_duplicate: of: want a whole number, got 1.5"},
	}
	for _, tt := range tests {
		a := item(t, tt.item)
		spec, ok := protocol.SpecOf(a.Type)
		if !ok {
			t.Errorf("%s: no such action", tt.item)
			continue
		}
		got := ""
		if err := spec.Check(a); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("Check(%s): got %q, want %q", tt.item, got, tt.want)
		}
	}
}

func TestSpecs(t *testing.T) {
	t.Parallel()
	published := []string{protocol.ActionAddLabel, protocol.ActionComment, protocol.ActionCloseIssue}
	var names []string
	for _, s := range protocol.ActionSpecs() {
		names = append(names, s.Name)
		main := s.Main == ""
		for _, p := range s.Params {
			main = main || p.Name == s.Main
			if p.Enum != nil && p.Kind != protocol.KindText && p.Kind != protocol.KindTexts {
				t.Errorf("%s: %s has an enum and is no text or texts", s.Name, p.Name)
			}
		}
		if s.CountsAs != "" {
			if whose, ok := protocol.SpecOf(s.CountsAs); !ok || whose.Limit <= 0 || whose.CountsAs != "" || s.Limit != 0 {
				t.Errorf("%s counts as %s, and has the limit %d", s.Name, s.CountsAs, s.Limit)
			}
		} else if s.Limit <= 0 {
			t.Errorf("%s has no default limit", s.Name)
		}
		if s.Overridable && s.RecordOnly || s.With != "" && s.Past == "" {
			t.Errorf("%s: the row contradicts itself", s.Name)
		}
		if !main {
			t.Errorf("%s: Main is %q, which is no parameter", s.Name, s.Main)
		}
	}
	if !slices.Equal(names[:3], published) {
		t.Errorf("the first actions are %q, want %q", names[:3], published)
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != 19 {
		t.Errorf("got %d different actions, want 19", len(slices.Compact(names)))
	}
	for _, name := range []string{"", "Comment", "comment ", "launch_rocket"} {
		if s, ok := protocol.SpecOf(name); ok {
			t.Errorf("SpecOf(%q): got %v, want none", name, s.Name)
		}
	}
	protocol.ActionSpecs()[0].Name = "changed"
	if _, ok := protocol.SpecOf("add_label"); !ok {
		t.Error("the table of actions is shared with its callers")
	}
}

func TestPlainName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"mona": true, "dependabot[bot]": true, "mona_octo": true, "docs-2": true, "a.b": true,
		"": false, ".": false, "..": false, "@mona": false, "octo/docs": false, "a b": false, "a\n": false, "möna": false, "a%2fb": false,
		strings.Repeat("x", 100): true, strings.Repeat("x", 101): false,
	} {
		if got := protocol.PlainName(name); got != want {
			t.Errorf("PlainName(%q): got %v", name, got)
		}
	}
}

func BenchmarkSpecOf(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := protocol.SpecOf(protocol.ActionNeverAgain); !ok {
			b.Fatal("unknown")
		}
	}
}
