package yamlfile_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

// A document is the type that golden files decode into. It has a field of every kind.
type document struct {
	Name     string            `yaml:"name,required"`
	Count    int               `yaml:"count"`
	Big      int64             `yaml:"big"`
	Ratio    float64           `yaml:"ratio"`
	On       bool              `yaml:"on"`
	Wait     time.Duration     `yaml:"wait"`
	Tags     []string          `yaml:"tags"`
	Events   []string          `yaml:"events,oneormore"`
	Limits   map[string]int    `yaml:"limits"`
	Text     map[string]string `yaml:"text"`
	Optional *string           `yaml:"optional"`
	Nested   nested            `yaml:"nested"`
	Many     []nested          `yaml:"many"`
	Raw      yaml.Node         `yaml:"raw"`
	RawRef   *yaml.Node        `yaml:"raw_ref"`
	Even     even              `yaml:"even"`
	Day      time.Time         `yaml:"day"`
	Open     open              `yaml:"open"`
	Ignored  string            `yaml:"-"`
}

// open takes more keys than it has fields.
type open struct {
	Key  string            `yaml:"key"`
	More map[string]nested `yaml:",inline"`
}

type nested struct {
	Key   string `yaml:"key"`
	Value int    `yaml:"value"`
}

// even is a NodeDecoder that rejects odd numbers.
type even int

func (e *even) DecodeYAML(f *yamlfile.File, n *yaml.Node) {
	var i int
	if !f.Decode(n, &i) {
		return
	}
	if i%2 != 0 {
		f.Problemf(n, "even: %d is odd", i)
		return
	}
	*e = even(i)
}

// TestGolden decodes the in.yml of every archive in testdata and compares the
// problems, or the value when there are none, with the archive's want.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := describe(ar.Files[0].Data)
			if *update {
				ar.Files = []txtar.File{ar.Files[0], {Name: "want", Data: []byte(got)}}
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(ar.Files[1].Data), got); diff != "" {
				t.Errorf("want and got differ (-want +got):\n%s", diff)
			}
		})
	}
}

// describe returns the problems of a document, or its value if there are none, and the warnings.
func describe(src []byte) string {
	f, err := yamlfile.Parse("in.yml", src)
	if err != nil {
		return err.Error() + "\n"
	}
	var d document
	f.Decode(f.Root(), &d)
	if err := f.Err(); err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, field := range []struct {
		name  string
		value any
		zero  bool
	}{
		{"name", d.Name, d.Name == ""}, {"count", d.Count, d.Count == 0}, {"big", d.Big, d.Big == 0},
		{"ratio", d.Ratio, d.Ratio == 0}, {"on", d.On, !d.On}, {"wait", d.Wait, d.Wait == 0},
		{"tags", d.Tags, d.Tags == nil}, {"events", d.Events, d.Events == nil}, {"limits", d.Limits, d.Limits == nil},
		{"text", d.Text, d.Text == nil}, {"nested", d.Nested, d.Nested == nested{}}, {"many", d.Many, d.Many == nil},
		{"raw", yamlfile.Kind(&d.Raw), d.Raw.IsZero()}, {"even", d.Even, d.Even == 0},
		{"day", d.Day.Format(time.RFC3339), d.Day.IsZero()}, {"open", d.Open, d.Open.Key == "" && d.Open.More == nil},
	} {
		if !field.zero {
			fmt.Fprintf(&b, "%s = %#v\n", field.name, field.value)
		}
	}
	if d.Optional != nil {
		fmt.Fprintf(&b, "optional = %q\n", *d.Optional)
	}
	if d.RawRef != nil {
		fmt.Fprintf(&b, "raw_ref = %s\n", yamlfile.Kind(d.RawRef))
	}
	return b.String()
}
