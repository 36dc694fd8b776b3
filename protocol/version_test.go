package protocol_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/org/foreman-action/protocol"
)

func TestParseAgentVersion(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("9", 64)
	for in, want := range map[string]string{
		"": "", "1": "1", " v1.2_b-3 ": "v1.2_b-3", longest: longest, longest + "9": "", "a b": "", "a/b": "", "é": "", "\xff": "", "a\n": "a", "a@b": "", "::warning::x": "",
	} {
		if got := protocol.ParseAgentVersion(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// The version of an agent is in a header and not in the decision.
func TestAgentVersionIsNotEncoded(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(protocol.DecisionMessage{TaskID: "1", Decision: protocol.Skip, AgentVersion: "v1"})
	if err != nil || strings.Contains(string(data), "v1") {
		t.Errorf("got %s, %v", data, err)
	}
}

// FuzzParseAgentVersion checks that a version has only the characters that it may have, and parses to
// itself.
func FuzzParseAgentVersion(f *testing.F) {
	f.Add("v1.2")
	f.Add(" \x00é")
	f.Fuzz(func(t *testing.T, s string) {
		got := protocol.ParseAgentVersion(s)
		if len(got) > 64 || strings.Trim(got, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" || protocol.ParseAgentVersion(got) != got {
			t.Errorf("%q: got %q", s, got)
		}
	})
}
