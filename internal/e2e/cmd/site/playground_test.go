package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestExamples checks that the page has a field for each value of an example: without one the value
// would be lost.
func TestExamples(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(root + "/site/playground/index.html")
	if err != nil {
		t.Fatal(err)
	}
	data, err := examples(root)
	if err != nil {
		t.Fatal(err)
	}
	var list []example
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		for name := range e.Values {
			if name != "issue.pull_request" && !strings.Contains(string(page), `data-value="`+name+`"`) {
				t.Errorf("%s: the page has no field for %s", e.Title, name)
			}
		}
	}
}
