package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/docs/recipes"
	"github.com/org/foreman-action/internal/cli/draft"
)

// TestRecipeExamples checks that an example of a recipe has each value of its first test that has a field
// or a flag.
func TestRecipeExamples(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(root + "/site/playground/index.html")
	if err != nil {
		t.Fatal(err)
	}
	all, err := recipes.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		e, err := recipeExample(r, string(page))
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Tests []map[string]any }
		if err := yaml.Unmarshal([]byte(r.Rules), &file); err != nil {
			t.Fatal(err)
		}
		var rest map[string]any
		if err := yaml.Unmarshal([]byte(e.Case), &rest); err != nil {
			t.Fatal(err)
		}
		for _, v := range draft.Values() {
			section, key, _ := strings.Cut(v.Name, ".")
			given, _ := file.Tests[0][section].(map[string]any)
			left, _ := rest[section].(map[string]any)
			want, ok := given[key]
			got, found := e.Values[v.Name]
			if !found {
				got = left[key]
			}
			if ok && !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s is %v, want %v", r.Name, v.Name, got, want)
			}
		}
	}
}

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
