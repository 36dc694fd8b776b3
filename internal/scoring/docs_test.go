package scoring

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestDocumentation: the page names everything that a condition can use, and its example is a
// file of rules.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/contribflow.md")
	if err != nil {
		t.Fatal(err)
	}
	for f := range reflect.TypeFor[env]().Fields() {
		if f.Type.Kind() != reflect.Struct {
			continue
		}
		for k := range f.Type.Fields() {
			if name := "`" + f.Tag.Get("expr") + "." + k.Tag.Get("expr") + "`"; !strings.Contains(string(page), name) {
				t.Errorf("docs/contribflow.md does not name %s", name)
			}
		}
	}
	_, rest, found := strings.Cut(string(page), "```yaml\nlimits:")
	example, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("docs/contribflow.md has no example of rules")
	}
	if _, err := Parse("docs/contribflow.md", []byte("limits:"+example)); err != nil {
		t.Errorf("the example of docs/contribflow.md: %v", err)
	}
	for _, k := range kinds {
		if !strings.Contains(string(page), "`"+k.name+"`") {
			t.Errorf("docs/contribflow.md does not name the kind %s", k.name)
		}
	}
}
