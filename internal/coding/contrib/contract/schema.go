package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/scoring/evidence"
)

// A document is a kind of document and the name of its schema.
type document struct {
	name string
	kind reflect.Type
}

// documents are all kinds of documents.
var documents = []document{
	{"status", reflect.TypeFor[Status]()},
	{"next", reflect.TypeFor[Recommendation]()},
	{"init", reflect.TypeFor[Init]()},
	{"discover", reflect.TypeFor[Discovery]()},
	{"score", reflect.TypeFor[Score]()},
	{"plan", reflect.TypeFor[Plan]()},
	{"blocked", reflect.TypeFor[BlockedLookup]()},
	{"checkout", reflect.TypeFor[Workspace]()},
	{"diff", reflect.TypeFor[Patch]()},
	{"validate", reflect.TypeFor[Validation]()},
	{"pr", reflect.TypeFor[PullRequest]()},
	{"demo", reflect.TypeFor[Demo]()},
	{"error", reflect.TypeFor[Error]()},
}

// Names returns the names of the documents.
func Names() []string {
	var names []string
	for _, d := range documents {
		names = append(names, d.name)
	}
	return names
}

// Schema returns the JSON Schema (draft 2020-12) of a document. It allows further keys, because
// later versions may add some. It returns an error if no document has that name.
func Schema(name string) ([]byte, error) {
	i := slices.IndexFunc(documents, func(d document) bool { return d.name == name })
	if i < 0 {
		return nil, fmt.Errorf("no document is named %q; want one of %s", name, strings.Join(Names(), ", "))
	}
	root := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", "contribflow " + name},
	}
	defs := map[string]object{}
	root = append(root, describe(documents[i].kind, defs)...)
	if len(defs) > 0 {
		var all object
		for _, name := range slices.Sorted(maps.Keys(defs)) {
			all = append(all, member{name, defs[name]})
		}
		root = append(root, member{"$defs", all})
	}
	return Encode(root)
}

// enums lists the values of each enumerated type.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[CommandKind]():    {string(KindCommand), string(KindInstruction), string(KindURL)},
	reflect.TypeFor[evidence.Level](): {string(evidence.Low), string(evidence.Medium), string(evidence.High)},
	reflect.TypeFor[State]():          texts(States()),
	reflect.TypeFor[Action]():         texts(Actions()),
	reflect.TypeFor[Code]():           texts(Codes()),
}

func texts[T ~string](list []T) []string {
	var out []string
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

// describe returns the keywords that describe a struct, and adds the structs in it to defs.
func describe(t reflect.Type, defs map[string]object) object {
	var properties object
	var required []string
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || f.Tag.Get("json") == "" {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		optional := strings.Contains(options, "omitempty")
		if !optional {
			required = append(required, name)
		}
		var of object
		if values := f.Tag.Get("enum"); values != "" {
			of = object{{"enum", strings.Split(values, ",")}}
		} else {
			of = value(f.Type, defs)
		}
		if f.Type.Kind() == reflect.Pointer && !optional {
			of = object{{"anyOf", []object{of, {{"type", "null"}}}}}
		}
		properties = append(properties, member{name, of})
	}
	return object{{"type", "object"}, {"required", required}, {"properties", properties}}
}

// value returns the keywords that describe a value.
func value(t reflect.Type, defs map[string]object) object {
	if values, ok := enums[t]; ok {
		return object{{"enum", values}}
	}
	switch {
	case t == reflect.TypeFor[Time]():
		return object{{"type", "string"}, {"format", "date-time"}}
	case t.Kind() == reflect.Pointer:
		return value(t.Elem(), defs)
	case t.Kind() == reflect.Slice:
		return object{{"type", "array"}, {"items", value(t.Elem(), defs)}}
	case t.Kind() == reflect.String:
		return object{{"type", "string"}}
	case t.Kind() == reflect.Bool:
		return object{{"type", "boolean"}}
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		return object{{"type", "integer"}}
	case t.Kind() == reflect.Float64:
		return object{{"type", "number"}}
	case t.Kind() == reflect.Struct:
		if _, ok := defs[t.Name()]; !ok {
			defs[t.Name()] = nil // prevents an endless recursion
			defs[t.Name()] = describe(t, defs)
		}
		return object{{"$ref", "#/$defs/" + t.Name()}}
	}
	return object{} // any JSON value
}

// An object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		data, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", m.name, data)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
