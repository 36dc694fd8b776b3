package importer_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/importer"
	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// TestRegexes compares the texts that a pattern matches here and in JavaScript. The file
// testdata/regex/javascript.jsonl was made with Node.js. It lists for each regular expression the
// texts that it matches and those that it does not match.
func TestRegexes(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/regex/javascript.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(data) {
		var row struct {
			Re, Flags string
			Yes, No   []string
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		n++
		set := importRegex(t, "/"+row.Re+"/"+row.Flags)
		if set == nil {
			continue
		}
		for _, text := range row.Yes {
			if !fires(t, set, text) {
				t.Errorf("/%s/%s does not match %q", row.Re, row.Flags, text)
			}
		}
		for _, text := range row.No {
			if fires(t, set, text) {
				t.Errorf("/%s/%s matches %q", row.Re, row.Flags, text)
			}
		}
	}
	if n < 80 {
		t.Errorf("only %d regular expressions", n)
	}
}

// importRegex returns the rule to which a regular expression is imported.
func importRegex(t *testing.T, re string) *rules.Set {
	t.Helper()
	text, err := json.Marshal(re)
	if err != nil {
		t.Fatal(err)
	}
	res, err := importer.Import(othertools.Request{Tool: "issue-labeler", File: othertools.Source{Name: "l.yml", Data: append([]byte("bug: "), text...)}})
	if err != nil || res.Rules != 1 {
		t.Errorf("%s: %v, %v", re, err, res.Unmapped)
		return nil
	}
	c, err := config.Parse("imported.yml", res.Config, nil)
	if err != nil {
		t.Errorf("%s: %v", re, err)
		return nil
	}
	return c.Rules
}

func fires(t *testing.T, set *rules.Set, body string) bool {
	t.Helper()
	r, err := set.Decide(t.Context(), facts.Facts{Issue: triage.Issue{Number: 1, Body: body}, Event: triage.Event{Name: "issues", Action: "opened"}})
	if err != nil {
		t.Error(err)
	}
	return len(r.Fired) > 0
}
