package memory_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// FuzzDecode decodes any bytes as a record: it never panics and returns ErrBroken or ErrNewer. A
// decoded record does not change when saved, has a valid summary, and accepts more tasks.
func FuzzDecode(f *testing.F) {
	f.Add(read(f, "testdata/record.json"))
	f.Add(read(f, "testdata/proposals.json"))
	f.Add(read(f, "testdata/outcomes.json"))
	for _, pattern := range []string{"testdata/broken/*.txtar", "testdata/summary/*.txtar"} {
		list, err := filepath.Glob(pattern)
		if err != nil || len(list) == 0 {
			f.Fatalf("no files %s: %v", pattern, err)
		}
		for _, file := range list {
			f.Add(txtar.Parse(read(f, file)).Files[0].Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := memory.Decode(data, "org/repo", 42)
		if err != nil {
			if !errors.Is(err, memory.ErrBroken) && !errors.Is(err, memory.ErrNewer) {
				t.Fatalf("got %v, want ErrBroken or ErrNewer", err)
			}
			return
		}
		text, ok := memory.Summary(r)
		checkSummary(t, r, text, ok)
		faded := r.Faded(time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC))
		text, ok = memory.Summary(faded)
		checkSummary(t, faded, text, ok)
		stored := saved(t, r)
		again, err := memory.Decode(stored, "org/repo", 42)
		if err != nil {
			t.Fatalf("decode what was encoded: %v", err)
		}
		if got := saved(t, again); !bytes.Equal(got, stored) {
			t.Fatalf("second round:\n%s", cmp.Diff(string(stored), string(got)))
		}
		was, waiting := posted(r), pendingOf(r)
		for range 2 {
			r.Put(memory.Task{ID: "new", At: time.Date(2026, 4, 10, 0, 0, 0, 0, time.UTC), Actions: []memory.Action{{Type: "add_label", Result: triage.Done}}})
			if posted(r) != was {
				t.Fatal("adding a task changed whether a comment was posted")
			}
			if r, err = memory.Decode(saved(t, r), "org/repo", 42); err != nil {
				t.Fatalf("decode what was put: %v", err)
			}
		}
		if diff := cmp.Diff(waiting, pendingOf(r)); diff != "" {
			t.Fatalf("adding a task changed the proposals that wait:\n%s", diff)
		}
		answer(t, r)
		text, ok = memory.Summary(r)
		checkSummary(t, r, text, ok)
		humans := r.Humans
		if r.SetHumans(humans); len(r.Humans) > len(humans) || posted(r) != was {
			t.Fatalf("of %d changes %d are kept", len(humans), len(r.Humans))
		}
		saved(t, r)
	})
}

// saved returns the stored form of r.
func saved(t *testing.T, r memory.Record) []byte {
	t.Helper()
	data, err := memory.Encode(r)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	return data
}

// FuzzSummary uses any strings as the rules, values, types and logins of a record.
func FuzzSummary(f *testing.F) {
	for _, s := range []string{"bug", "commented", "a comment", "Comment\nwas posted", "re\u017fponded", "comm\u200bented", "'", `\u0065`, "\xff", "a\x00b", strings.Repeat("comment", 30)} {
		f.Add(s, s, s, uint8(0))
		f.Add("crash", s, "add_label", uint8(1))
	}
	f.Fuzz(func(t *testing.T, rule, value, typ string, kind uint8) {
		types := []string{typ, "add_label", "close_issue", "mark_duplicate", "remove_label", "react"}
		r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1, Tasks: []memory.Task{{
			ID: "t", By: rule, Rationale: value, Event: typ, Status: value,
			Actions: []memory.Action{
				{Type: types[int(kind)%len(types)], Values: []string{value, rule}, Rule: rule, Reason: value, URL: value, Result: triage.Done},
				{Type: typ, Values: []string{rule + value}, Rule: value + rule, Result: triage.Done},
				{Type: "comment", Result: triage.Failed},
			},
		}}}
		r.Humans = []memory.Change{
			{Type: typ, Values: []string{value, rule}, By: rule},
			{At: april, Type: types[int(kind)%len(types)], Values: []string{rule + value}, By: value},
		}
		if p, err := protocol.NewAction(types[int(kind)%len(types)], map[string]any{"label": value, "labels": []string{rule, value}, "body": value}); err == nil {
			p := memory.Proposal{ID: rule, Source: typ, Rationale: value, Action: p, Confidence: protocol.Confidence(rule), Carrier: triage.Carrier(value)}
			for i, state := range []memory.ProposalState{memory.Pending, memory.Accepted, memory.ProposalState(value)} {
				p.Number, p.State = i+1, state
				r.Proposals = append(r.Proposals, p)
			}
		}
		text, ok := memory.Summary(r)
		checkSummary(t, r, text, ok)
		if !ok {
			t.Error("nothing is told of what was done")
		}
		r.Put(memory.Task{ID: "u"})
		if _, err := memory.Decode(saved(t, r), "org/repo", 42); err != nil {
			t.Errorf("decode: %v", err)
		}
	})
}
