package config

import "testing"

// TestProposes checks which configurations may propose actions.
func TestProposes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file string
		want bool
	}{
		{"", false},
		{"policy: {automation: full, approve: [], suggestions: github, suggestion_ttl: 1d}", false},
		{"policy: {automation: balanced}", true},
		{"policy: {automation: full_control}", true},
		{"policy: {approve: [lock]}", true},
		{"policy: {approve: [lock], suggestions: off}", false},
		{"agent: {url: https://agent.example.org}", true},
		{"agent: {may: [lock]}", false},
		{"agent: {url: https://agent.example.org}\npolicy: {suggestions: off}", false},
		{"rules: [{id: a, then: [lock]}]", false},
		{"rules: [{id: a, then: [{lock: {confidence: medium}}]}]", false},
		{"rules: [{id: a, then: [lock, {lock: {confidence: low}}]}]", true},
		{"rules: [{id: a, then: [{lock: {confidence: high, suggest: true}}]}]", true},
		{"rules: [{id: a, then: [{lock: {suggest: true}}]}]\npolicy: {suggestions: off}", false},
	} {
		c, err := Parse("f.yml", []byte("version: 1\n"+tt.file+"\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Proposes(); got != tt.want {
			t.Errorf("%s: got %t", tt.file, got)
		}
	}
}
