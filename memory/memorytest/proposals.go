package memorytest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// proposal returns a new proposal of the action with the given JSON.
func proposal(id, action string) memory.Proposal {
	var item protocol.ActionItem
	if err := item.UnmarshalJSON([]byte(action)); err != nil {
		panic(err)
	}
	at := time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)
	return memory.Proposal{
		ID: id, At: at, Expires: at.AddDate(0, 0, 30), Source: "crash", Action: item,
		Confidence: protocol.ConfidenceHigh, Rationale: "because", Carrier: triage.CarrierComment,
	}
}

// proposals saves proposals with hostile actions and texts. A record without proposals keeps the form
// that older programs read, and one with proposals, or with only their last number, has the newer form.
func proposals(t *testing.T, s memory.Store) {
	r := Sample("org/repo", 7)
	save(t, s, r)
	if r = load(t, s, "org/repo", 7); r.Schema != 1 {
		t.Errorf("without proposals: got schema %d, want 1", r.Schema)
	}
	same := func(what string) {
		t.Helper()
		save(t, s, r)
		got := load(t, s, "org/repo", 7)
		if got.Schema != 2 {
			t.Errorf("%s: got schema %d, want 2", what, got.Schema)
		}
		r.Schema, r.Revision = r.StoredSchema(), r.Revision+1
		if diff := cmp.Diff(r, got, equalItems); diff != "" {
			t.Errorf("%s: record changed on its way (-saved +loaded):\n%s", what, diff)
		}
	}
	hostile := "'; drop table record; --\x00\x1b[31m</script>&\u2028\u202e\"\\${{ x }}"
	actions := []string{
		`{"type":""}`,
		`{"type":"launch_rocket","to":"moon","to":"mars"}`,
		`{"x-first":true,"type":"comment","body":"Thanks!\u2028<b>\u0000\ud800","n":[1.50,1e400,null]}`,
		`{"type":"comment","body":"` + strings.Repeat(`\u0000`, memory.MaxProposedText) + `"}`,
		`{"type":"lock"}`,
	}
	for i, text := range actions {
		p := proposal(fmt.Sprint(i, hostile), text)
		p.Source, p.Rationale = hostile, strings.Repeat(hostile, 3)
		if i == len(actions)-1 {
			p.Group = []protocol.ActionItem{proposal("", actions[2]).Action, p.Action}
		}
		if n, ok := r.Propose(p); n != i+1 || !ok {
			t.Fatalf("Propose %s: got number %d, %t", text, n, ok)
		}
	}
	same("new proposals")
	r.ProposalComment, r.ProposalsShown = 123, 2
	r.Render(strings.Repeat("0a", 32))
	r.End(2, memory.Accepted, hostile, hostile, time.Date(2026, 4, 11, 0, 0, 0, 0, time.UTC))
	same("an accepted one")
	r.Expire(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	same("all ended")
	r.Proposals, r.ProposalComment, r.ProposalsShown, r.ProposalRenders = nil, 0, 0, nil
	same("all dropped")
	if n, ok := r.Propose(proposal("again", `{"type":"lock"}`)); n != len(actions)+1 || !ok {
		t.Errorf("after all were dropped: got number %d, %t, want %d", n, ok, len(actions)+1)
	}
}
