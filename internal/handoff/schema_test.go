package handoff_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/org/foreman-action/internal/handoff"
)

// compiled holds the compiled schemas by role.
var compiled = sync.OnceValues(func() (map[handoff.Role]*jsonschema.Schema, error) {
	out := map[handoff.Role]*jsonschema.Schema{}
	for _, role := range []handoff.Role{handoff.Builder, handoff.Inspector} {
		name := string(role) + "-result.json"
		data, err := fs.ReadFile(handoff.Schemas(), name)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("https://github.com/org/foreman-action/handoff/schema/"+name, doc); err != nil {
			return nil, err
		}
		if out[role], err = c.Compile("https://github.com/org/foreman-action/handoff/schema/" + name); err != nil {
			return nil, err
		}
	}
	return out, nil
})

// agree checks that parser and schema accept the same results. Two differences are permitted: the
// length of a summary, and bytes that are not UTF-8.
func agree(t testing.TB, role handoff.Role, data []byte) {
	t.Helper()
	all, err := compiled()
	if err != nil {
		t.Fatalf("compile the schemas: %v", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err == nil {
		err = all[role].Validate(doc)
	}
	_, problems := parse(t, role, data)
	if problems == nil && err != nil {
		t.Fatalf("the parser accepts %s, the schema does not: %v", data, err)
	}
	if problems != nil && err == nil && utf8.Valid(data) {
		for _, p := range problems {
			if p.Code != handoff.CodeTooLong {
				t.Fatalf("the schema accepts %s, the parser does not: %v", data, p)
			}
		}
	}
}

// values returns the values that replace each part of a result.
func values() []any {
	return []any{
		nil, true, false, json.Number("0"), json.Number("1e999"), "", " ", "\ufeff", "\u200b", "x", "ok", "failed", "OK", "low", "approved", "changes_requested",
		"blocker", []any{}, []any{nil}, []any{""}, []any{"a"}, []any{map[string]any{}}, map[string]any{}, map[string]any{"status": "failed"}, map[string]any{"status": "ok"},
	}
}

// TestMutations replaces or removes one or two parts of a valid result, and compares the parser
// with the schema.
func TestMutations(t *testing.T) {
	t.Parallel()
	bases := []struct {
		role handoff.Role
		text string
	}{
		{handoff.Builder, `{"run":{"status":"ok","failed_step":null,"error":null},"work":{"summary":"s","complexity":"low"}}`},
		{handoff.Builder, `{"run":{"status":"failed","failed_step":"s","error":"e"},"work":null}`},
		{handoff.Inspector, `{"run":{"status":"ok","failed_step":null,"error":null},"work":{"status":"approved","issues":[],"next_tasks":[]}}`},
		{handoff.Inspector, `{"run":{"status":"ok","failed_step":null,"error":null},"work":{"status":"changes_requested","issues":[{"severity":"minor","description":"d","paths":["p"]}],"next_tasks":["t"]}}`},
		{handoff.Inspector, `{"run":{"status":"failed","failed_step":"s","error":"e"},"work":null}`},
	}
	count := 0
	for _, base := range bases {
		for _, one := range mutations([]byte(base.text)) {
			for _, two := range mutations(one) {
				agree(t, base.role, two)
				count++
			}
		}
	}
	if count < 10_000 {
		t.Errorf("only %d mutations", count)
	}
	t.Log(count, "mutations")
}

// mutations returns the document and copies of it. Each copy has one part replaced by a value, or
// removed. Only about every seventh value is used.
func mutations(doc []byte) [][]byte {
	var v any
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		panic(fmt.Sprintf("%s: %v", doc, err))
	}
	out := [][]byte{doc}
	add := func() {
		data, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		out = append(out, data)
	}
	var walk func(any)
	walk = func(part any) {
		switch part := part.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(part)) {
				old := part[key]
				for i, value := range values() {
					if (i+len(out))%7 == 0 {
						part[key] = value
						add()
					}
				}
				delete(part, key)
				add()
				part[key] = old
				walk(old)
			}
		case []any:
			for i, old := range part {
				for _, value := range values() {
					part[i] = value
					add()
				}
				part[i] = old
				walk(old)
			}
		}
	}
	walk(v)
	return out
}
