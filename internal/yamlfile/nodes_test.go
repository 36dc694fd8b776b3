package yamlfile_test

import (
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

func TestChild(t *testing.T) {
	t.Parallel()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("a: {b: {c: deep}, d: [e], b: later}\nf: flat\n"), &doc); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		from *yaml.Node
		keys []string
		want string // empty: nothing
	}{
		{"at once", doc.Content[0], []string{"f"}, "flat"},
		{"the first of two, and deep", doc.Content[0], []string{"a", "b", "c"}, "deep"},
		{"not there", doc.Content[0], []string{"x"}, ""},
		{"below what is not there", doc.Content[0], []string{"x", "y"}, ""},
		{"below a list", doc.Content[0], []string{"a", "d", "e"}, ""},
		{"below a text", doc.Content[0], []string{"f", "flat"}, ""},
		{"of nothing", nil, []string{"a"}, ""},
		{"without keys", doc.Content[0].Content[3], nil, "flat"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := yamlfile.Child(tt.from, tt.keys...)
			if got == nil && tt.want != "" || got != nil && got.Value != tt.want {
				t.Errorf("got %v, want %q", got, tt.want)
			}
		})
	}
}
