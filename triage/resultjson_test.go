package triage_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// TestActionResultJSON encodes results, and decodes them again.
func TestActionResultJSON(t *testing.T) {
	t.Parallel()
	label := item(t, `{"type":"add_label","label":"<bug>","more":[1]}`)
	tests := []struct {
		name   string
		result triage.ActionResult
		want   string
		back   triage.State // if it differs
	}{
		{"done", triage.ActionResult{Index: 2, Action: label, Source: triage.Source{Rule: "r"}, Verdict: triage.Do, State: triage.Done, URL: "https://x/?a&b"},
			`{"index":2,"type":"add_label","action":{"type":"add_label","label":"<bug>","more":[1]},"source":"rule r","verdict":"do","result":"done","reason":"","url":"https://x/?a&b"}`, ""},
		{"deferred", triage.ActionResult{Action: label, Verdict: triage.Do, State: triage.Noted},
			`{"index":0,"type":"add_label","action":{"type":"add_label","label":"<bug>","more":[1]},"source":"agent","verdict":"do","result":"done","reason":"","url":""}`, triage.Done},
		{"skipped", triage.ActionResult{Action: label, Source: triage.Source{Command: "undo"}, Verdict: triage.Skip, State: triage.Skipped, Reason: "why"},
			`{"index":0,"type":"add_label","action":{"type":"add_label","label":"<bug>","more":[1]},"source":"command undo","verdict":"skip","result":"none","reason":"why","url":""}`, ""},
		{"refused by the policy", triage.ActionResult{Action: label, Source: triage.Source{Rule: "r", Undo: true}, Verdict: triage.Refuse, State: triage.Refused},
			`{"index":0,"type":"add_label","action":{"type":"add_label","label":"<bug>","more":[1]},"source":"rule r (else_undo)","verdict":"refuse","result":"none","reason":"","url":""}`, ""},
		{"refused by the host", triage.ActionResult{Action: label, Verdict: triage.Do, State: triage.Refused},
			`{"index":0,"type":"add_label","action":{"type":"add_label","label":"<bug>","more":[1]},"source":"agent","verdict":"do","result":"none","reason":"","url":""}`, ""},
		{"unknown outcome", triage.ActionResult{Action: label, Verdict: triage.Do, State: triage.Unknown},
			`{"index":0,"type":"add_label","action":{"type":"add_label","label":"<bug>","more":[1]},"source":"agent","verdict":"do","result":"failed","reason":"","url":""}`, triage.Failed},
		{"words of a newer version", triage.ActionResult{Action: label, Verdict: "suggest", State: "suggested"},
			`{"index":0,"type":"add_label","action":{"type":"add_label","label":"<bug>","more":[1]},"source":"agent","verdict":"suggest","result":"suggested","reason":"","url":""}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := protocol.Encode(tt.result)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
			var back triage.ActionResult
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatal(err)
			}
			want := tt.result
			if tt.back != "" {
				want.State = tt.back
			}
			if diff := cmp.Diff(want, back, cmp.Comparer(func(a, b protocol.ActionItem) bool { return a.String() == b.String() })); diff != "" {
				t.Errorf("decoded (-want +got):\n%s", diff)
			}
		})
	}
}

// TestActionResultBounds encodes results with long texts.
func TestActionResultBounds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 10_000)
	params := map[string]any{"list": []string{long}}
	for i := range 100 {
		params[fmt.Sprint("param", i)] = long
	}
	action, err := protocol.NewAction(long, params)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(triage.ActionResult{Action: action, Reason: long})
	if err != nil || len(data) > 110_000 {
		t.Errorf("got %d bytes, %v", len(data), err)
	}
}

// FuzzActionResult checks that decoding keeps everything that is encoded.
func FuzzActionResult(f *testing.F) {
	for _, seed := range []string{
		`{"index":1,"type":"comment","source":"agent","verdict":"do","result":"done","url":"https://x"}`,
		`{"action":{"type":"a","b":[1]},"source":"rule r (else_undo)","verdict":"skip","result":"none"}`,
		`{"action":{"type":"a"},"source":"command undo","verdict":"suggest","result":"suggested","reason":"x"}`,
		`{"action":null}`, `{"index":"x"}`, `[]`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second triage.ActionResult
		if json.Unmarshal(data, &first) != nil {
			return
		}
		out, err := protocol.Encode(first)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &second); err != nil {
			if first.Action.Type == "" {
				return // no program writes an action without a type
			}
			t.Fatalf("%s: %v", out, err)
		}
		if again, err := protocol.Encode(second); err != nil || !bytes.Equal(again, out) {
			t.Errorf("got %s, %v, want %s", again, err, out)
		}
	})
}

func item(t *testing.T, data string) protocol.ActionItem {
	t.Helper()
	var a protocol.ActionItem
	if err := json.Unmarshal([]byte(data), &a); err != nil {
		t.Fatal(err)
	}
	return a
}
