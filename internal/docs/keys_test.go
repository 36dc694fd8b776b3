package docs_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/config/serverconfig"
)

// TestServerKeys compares the table of docs/server/keys.md with the schema of the server's
// configuration. With -update it rewrites the table.
func TestServerKeys(t *testing.T) {
	t.Parallel()
	const page, begin, end = "docs/server/keys.md", "<!-- keys -->\n", "<!-- /keys -->\n"
	src := string(pages(t)[page])
	head, rest, _ := strings.Cut(src, begin)
	got, tail, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatalf("%s has no table of keys", page)
	}
	want := "| key | meaning |\n|---|---|\n" + strings.Join(keyRows(serverconfig.Schema(), ""), "")
	switch diff := cmp.Diff(want, got); {
	case diff == "":
	case !*update:
		t.Errorf("%s: go test ./internal/docs -run TestServerKeys -update rewrites the table (-want +got):\n%s", page, diff)
	default:
		if err := os.WriteFile(filepath.Join(root, page), []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// keyRows returns a row for each key below path that has a description and no described keys below
// it. The sections that a page of their own describes are one row each.
func keyRows(schema map[string]any, path string) []string {
	if items, ok := schema["items"].(map[string]any); ok {
		schema, path = items, strings.TrimSuffix(path, ".")+"[]."
	}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]string)
	var rows []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		key, _ := properties[name].(map[string]any)
		var below []string
		if !slices.Contains([]string{"rules", "forms", "tables", "tests"}, path+name) {
			below = keyRows(key, path+name+".")
		}
		doc, _ := key["description"].(string)
		if slices.Contains(required, name) && len(below) == 0 {
			doc = "Required. " + doc
		}
		if len(below) == 0 && doc != "" {
			below = []string{fmt.Sprintf("| `%s%s` | %s |\n", path, name, strings.ReplaceAll(doc, "|", `\|`))}
		}
		rows = append(rows, below...)
	}
	return rows
}
