package rules_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// TestValuesOfGitHub checks that conditions accept exactly the values that GitHub's API description
// lists for a field.
func TestValuesOfGitHub(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../internal/github/githubtest/testdata/github-subset.json")
	if err != nil {
		t.Fatal(err)
	}
	type schema struct {
		Enum       []*string
		Properties map[string]struct{ Enum []*string }
	}
	var doc struct {
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	schemas := doc.Components.Schemas
	for field, values := range map[string][]*string{
		"issue.association":         schemas["author-association"].Enum,
		"actor.association":         schemas["author-association"].Enum,
		"event.comment.association": schemas["author-association"].Enum,
		"issue.state_reason":        schemas["issue"].Properties["state_reason"].Enum,
	} {
		known := 0
		for _, v := range values {
			if v == nil {
				continue // conditions have "" in place of null
			}
			known++
			if _, err := condition(fmt.Sprintf("%s == %q", field, *v)); err != nil {
				t.Errorf("%s is %s: %v", field, *v, err)
			}
		}
		if _, err := condition(field + ` == "something else"`); err == nil || known < 4 {
			t.Errorf("%s: got %v for something else, and %d values", field, err, known)
		}
	}
}
