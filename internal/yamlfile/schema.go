package yamlfile

import (
	"maps"
	"reflect"

	"github.com/org/foreman-action/internal/duration"
)

// Schema returns the JSON Schema, draft 2020-12, of the documents that [File.Decode] accepts for a
// struct type. more returns additional entries for a path of keys, such as "policy.limits": a
// description, or the schema of a node that is decoded elsewhere. Its entries replace those of the
// type; nil adds none. Schema panics for a type that Decode does not support.
func Schema(t reflect.Type, more func(path string) map[string]any) map[string]any {
	return schemer{more}.structure(t, "")
}

type schemer struct {
	more func(path string) map[string]any
}

func (s schemer) structure(t reflect.Type, path string) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, fd := range fields(t) {
		at := fd.to.name
		if path != "" {
			at = path + "." + at
		}
		value := s.value(t.Field(fd.index).Type, at)
		if fd.to.oneOrMore {
			value = map[string]any{"anyOf": []any{value, value["items"]}}
		}
		if fd.nullable {
			value["type"] = []any{value["type"], "null"}
		}
		maps.Copy(value, s.more(at))
		properties[fd.to.name] = value
		if fd.required {
			required = append(required, fd.to.name)
		}
	}
	out := map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	if i := inlined(t); i >= 0 {
		out["additionalProperties"] = s.value(t.Field(i).Type.Elem(), path+".*")
	}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func (s schemer) value(t reflect.Type, path string) map[string]any {
	switch {
	case t == nodeType || t == reflect.PointerTo(nodeType):
		return map[string]any{} // more provides its schema
	case t == durationType:
		return map[string]any{"anyOf": []any{
			map[string]any{"type": "string", "pattern": duration.Pattern}, map[string]any{"const": 0},
		}}
	}
	if t == timeType {
		return map[string]any{"type": "string", "format": "date"}
	}
	kind := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int64: "integer", reflect.Float64: "number",
	}[t.Kind()]
	switch {
	case kind != "":
		return map[string]any{"type": kind}
	case t.Kind() == reflect.Pointer:
		return s.value(t.Elem(), path)
	case t.Kind() == reflect.Struct && len(fields(t)) == 0:
		return map[string]any{} // a NodeDecoder, for which more provides the schema
	case t.Kind() == reflect.Struct:
		return s.structure(t, path)
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": s.value(t.Elem(), path)}
	case t.Kind() == reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.value(t.Elem(), path)}
	}
	panic("yamlfile: no schema of " + t.String())
}
