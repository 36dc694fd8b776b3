package memory_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// TestSummary reads testdata/summary. Each archive has a "record" and its "summary", which is
// "null" if the record has none. If there is a time in "now", the record is first faded to that
// time.
func TestSummary(t *testing.T) {
	t.Parallel()
	archives(t, "testdata/summary", func(t *testing.T, in map[string]string) map[string]string {
		r := recordIn(t, in["record"], in["now"])
		text, ok := memory.Summary(r)
		checkSummary(t, r, text, ok)
		if !ok {
			text = "null"
		}
		return map[string]string{"summary": text + "\n"}
	})
}

// recordIn decodes the record of an archive. It fades the record if the archive has a time.
func recordIn(t testing.TB, text, now string) memory.Record {
	t.Helper()
	r, err := memory.Decode([]byte(text), "org/repo", 42)
	if err != nil {
		t.Fatal(err)
	}
	if now = strings.TrimSpace(now); now == "" {
		return r
	}
	at, err := time.Parse(time.RFC3339, now)
	if err != nil {
		t.Fatal(err)
	}
	before, err := memory.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	faded := r.Faded(at)
	if after, err := memory.Encode(r); err != nil || !bytes.Equal(before, after) {
		t.Errorf("Faded changed the record: %v", err)
	}
	return faded
}

// phrases lists the texts that published agents look for, in lower case.
var phrases = []string{"comment was posted", "commented", "a comment", "responded"}

// posted reports whether a record contains a comment.
func posted(r memory.Record) bool {
	is := func(typ string) bool { return typ == protocol.ActionComment || typ == protocol.ActionUpdateComment }
	if r.Earlier != nil {
		for typ, n := range r.Earlier.Done {
			if n > 0 && is(typ) {
				return true
			}
		}
	}
	for _, task := range r.Tasks {
		for _, a := range task.Actions {
			if a.Result == triage.Done && is(a.Type) {
				return true
			}
		}
	}
	return false
}

// checkSummary checks the properties that every summary has.
func checkSummary(t testing.TB, r memory.Record, text string, ok bool) {
	t.Helper()
	if ok != (text != "") {
		t.Errorf("ok is %v for %q", ok, text)
	}
	if len(text) > memory.MaxSummary || !utf8.ValidString(text) {
		t.Errorf("%d bytes, valid UTF-8 %v: %q", len(text), utf8.ValidString(text), text)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("unprintable at byte %d: %q", i, text)
	}
	low := strings.ToLower(text)
	if got, want := strings.Contains(text, "commented"), posted(r); got != want {
		t.Errorf("says commented: %v, a comment was posted: %v\n%s", got, want, text)
	}
	for _, p := range phrases {
		if strings.Contains(low, p) && !posted(r) {
			t.Errorf("says %q without a comment: %s", p, text)
		}
	}
	if again, _ := memory.Summary(r); again != text {
		t.Errorf("the second time: got %q, want %q", again, text)
	}
}

// TestSummaryOfProposals looks for a rationale and a comment's text in the summaries of proposals in each
// state. They contain neither, and never call a proposed comment one that was posted.
func TestSummaryOfProposals(t *testing.T) {
	t.Parallel()
	const canary = "canary7f3a"
	for _, state := range []memory.ProposalState{memory.Pending, memory.Accepted, memory.Rejected, memory.Overtaken, memory.Expired} {
		for _, spec := range protocol.ActionSpecs() {
			r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1}
			p := offer(t, "a", `{"type":"`+spec.Name+`","body":"`+canary+`","once":"`+canary+`","key":"`+canary+`","rationale":"`+canary+`"}`)
			p.Rationale, p.Source = canary, canary
			p.Group = []protocol.ActionItem{item(t, `{"type":"comment","body":"`+canary+`"}`), p.Action}
			n := propose(t, &r, p)
			if state != memory.Pending {
				r.End(n, state, canary, canary, april)
			}
			text, ok := memory.Summary(r)
			checkSummary(t, r, text, ok)
			low := strings.ToLower(text)
			if !strings.Contains(text, ": suggested a reply") || strings.Contains(low, canary) || strings.Contains(low, "replied") || strings.Contains(low, "an action") {
				t.Errorf("%s, %s: got %s", spec.Name, state, text)
			}
			if faded, _ := memory.Summary(r.Faded(april.AddDate(1, 0, 0))); faded != text {
				t.Errorf("%s, %s: faded to %s", spec.Name, state, faded)
			}
		}
	}
}

// TestSummaryOfManyProposals leaves out the oldest proposals if the summary would be too long.
func TestSummaryOfManyProposals(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1}
	r.Put(memory.Task{ID: "t", At: april, Actions: []memory.Action{{Type: protocol.ActionComment, Result: triage.Done}}})
	for i := range memory.MaxEnded {
		p := offer(t, fmt.Sprint(i), fmt.Sprintf(`{"type":"add_label","label":"%d%s"}`, i, strings.Repeat("x", 50)))
		p.At = april.Add(time.Duration(i) * time.Hour)
		r.End(propose(t, &r, p), memory.Rejected, "mona", "", p.At)
	}
	text, ok := memory.Summary(r)
	checkSummary(t, r, text, ok)
	if !strings.Contains(text, "suggested label '49x") || strings.Contains(text, "label '0x") || !strings.Contains(text, "commented once") {
		t.Errorf("got %s", text)
	}
}

func TestSummaryFolds(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "org/repo", Issue: 42}
	for i := range 95 {
		r.Tasks = append(r.Tasks, memory.Task{
			ID: fmt.Sprint(i), At: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC), Decision: protocol.LabelAndRespond,
			Actions: []memory.Action{
				{Type: protocol.ActionAddLabel, Values: []string{fmt.Sprint("label ", i)}, Rule: "sort", Result: triage.Done},
			},
		})
	}
	r.Tasks[0].Actions = append(r.Tasks[0].Actions, memory.Action{Index: 1, Type: protocol.ActionComment, Result: triage.Done})
	before := len(r.Tasks)
	text, ok := memory.Summary(r)
	checkSummary(t, r, text, ok)
	if !strings.HasPrefix(text, "Issue #42: from 2026-01-01 to ") || !strings.Contains(text, "commented once") {
		t.Errorf("the oldest are not folded: %s", text)
	}
	if !strings.HasSuffix(text, "labelled 'label 94' on 2026-04-05 (rule sort). No further actions.") || strings.Contains(text, "'label 0'") {
		t.Errorf("the newest are not told: %s", text)
	}
	if len(text) < memory.MaxSummary-200 {
		t.Errorf("got %d bytes, want the space to be used", len(text))
	}
	if len(r.Tasks) != before || r.Earlier != nil {
		t.Error("Summary changed the record")
	}
}

// TestSummaryOfOneHugeTask summarizes a single task that is too long for a summary.
func TestSummaryOfOneHugeTask(t *testing.T) {
	t.Parallel()
	task := memory.Task{ID: "t", At: time.Date(2026, 4, 10, 0, 0, 0, 0, time.UTC)}
	for i := range 25 {
		a := memory.Action{Index: i, Type: protocol.ActionAddLabels, Rule: strings.Repeat("r", 200), Result: triage.Done}
		for j := range 40 {
			a.Values = append(a.Values, fmt.Sprint(i, strings.Repeat("é", 300), j))
		}
		task.Actions = append(task.Actions, a)
	}
	for _, more := range []int{0, 1000} {
		r := memory.Record{Repo: "org/repo", Issue: 42, Tasks: []memory.Task{task}}
		for i := range more {
			r.Tasks[0].Actions = append(r.Tasks[0].Actions, memory.Action{Type: fmt.Sprint("type ", i), Values: []string{"x"}, Result: triage.Done})
		}
		text, ok := memory.Summary(r)
		checkSummary(t, r, text, ok)
		if !strings.Contains(text, "labelled 25 times") {
			t.Errorf("got %s, want counts", text)
		}
	}
}
