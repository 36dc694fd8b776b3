package antislop_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/importer/antislop"
)

// TestPatterns compares the patterns with the answers of the checks of version 0.2.1 on the same
// texts. A line of testdata/answers.jsonl has a check, the value of its option, a text, and whether
// the check found something in it.
func TestPatterns(t *testing.T) {
	t.Parallel()
	patterns := map[string]func(value string) string{
		"title":      func(string) string { return antislop.ConventionalTitle },
		"commit":     func(string) string { return antislop.ConventionalCommit },
		"linked":     func(string) string { return antislop.LinkedIssue },
		"spam":       func(string) string { return antislop.SpamName },
		"branches":   func(v string) string { return antislop.Branches(strings.Split(v, "\n")) },
		"paths":      func(v string) string { return antislop.Paths(strings.Split(v, "\n")) },
		"extensions": func(v string) string { return antislop.Extensions(antislop.Words(v)) },
		"terms":      func(v string) string { p, _ := antislop.Visible(antislop.Lines(v)); return p },
		"issues":     func(v string) string { p, _ := antislop.Issues(antislop.Words(v)); return p },
		"emoji":      func(v string) string { return antislop.Emoji(int(v[0]-'0'), true) },
	}
	data, err := os.ReadFile("testdata/answers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for line := range strings.Lines(string(data)) {
		var c struct {
			Check, Value, Text string
			Found              bool
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		seen[c.Check]++
		p, err := regexp.Compile(patterns[c.Check](c.Value))
		if err != nil {
			t.Errorf("%s %q: %v", c.Check, c.Value, err)
			continue
		}
		if got := p.MatchString(c.Text); got != c.Found {
			t.Errorf("%s %q: %q: got %v, want %v", c.Check, c.Value, c.Text, got, c.Found)
		}
	}
	for check := range patterns {
		if seen[check] < 5 {
			t.Errorf("%s: %d texts, want at least 5", check, seen[check])
		}
	}
}

// TestInputs: the 54 inputs of the version, and no value of a number that is more than its maximum.
func TestInputs(t *testing.T) {
	t.Parallel()
	if n := len(antislop.Inputs()); n != 54 {
		t.Errorf("%d inputs, want 54", n)
	}
}

// TestRefused: values that have no pattern.
func TestRefused(t *testing.T) {
	t.Parallel()
	if p, ok := antislop.Visible([]string{"a", "<b"}); ok {
		t.Errorf("a term with < has the pattern %s", p)
	}
	if p, ok := antislop.Visible([]string{""}); ok {
		t.Errorf("an empty term has the pattern %s", p)
	}
	if p, ok := antislop.Issues([]string{"#12"}); ok {
		t.Errorf("a text that is no number has the pattern %s", p)
	}
}
