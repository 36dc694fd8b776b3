package contract_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
)

// TestPublished decodes each document of the published protocol into its struct and encodes it
// again. No key, value or null is lost, and the order of keys is the same.
func TestPublished(t *testing.T) {
	t.Parallel()
	kinds := map[string]any{
		"status": &contract.Status{}, "next": &contract.Recommendation{}, "discover": &contract.Discovery{},
		"discover-blocked": &contract.Discovery{}, "candidate": &contract.Candidate{}, "score": &contract.Score{},
		"plan": &contract.Plan{}, "checkout": &contract.Workspace{}, "diff": &contract.Patch{},
		"validate": &contract.Validation{}, "validate-passed": &contract.Validation{}, "validate-failed": &contract.Validation{},
		"pr": &contract.PullRequest{}, "pr-created": &contract.PullRequest{},
	}
	files, err := filepath.Glob("testdata/published/*.json")
	if err != nil || len(files) != len(kinds) {
		t.Fatalf("%d published documents, want %d: %v", len(files), len(kinds), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			document := kinds[name]
			if err := json.Unmarshal(data, document); err != nil {
				t.Fatal(err)
			}
			printed, err := contract.Encode(reflect.ValueOf(document).Elem().Interface())
			if err != nil {
				t.Fatal(err)
			}
			want := parse(t, data)
			if name == "pr-created" { // the published page has another key order here than in "pr"
				slices.SortStableFunc(want.([]entry), func(a, b entry) int { return strings.Compare(a.key, b.key) })
				got := parse(t, printed).([]entry)
				slices.SortStableFunc(got, func(a, b entry) int { return strings.Compare(a.key, b.key) })
				within(t, "", want, got)
				return
			}
			within(t, "", want, parse(t, printed))
		})
	}
}

// An entry is a member of a JSON object.
type entry struct {
	key   string
	value any
}

func parse(t *testing.T, data []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return parseValue(t, d)
}

func parseValue(t *testing.T, d *json.Decoder) any {
	t.Helper()
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch token {
	case json.Delim('{'):
		members := []entry{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			members = append(members, entry{key.(string), parseValue(t, d)})
		}
		if _, err := d.Token(); err != nil {
			t.Fatal(err)
		}
		return members
	case json.Delim('['):
		list := []any{}
		for d.More() {
			list = append(list, parseValue(t, d))
		}
		if _, err := d.Token(); err != nil {
			t.Fatal(err)
		}
		return list
	}
	return token
}

// within checks that got contains all members of want, in the same order.
func within(t *testing.T, path string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case []entry:
		members, ok := got.([]entry)
		if !ok {
			t.Errorf("%s: got %v, want an object", path, got)
			return
		}
		at := 0
		for _, w := range want {
			for at < len(members) && members[at].key != w.key {
				at++
			}
			if at == len(members) {
				t.Errorf("%s: no key %q, or not in its place", path, w.key)
				return
			}
			within(t, path+"."+w.key, w.value, members[at].value)
		}
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			t.Errorf("%s: got %v, want %v", path, got, want)
			return
		}
		for i := range want {
			within(t, path+"[]", want[i], list[i])
		}
	default:
		if want != got {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}

func TestEncodeFillsLists(t *testing.T) {
	t.Parallel()
	candidates := []contract.Candidate{{}}
	data, err := contract.Encode(contract.Discovery{Candidates: candidates, Query: "a<b>"})
	if err != nil {
		t.Fatal(err)
	}
	if candidates[0].Labels != nil {
		t.Error("the caller's list changed")
	}
	text := string(data)
	if strings.Contains(text, `"labels": null`) || strings.Contains(text, `"suggestedCommands": null`) {
		t.Errorf("a list is null:\n%s", text)
	}
	if !strings.Contains(text, `"a<b>"`) || !strings.Contains(text, `"language": null`) || !strings.HasSuffix(text, "}\n") {
		t.Errorf("got\n%s", text)
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	at := contract.Time(time.Date(2026, 6, 4, 2, 0, 0, 1_999_999, time.FixedZone("", 7200)))
	data, err := at.MarshalText()
	if err != nil || string(data) != "2026-06-04T00:00:00.001Z" {
		t.Errorf("got %s, %v", data, err)
	}
}

// TestSchemas checks that every schema compiles, accepts a document with zero values, and refuses
// one without a required key.
func TestSchemas(t *testing.T) {
	t.Parallel()
	for _, name := range contract.Names() {
		t.Run(name, func(t *testing.T) {
			schema, err := contract.Schema(name)
			if err != nil {
				t.Fatal(err)
			}
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
			if err != nil {
				t.Fatal(err)
			}
			c := jsonschema.NewCompiler()
			if err := c.AddResource("schema.json", value); err != nil {
				t.Fatal(err)
			}
			compiled, err := c.Compile("schema.json")
			if err != nil {
				t.Fatal(err)
			}
			if err := compiled.Validate(map[string]any{}); err == nil {
				t.Error("an empty document is valid")
			}
			data, err := os.ReadFile(filepath.Join("testdata/published", name+".json"))
			if os.IsNotExist(err) {
				return
			}
			published, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			for _, cause := range problems(compiled.Validate(published)) {
				if !strings.Contains(cause, "missing propert") { // keys that were added since
					t.Errorf("the published document is refused: %s", cause)
				}
			}
		})
	}
}

// problems returns the leaves of a validation error.
func problems(err error) []string {
	failed, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return nil
	}
	if len(failed.Causes) == 0 {
		return []string{failed.Error()}
	}
	var all []string
	for _, c := range failed.Causes {
		all = append(all, problems(c)...)
	}
	return all
}
