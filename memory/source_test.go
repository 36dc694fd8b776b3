package memory_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

func TestSources(t *testing.T) {
	t.Parallel()
	tests := []struct{ got, want string }{
		{memory.RuleSource("0123456789abcdef"), "rule:0123456789abcdef"},
		{memory.RuleSource(""), ""},
		{memory.SourceDigest("rule:0123456789abcdef"), "0123456789abcdef"},
		{memory.SourceDigest("agent:rule:7"), ""},
		{memory.SourceDigest(""), ""},
		{memory.AgentSource("Triage", "v1.2"), "agent:triage@v1.2"},
		{memory.AgentSource("triage", "openai/gpt-5"), "agent:triage@openai/gpt-5"},
		{memory.AgentSource("agents.example", ""), "agent:agents.example"},
		{memory.AgentSource("a@b", "1@2\n3"), "agent:a-b@1-2-3"},
		{memory.AgentSource("", "v1"), ""},
		{memory.AgentSource(strings.Repeat("é", 200), strings.Repeat("9", 200)), "agent:" + strings.Repeat("-", 50) + "@" + strings.Repeat("9", 64)},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

// FuzzAgentSource checks that a source is one printable word within the bounds of a record, whatever the
// agent calls itself.
func FuzzAgentSource(f *testing.F) {
	f.Add("triage", "v1.2")
	f.Add("\x00é\xff", "a@b \u202e")
	f.Fuzz(func(t *testing.T, name, version string) {
		got := memory.AgentSource(name, version)
		if (got == "") != (name == "") || len(got) > 128 || strings.ContainsFunc(got, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("%q, %q: got %q", name, version, got)
		}
		if strings.Count(got, "@") > 1 || strings.Contains(got, "@") != (name != "" && version != "") {
			t.Errorf("%q, %q: got %q", name, version, got)
		}
	})
}

// TestPairIsKept stores and reads every Pair of a record and of a ledger. One that is too long is cut, or
// refused if the caller did not use the methods of the record.
func TestPairIsKept(t *testing.T) {
	t.Parallel()
	for _, pair := range []string{"", "rule:0123456789abcdef", "agent:triage@v1", strings.Repeat("x\xff", 200)} {
		r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1}
		p := offer(t, "1", `{"type":"lock"}`)
		p.Pair = pair
		propose(t, &r, p)
		r.Plan(memory.ScheduledClose{At: april, Due: april, Rule: "crash", Pair: pair, Task: "1"})
		r.Put(memory.Task{ID: "1", At: april, Actions: []memory.Action{{Type: "lock", Pair: pair, Result: triage.Done}}})
		r.Put(memory.Task{ID: "1", At: april, Actions: []memory.Action{{Type: "lock", Pair: "other", Result: triage.Already}}})
		got, err := memory.Decode(saved(t, r), "org/repo", 42)
		if err != nil {
			t.Fatal(err)
		}
		kept := []string{got.Proposals[0].Pair, got.Closings[0].Pair, got.Tasks[0].Actions[0].Pair}
		for _, k := range kept {
			if len(pair) <= 128 && k != pair || len(k) > 128 || !utf8.ValidString(k) {
				t.Errorf("%.40q: got %q", pair, kept)
			}
		}
		l := memory.NewLedger(memory.LedgerKey{Repo: "org/repo", Issue: 42, Task: "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d"}, protocol.DecisionMessage{
			TaskID: "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d", Decision: protocol.LabelAndRespond, Actions: []protocol.ActionItem{item(t, `{"type":"lock"}`)},
		}, april)
		e := l.Entries[0]
		e.Pair = pair
		if err := l.Mark(e); err != nil {
			t.Fatal(err)
		}
		data, err := memory.EncodeLedger(l)
		if err != nil {
			t.Fatal(err)
		}
		again, err := memory.DecodeLedger(data, l.LedgerKey)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(l.Entries[0].Pair, again.Entries[0].Pair); diff != "" {
			t.Errorf("ledger (-want +got):\n%s", diff)
		}
	}
	long := strings.Repeat("x", 129)
	for name, r := range map[string]memory.Record{
		"task":     {Tasks: []memory.Task{{ID: "1", At: april, Actions: []memory.Action{{Type: "lock", Pair: long}}}}},
		"close":    {Closings: []memory.ScheduledClose{{At: april, Due: april, Pair: long}}},
		"proposal": {LastProposal: 1, Proposals: []memory.Proposal{{Number: 1, ID: "1", At: april, Expires: april, Action: item(t, `{"type":"lock"}`), State: memory.Expired, Pair: long}}},
	} {
		r.Repo, r.Issue, r.Revision = "org/repo", 42, 1
		if _, err := memory.Encode(r); err == nil {
			t.Errorf("%s: a long pair was stored", name)
		}
	}
}
