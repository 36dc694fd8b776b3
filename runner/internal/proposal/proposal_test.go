package proposal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/runner/internal/proposal"
	"github.com/org/foreman-action/triage"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// item decodes an action.
func item(t testing.TB, data string) protocol.ActionItem {
	t.Helper()
	var a protocol.ActionItem
	if err := a.UnmarshalJSON([]byte(data)); err != nil {
		t.Fatal(err)
	}
	return a
}

// pending returns a record with one pending proposal of the rule crash for each action.
func pending(t testing.TB, actions ...string) memory.Record {
	t.Helper()
	r := memory.Record{Repo: "o/r", Issue: 1}
	for _, data := range actions {
		p := memory.Proposal{
			ID: protocol.DeriveTaskID(data), At: noon, Expires: noon.Add(time.Hour), Source: "crash", Action: item(t, data),
			Confidence: protocol.ConfidenceHigh, Carrier: triage.CarrierComment, State: memory.Pending,
		}
		if _, ok := r.Propose(p); !ok {
			t.Fatalf("%s is not proposed", data)
		}
	}
	return r
}

// TestWords checks what each action is called.
func TestWords(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`{"type":"add_label","label":"bug"}`:                                "add the label `bug`",
		`{"type":"add_labels","labels":["a","b"]}`:                          "add the labels `a`, `b`",
		`{"type":"remove_label","label":"a|b"}`:                             "remove the label `a¦b`",
		`{"type":"comment","body":"hello"}`:                                 "post a comment",
		`{"type":"update_comment","body":"hello","key":"news"}`:             "post or update the comment `news`",
		`{"type":"close_issue"}`:                                            "close",
		`{"type":"close_issue","reason":"not_planned"}`:                     "close as not planned",
		`{"type":"close_issue","reason":"completed","after":"72h"}`:         "close as completed after 72h",
		`{"type":"mark_duplicate","of":7}`:                                  "close as a duplicate of issue `7`",
		`{"type":"reopen_issue"}`:                                           "reopen",
		`{"type":"assign","assignees":["mona","tess"]}`:                     "assign `mona`, `tess`",
		`{"type":"unassign","assignees":["mona"]}`:                          "unassign `mona`",
		`{"type":"set_milestone","milestone":"1.0"}`:                        "set the milestone `1.0`",
		`{"type":"remove_milestone"}`:                                       "remove the milestone",
		`{"type":"set_type","issue_type":"Bug"}`:                            "set the type `Bug`",
		`{"type":"lock"}`:                                                   "lock",
		`{"type":"lock","reason":"too heated"}`:                             "lock as too heated",
		`{"type":"unlock"}`:                                                 "unlock",
		`{"type":"react","content":"+1"}`:                                   "react with `+1`",
		`{"type":"never_again","label":"bug"}`:                              "never add the label `bug` again",
		`{"type":"hide_comment"}`:                                           "hide Foreman's newest comment",
		`{"type":"request_review","users":["mona"],"teams":["core"]}`:       "request a review by `mona`, `core`",
		`{"type":"notify","channel":"#ops","text":"see https://x.example"}`: "`notify` `channel: \"#ops\"` `text: \"see https:\u200b//x.example\"`",
	}
	for data, want := range tests {
		if got := proposal.Words(memory.Proposal{Action: item(t, data)}); strings.ReplaceAll(got, "\u200b", "") != strings.ReplaceAll(want, "\u200b", "") {
			t.Errorf("%s: got %s, want %s", data, got, want)
		}
	}
	for _, spec := range protocol.ActionSpecs() {
		if got := proposal.Words(memory.Proposal{Action: protocol.ActionItem{Type: spec.Name}}); strings.HasPrefix(got, "`") {
			t.Errorf("%s has no words: %s", spec.Name, got)
		}
	}
}

// TestTicked finds the boxes that an edit ticked.
func TestTicked(t *testing.T) {
	t.Parallel()
	body := "<!-- foreman:v1 task=x comment=0 key=foreman-suggestions -->\n\n" +
		proposal.Comment(pending(t, `{"type":"add_label","label":"bug"}`, `{"type":"lock"}`), proposal.View{Boxes: true})
	tick := func(s, number string) string {
		return strings.Replace(s, "- [ ] **"+number+"**", "- [x] **"+number+"**", 1)
	}
	other := strings.Replace(body, "foreman:p 1", "foreman:p 2", 1)
	tests := []struct {
		name, before, after string
		want                []int
	}{
		{"one", body, tick(body, "1"), []int{1}},
		{"both", body, tick(tick(body, "1"), "2"), []int{1, 2}},
		{"a capital", body, strings.Replace(body, "- [ ] **2**", "- [X] **2**", 1), []int{2}},
		{"other line breaks", strings.ReplaceAll(body, "\n", "\r\n"), tick(body, "1"), []int{1}},
		{"none", body, body, nil},
		{"unticked", tick(body, "1"), body, nil},
		{"ticked before", tick(body, "1"), tick(tick(body, "1"), "2"), []int{2}},
		{"other words", body, tick(strings.Replace(body, "`bug`", "`docs`", 1), "1"), nil},
		{"another number", body, tick(strings.Replace(body, "foreman:p 1", "foreman:p 2", 1), "1"), nil},
		{"indented", body, strings.Replace(tick(body, "1"), "- [x]", " - [x]", 1), nil},
		{"no ASCII", body, strings.Replace(tick(body, "1"), "foreman:p", "fоreman:p", 1), nil},
		{"a new line", body, body + "\n- [x] **3** add the label `x` · high <!-- foreman:p 3 0123456789abcdef -->", nil},
		{"empty", "", tick(body, "1"), nil},
		{"two numbers", other, tick(other, "1"), nil},
	}
	for _, tt := range tests {
		var got []int
		for _, tick := range proposal.Ticked(tt.before, tt.after) {
			got = append(got, tick.Number)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestSum checks which changes of the comment the sum notices.
func TestSum(t *testing.T) {
	t.Parallel()
	text := proposal.Comment(pending(t, `{"type":"add_label","label":"bug"}`), proposal.View{Boxes: true})
	marker := history.Marker{Task: "x", Key: proposal.Key}.String()
	same := []string{
		marker + "\n\n" + text, text + "\n", strings.ReplaceAll(text, "\n", "\r\n"), strings.Replace(text, "[ ]", "[x]", 1), strings.Replace(text, "[ ]", "[X]", 1),
	}
	for i, other := range same {
		if proposal.Sum(other) != proposal.Sum(text) {
			t.Errorf("text %d has another sum", i)
		}
	}
	for _, old := range []string{"bug", "high", "nothing", "foreman:p 1", "- [ ]"} {
		if other := strings.Replace(text, old, "x", 1); other == text || proposal.Sum(other) == proposal.Sum(text) {
			t.Errorf("a change of %q has the same sum", old)
		}
	}
}

// TestBefore checks what is proposed again.
func TestBefore(t *testing.T) {
	t.Parallel()
	bug := `{"type":"add_label","label":"bug"}`
	crash := triage.Source{Rule: "crash"}
	sure := crash
	sure.OverrideHumans = true
	tests := []struct {
		name  string
		made  []string
		state memory.ProposalState
		times int
		panel bool
		from  triage.Source
		asks  string
		want  string // a part of the reason; empty: it is proposed
	}{
		{"pending", []string{bug}, memory.Pending, 1, false, crash, bug, "it is proposed already (1)"},
		{"another name", []string{bug}, memory.Pending, 1, false, crash, `{"type":"add_label","label":"docs"}`, ""},
		{"in a list", []string{bug}, memory.Pending, 1, false, crash, `{"type":"add_labels","labels":["BUG"]}`, "already"},
		{"another source", []string{bug}, memory.Pending, 1, false, triage.Source{}, bug, ""},
		{"another action", []string{bug}, memory.Pending, 1, false, crash, `{"type":"remove_label","label":"bug"}`, ""},
		{"rejected", []string{bug}, memory.Rejected, 1, false, crash, bug, "mona rejected it on 2026-11-27"},
		{"rejected, and it overrides people", []string{bug}, memory.Rejected, 1, false, sure, bug, ""},
		{"expired once", []string{bug}, memory.Expired, 1, false, crash, bug, ""},
		{"expired twice", []string{bug}, memory.Expired, 2, false, crash, bug, "people did not accept it"},
		{"expired in the panel", []string{bug}, memory.Expired, 1, true, crash, bug, "people did not accept it"},
		{"accepted", []string{bug}, memory.Accepted, 1, false, crash, bug, ""},
		{"overtaken", []string{bug}, memory.Overtaken, 1, false, crash, bug, ""},
		{"a comment that was accepted", []string{`{"type":"comment","body":"hi"}`}, memory.Accepted, 1, false, crash, `{"type":"comment","body":"hi "}`, "mona accepted it"},
		{"another comment", []string{`{"type":"comment","body":"hi"}`}, memory.Rejected, 1, false, crash, `{"type":"comment","body":"ho"}`, ""},
		{"a comment with the same key", []string{`{"type":"comment","body":"hi","once":"k"}`}, memory.Rejected, 1, false, crash, `{"type":"comment","body":"ho","once":"k"}`, "rejected"},
		{"a comment without the key", []string{`{"type":"comment","body":"hi","once":"k"}`}, memory.Rejected, 1, false, crash, `{"type":"comment","body":"hi"}`, ""},
		{"a comment with a new key", []string{`{"type":"comment","body":"hi"}`}, memory.Rejected, 1, false, crash, `{"type":"comment","body":"hi","once":"k"}`, ""},
		{"a sticky comment", []string{`{"type":"update_comment","body":"hi","key":"k"}`}, memory.Rejected, 1, false, crash, `{"type":"update_comment","body":"hi","key":"k"}`, "rejected"},
		{"a sticky comment with another text", []string{`{"type":"update_comment","body":"hi","key":"k"}`}, memory.Rejected, 1, false, crash, `{"type":"update_comment","body":"ho","key":"k"}`, ""},
		{"an action of the program", []string{`{"type":"notify","to":"ops"}`}, memory.Rejected, 1, false, crash, `{"type":"notify","to":"ops"}`, "rejected"},
		{"another one", []string{`{"type":"notify","to":"ops"}`}, memory.Rejected, 1, false, crash, `{"type":"notify","to":"dev"}`, ""},
		{"a close for another reason", []string{`{"type":"close_issue","reason":"completed"}`}, memory.Rejected, 1, false, crash, `{"type":"close_issue"}`, "rejected"},
		{"another type", []string{`{"type":"set_type","issue_type":"Bug"}`}, memory.Rejected, 1, false, crash, `{"type":"set_type","issue_type":"Task"}`, ""},
		{"a lock", []string{`{"type":"lock"}`}, memory.Rejected, 1, false, crash, `{"type":"lock"}`, "rejected"},
		{"an unlock", []string{`{"type":"unlock"}`}, memory.Rejected, 1, false, crash, `{"type":"unlock"}`, "rejected"},
	}
	for _, tt := range tests {
		r := memory.Record{Repo: "o/r", Issue: 1}
		for i := range tt.times {
			p := pending(t, tt.made...).Proposals[0]
			if p.ID = protocol.DeriveTaskID(tt.name, string(rune('a'+i))); tt.panel {
				p.Carrier = triage.CarrierGitHub
			}
			n, _ := r.Propose(p)
			if tt.state != memory.Pending {
				r.End(n, tt.state, "mona", "", noon)
			}
		}
		got := proposal.Before(r, tt.from, item(t, tt.asks))
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if rejected := proposal.Rejected(r, tt.from, item(t, tt.asks)); (rejected != "") != (tt.want != "" && tt.state == memory.Rejected) {
			t.Errorf("%s: rejected %q", tt.name, rejected)
		}
	}
}

// TestEnded checks the reasons after the end of a proposal.
func TestEnded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		state  memory.ProposalState
		by     string
		reason string
		want   string
	}{
		{memory.Accepted, "mona", "", "mona accepted it on 2026-11-27"},
		{memory.Rejected, "", "the comment was deleted", "a person rejected it on 2026-11-27"},
		{memory.Expired, "", "", "its proposal expired on 2026-11-27"},
		{memory.Overtaken, "", "", "its proposal was overtaken on 2026-11-27"},
		{memory.Overtaken, "", "it holds by now", "its proposal was overtaken on 2026-11-27: it holds by now"},
	} {
		r := pending(t, `{"type":"lock"}`)
		r.End(1, tt.state, tt.by, tt.reason, noon)
		if got := proposal.Ended(r.Proposals[0]); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestCommentOfPanel checks that the comment shows no proposal of GitHub's panel.
func TestCommentOfPanel(t *testing.T) {
	t.Parallel()
	r := pending(t, `{"type":"add_label","label":"bug"}`, `{"type":"lock"}`)
	r.Proposals[0].Carrier = triage.CarrierGitHub
	if got := proposal.Comment(r, proposal.View{}); strings.Contains(got, "bug") || !strings.Contains(got, "lock") {
		t.Errorf("got\n%s", got)
	}
	r.Proposals = r.Proposals[:1]
	if got := proposal.Comment(r, proposal.View{}); got != "" {
		t.Errorf("got\n%s", got)
	}
}

// TestPermits checks which permission suffices for each action: what GitHub lets people do by hand.
func TestPermits(t *testing.T) {
	t.Parallel()
	triager := []string{
		"add_label", "add_labels", "remove_label", "assign", "unassign", "set_milestone", "remove_milestone", "set_type", "close_issue", "reopen_issue",
		"mark_duplicate", "request_review", "hide_comment",
	}
	for _, spec := range protocol.ActionSpecs() {
		p := memory.Proposal{Action: protocol.ActionItem{Type: spec.Name}}
		may := false
		for _, name := range triager {
			may = may || name == spec.Name
		}
		for permission, want := range map[string]bool{"admin": true, "maintain": true, "write": true, "triage": may, "read": false, "none": false, "": false} {
			if got := proposal.Permits(permission, p, false); got != want {
				t.Errorf("%s by %s: got %v", spec.Name, permission, got)
			}
		}
		if proposal.Permits("triage", p, true) || !proposal.Permits("write", p, true) {
			t.Errorf("%s that creates a label", spec.Name)
		}
	}
	group := memory.Proposal{Action: protocol.ActionItem{Type: "close_issue"}, Group: []protocol.ActionItem{{Type: "comment"}, {Type: "close_issue"}}}
	if proposal.Permits("triage", group, false) {
		t.Error("a triager may accept a comment")
	}
}

// TestCommentFits checks that the comment with the most and longest proposals is short enough, and that
// nothing in it is active besides our boxes.
func TestCommentFits(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "o/r", Issue: 1}
	for i := range memory.MaxPending {
		body := strings.Repeat("`", i) + "@mona fixes #1 <!-- foreman:p 1 0123456789abcdef -->\n- [x] **1** " + strings.Repeat("x", proposal.MaxBody-200)
		a, err := protocol.NewAction("comment", map[string]any{"body": body})
		if err != nil {
			t.Fatal(err)
		}
		p := memory.Proposal{
			ID: protocol.DeriveTaskID("fits", string(rune('a'+i))), At: noon, Expires: noon.Add(time.Hour), Action: a, Rationale: sanitize.Rationale(body),
			Carrier: triage.CarrierComment, State: memory.Pending,
		}
		before := r
		if _, ok := r.Propose(p); !ok || !proposal.Fits(r) {
			r = before
			break
		}
	}
	text := proposal.Comment(r, proposal.View{Boxes: true})
	if n := len([]rune(text)); len(r.Proposals) < 10 || n > proposal.MaxComment {
		t.Errorf("%d proposals, %d characters", len(r.Proposals), n)
	}
	ticked := strings.ReplaceAll(text, "[ ]", "[x]")
	if got := len(proposal.Ticked(text, ticked)); got != len(r.Proposals) {
		t.Errorf("%d boxes for %d proposals", got, len(r.Proposals))
	}
}

func FuzzTicked(f *testing.F) {
	body := proposal.Comment(pending(f, `{"type":"add_label","label":"bug"}`), proposal.View{Boxes: true})
	f.Add(body, strings.Replace(body, "[ ]", "[x]", 1))
	f.Add("", "- [x] **1** x <!-- foreman:p 1 0123456789abcdef -->")
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, tick := range proposal.Ticked(before, after) {
			if tick.Number < 1 || len(tick.Digest) != 16 {
				t.Errorf("got %+v", tick)
			}
		}
		if len(proposal.Ticked(before, before)) > 0 {
			t.Error("a text ticks boxes of itself")
		}
		_ = proposal.Sum(after)
	})
}

// TestApplyFull refuses a proposal if other runs made as many as may wait since this run read the record.
func TestApplyFull(t *testing.T) {
	t.Parallel()
	var labels []string
	for n := range memory.MaxPending + 1 {
		labels = append(labels, fmt.Sprintf(`{"type":"add_label","label":"l%d"}`, n))
	}
	r := pending(t, labels[:memory.MaxPending]...)
	made := pending(t, labels[0], labels[memory.MaxPending]).Proposals
	open := triage.Issue{Number: 1, State: "open"}
	c := proposal.Changes{Now: noon, Issue: open, State: outcome.StateOf(open), Made: made, Source: func(string) triage.Source { return triage.Source{} }}
	got := c.Apply(&r).Refused
	if len(got) != 1 || got[made[1].ID] == "" || len(r.Pending()) != memory.MaxPending {
		t.Errorf("refused %v, %d wait", got, len(r.Pending()))
	}
}
