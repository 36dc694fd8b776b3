package judge_test

import (
	"fmt"
	"testing"

	"github.com/org/foreman-action/internal/evidence"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/judge"
	"github.com/org/foreman-action/triage"
)

// TestKeysAgree checks that the track record, the evidence of a replay and the entries of policy.earn mean the
// same label by the same spellings. Labels of one group are the same, those of different groups are not.
func TestKeysAgree(t *testing.T) {
	t.Parallel()
	groups := [][]string{
		{"bug", "Bug", "BUG"},
		{"bug ", "Bug "}, // blanks are part of a name
		{" bug"},
		{"area/net", "Area/Net"},
		{"caf\u00e9", "cafe\u0301", "CAFE\u0301", "CAF\u00c9"},
		{"cafe"},
		{"stra\u00dfe", "STRA\u1e9eE"}, // ß and its upper case
		{"strasse"},
		{"\u03bf\u03b4\u03cc\u03c2", "\u039f\u0394\u038c\u03a3", "\u03bf\u03b4\u03cc\u03c3"}, // both forms of sigma
		{"\u0130stanbul", "I\u0307stanbul", "istanbul", "Istanbul", "\u0131stanbul"},         // with and without a dot
		{"i\u0307stanbul"},
		{"\u212ahaki", "khaki"}, // the sign of kelvin
		{"\u017ftill", "still"}, // the long s
		{"\ufb01x"},
		{"fix"},
		{"\U0001f525"},
	}
	type label struct {
		name  string
		group int
	}
	var labels []label
	for g, names := range groups {
		for _, name := range names {
			labels = append(labels, label{name, g})
		}
	}
	for _, a := range labels {
		for _, b := range labels {
			want := a.group == b.group
			if got := keyOf(t, protocol.ActionAddLabel, a.name) == keyOf(t, protocol.ActionAddLabels, b.name); got != want {
				t.Errorf("track records of %+q and %+q: same is %v, want %v", a.name, b.name, got, want)
			}
			if got := starts(t, a.name, b.name); got != want {
				t.Errorf("evidence of %+q for %+q: %v, want %v", a.name, b.name, got, want)
			}
			trusting := policy.Policy{Earn: policy.Earn{Trust: []string{"crash/add_labels/" + a.name}}}
			if got := trusting.Trusted("crash", protocol.ActionAddLabel, b.name); got != want {
				t.Errorf("trust in %+q for %+q: %v, want %v", a.name, b.name, got, want)
			}
		}
	}
}

// keyOf returns the pair of an action that added a label.
func keyOf(t *testing.T, action, label string) memory.PairKey {
	t.Helper()
	acts := judge.Acts(memory.Action{Type: action, Values: []string{label}, Rule: "crash", Result: triage.Done}, start)
	if len(acts) != 1 {
		t.Fatalf("%s of %+q has %d acts", action, label, len(acts))
	}
	return judge.KeyOf("rule:00ff", acts[0])
}

// starts reports whether evidence of one label counts for another one, by its own name and by its key.
func starts(t *testing.T, label, other string) bool {
	t.Helper()
	const digest = "0123456789abcdef"
	data, err := evidence.Encode(evidence.File{Repo: "octo/hello", At: start, Pairs: []evidence.Pair{
		{Digest: digest, Action: protocol.ActionAddLabel, Value: label, Judged: 10, Kept: 9},
	}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := evidence.Decode(data, "octo/hello")
	if err != nil {
		t.Fatal(err)
	}
	_, judged := f.Start(digest, protocol.ActionAddLabel, other, 20)
	if _, keyed := f.Start(digest, protocol.ActionAddLabel, keyOf(t, protocol.ActionAddLabel, other).Value, 20); keyed != judged {
		t.Errorf("evidence for %+q: %d by its name, %d by its key", other, judged, keyed)
	}
	return judged > 0
}

// TestActsOfSeveralLabels checks that each label of add_labels is an act of its own, like one of add_label.
func TestActsOfSeveralLabels(t *testing.T) {
	t.Parallel()
	acts := judge.Acts(memory.Action{Type: protocol.ActionAddLabels, Values: []string{"Bug", "area/Net"}, Rule: "crash", Result: triage.Done}, start)
	var got string
	for _, a := range acts {
		got += fmt.Sprintln(judge.KeyOf("rule:00ff", a))
	}
	if want := "{rule:00ff add_label bug}\n{rule:00ff add_label area/net}\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
