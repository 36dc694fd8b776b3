package decision_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/org/foreman-action/internal/server/decision"
	"github.com/org/foreman-action/protocol"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]string{
		`{"task_id":"1","decision":"skip","rationale":"","actions":[]}`:                              "",
		`{"task_id":"1","decision":"skip","rationale":"","actions":[],"agent_version":"v1.2"}`:       "v1.2",
		`{"task_id":"1","decision":"skip","rationale":"","actions":[],"agent_version":"a b"}`:        "",
		`{"task_id":"1","decision":"skip","rationale":"","actions":[],"agent_version":7}`:            "",
		`{"agent_version":null,"task_id":"1","decision":"skip","rationale":"","actions":[],"x":[1]}`: "",
	} {
		m, err := decision.Parse([]byte(stored))
		if err != nil || m.AgentVersion != want || m.TaskID != "1" {
			t.Errorf("%s: got %+v, %v", stored, m, err)
		}
	}
	if _, err := decision.Parse([]byte(`{"task_id":"1","agent_version":"v1"}`)); err == nil {
		t.Error("a decision without a type was read")
	}
}

// FuzzParse reads any bytes. A decision stays the same when it is stored and read, and a version that a
// body contains is not in the form on the wire.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"task_id":"1","decision":"close","rationale":"<b>","actions":[{"type":"lock","x":1}],"agent_version":"v1"}`))
	f.Add([]byte(`{"task_id":"1","decision":"skip","agent_version":"\u0000"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decision.Parse(data)
		if err != nil {
			return
		}
		stored, err := decision.Encode(m)
		if err != nil || !json.Valid(stored) {
			t.Fatalf("got %s, %v", stored, err)
		}
		again, err := decision.Parse(stored)
		if err != nil {
			t.Fatal(err)
		}
		same := cmp.Comparer(func(a, b protocol.ActionItem) bool { return a.String() == b.String() })
		if diff := cmp.Diff(m, again, same, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if wire, err := protocol.ParseDecision(stored); err != nil || wire.AgentVersion != "" {
			t.Errorf("on the wire: %+v, %v", wire, err)
		}
	})
}
