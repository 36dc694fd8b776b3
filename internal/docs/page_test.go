package docs_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/org/foreman-action/internal/docs"
)

func TestParse(t *testing.T) {
	t.Parallel()
	src := "# A `b`: c, d\n\n## Same\n## Same\n\n[one](x.md#y) and\n[two](#same-1)\n\n| a |\n|---|\n| [three](z) |\n\n" +
		"<!-- not run: why -->\n```sh\nls\n```\n\n<!-- output -->\n```text\n```\n\n- item\n\n  ```yaml\n  # a/b.yml\n  x: 1\n  ```\n"
	page := docs.Parse([]byte(src))
	if diff := cmp.Diff([]string{"a-b-c-d", "same", "same-1"}, slices.Sorted(maps.Keys(page.Anchors))); diff != "" {
		t.Errorf("anchors (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]docs.Link{{To: "x.md#y", Line: 6}, {To: "#same-1", Line: 7}, {To: "z", Line: 11}}, page.Links, cmpopts.IgnoreFields(docs.Link{}, "Node")); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	headings := []docs.Heading{{1, "A b: c, d", "a-b-c-d"}, {2, "Same", "same"}, {2, "Same", "same-1"}}
	if diff := cmp.Diff(headings, page.Headings); diff != "" {
		t.Errorf("headings (-want +got):\n%s", diff)
	}
	want := []docs.Block{
		{Lang: "sh", Text: "ls\n", Marker: "not run: why", Line: 15},
		{Lang: "text", Marker: "output", Line: 20},
		{Lang: "yaml", Text: "# a/b.yml\nx: 1\n", Line: 25},
	}
	if diff := cmp.Diff(want, page.Blocks, cmpopts.IgnoreUnexported(docs.Block{})); diff != "" {
		t.Fatalf("blocks (-want +got):\n%s", diff)
	}
	if got := page.Blocks[2].File(); got != "a/b.yml" {
		t.Errorf("file: got %q", got)
	}
	replaced := string(page.Blocks[1].Replace([]byte(src), "new\n"))
	if got := docs.Parse([]byte(replaced)).Blocks[1].Text; got != "new\n" {
		t.Errorf("replaced: got %q", got)
	}
	if got := string(page.Blocks[0].Replace([]byte(src), "ls\n")); got != src {
		t.Errorf("replaced by itself: got %q", got)
	}
}
