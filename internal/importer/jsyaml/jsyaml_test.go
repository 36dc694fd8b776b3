package jsyaml_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/jsyaml"
)

// parse returns the mapping of a document.
func parse(t *testing.T, src string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(src), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}

// TestKeys compares keys with the results of js-yaml 3.14, 4.1 and 5.1, which testdata/keys.jsonl
// has: the key, then the text for each version.
func TestKeys(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/keys.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var row [4]string
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		key := parse(t, row[0]+": x").Content[0]
		for i, want := range row[1:] {
			if got := jsyaml.Version(i + 3).Key(key); got != want {
				t.Errorf("%s in version %d: got %q, want %q", row[0], i+3, got, want)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestRefused checks documents of which js-yaml 4 rejects some. js-yaml 5 rejects only those with
// repeated keys.
func TestRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		src        string
		four, five int // line of the problem in these versions; 0: none
	}{
		{"! bug: x", 1, 0},
		{"&a bug: x", 1, 0},
		{"!!str a: x", 1, 0},
		{"a: 1\n! bug: x", 0, 0},
		{"a:\n  ! b: c", 2, 0},
		{"a:\n- ! b: c", 2, 0},
		{"a:\n- c: d\n  ! b: c", 0, 0},
		{"{! a: b}", 0, 0},
		{"a: !\n  b: c", 0, 0},
		{"a: &x\n  b: c", 0, 0},
		{"1.2: a\n1.20: b", 2, 2},
		{"1.2: a\n\"1.20\": b", 0, 0},
		{"\"! bug\": x", 0, 0},
	}
	for _, tt := range tests {
		for v, want := range map[jsyaml.Version]int{4: tt.four, 5: tt.five} {
			got := 0
			for _, p := range v.Refused(parse(t, tt.src), strings.Split(tt.src, "\n")) {
				got = p.Node.Line
			}
			if got != want {
				t.Errorf("%q in version %d: got a problem in line %d, want %d", tt.src, v, got, want)
			}
		}
	}
}

// FuzzKey checks that a key in quotation marks is unchanged, and that no key makes Key panic.
func FuzzKey(f *testing.F) {
	for _, s := range []string{"1.20", "1:30", "0x1f", "2020-01-01 1:00:00 -9", ".", "1e400", "-.inf"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for v := jsyaml.Version(3); v <= 5; v++ {
			v.Key(&yaml.Node{Kind: yaml.ScalarNode, Value: s})
			if got := v.Key(&yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: s}); got != s {
				t.Errorf("%q became %q", s, got)
			}
		}
	})
}
