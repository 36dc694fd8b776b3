package action

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/protocol"
)

// Rules can contain every action of the protocol, and also escalate and retriage.
func TestSpecsHoldEveryAction(t *testing.T) {
	t.Parallel()
	var want []string
	for _, s := range protocol.ActionSpecs() {
		want = append(want, s.Name)
	}
	want = append(want, "escalate", "retriage")
	var got []string
	for _, s := range Specs() {
		got = append(got, s.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}
