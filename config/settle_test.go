package config

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/policy"
)

// TestTightenForgetsNothing checks a policy that has every key. The result is the same policy
// whether the repository's own file, the extended file or both contain it.
func TestTightenForgetsNothing(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("testdata/schema/every_key.yml")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := yaml.Unmarshal(src, &all); err != nil {
		t.Fatal(err)
	}
	const extends = "extends: o/r:f.yml@v1\n"
	load := func(own, theirs string) policy.Policy {
		t.Helper()
		c, err := Load(t.Context(), single{"f.yml", []byte("version: 1\n" + own)}, Spec{
			Path: "f.yml",
			Remote: func(context.Context, RemoteFile) ([]byte, error) {
				if theirs == "" {
					return nil, fs.ErrNotExist
				}
				return []byte("version: 1\n" + theirs), nil
			},
		})
		if err != nil || len(c.Warnings) > 0 {
			t.Fatalf("%v, warnings of %v", err, c)
		}
		return c.Policy
	}
	keysOf, ok := all["policy"].(map[string]any)
	if !ok {
		t.Fatal("the file has no policy")
	}
	level, earned := maps.Clone(keysOf), maps.Clone(keysOf)
	delete(level, "earn")
	earned["automation"] = "earned"
	for _, keys := range []map[string]any{level, earned} {
		section, err := yaml.Marshal(map[string]any{"policy": keys, "agent": map[string]any{"may": []string{"comment"}}})
		if err != nil {
			t.Fatal(err)
		}
		want := load(string(section), "")
		if diff := cmp.Diff(want, load(extends, string(section))); diff != "" {
			t.Errorf("of the file that is extended alone (-want +got):\n%s", diff)
		}
		both := load(extends+string(section), string(section))
		both.Labels.Within = nil
		if diff := cmp.Diff(want, both); diff != "" {
			t.Errorf("of both (-want +got):\n%s", diff)
		}
	}
}
