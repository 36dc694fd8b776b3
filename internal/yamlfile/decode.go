package yamlfile

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// A NodeDecoder decodes itself from a node and records mistakes in f. The
// node is never an alias and never null.
type NodeDecoder interface {
	DecodeYAML(f *File, n *yaml.Node)
}

var (
	nodeType     = reflect.TypeFor[yaml.Node]()
	durationType = reflect.TypeFor[time.Duration]()
)

// Decode fills out, which must be a non-nil pointer, from n and records what is
// wrong; it reports whether nothing was. A value that is wrong keeps what out held.
//
// Structs take mappings: the tag `yaml:"name"` names a key, "-" leaves a field out,
// and a key without a field is a problem. The option "required" makes an absent
// key a problem; the tag `mistaken:"a,b"` lists what people write in place of the
// key, which the message then names; "oneormore" lets a list take a single value. Other types are
// string, bool, int, int64, float64, [time.Duration] ("90s"), pointers, slices,
// maps with string keys, yaml.Node and *yaml.Node, which keep the node as it is,
// and every [NodeDecoder]. A null is a problem everywhere but for yaml.Node.
// Decode panics for a type that it does not know.
func (f *File) Decode(n *yaml.Node, out any) bool {
	return f.DecodeKey("", n, out)
}

// DecodeKey is [File.Decode] for the value of a key that is named in messages.
func (f *File) DecodeKey(key string, n *yaml.Node, out any) bool {
	before := f.ErrorCount()
	f.value(n, reflect.ValueOf(out).Elem(), target{name: key})
	return f.ErrorCount() == before
}

// A target describes the place that a value is for.
type target struct {
	name      string // of the key, for messages; empty at the top
	oneOrMore bool
}

func (f *File) value(n *yaml.Node, v reflect.Value, to target) {
	switch {
	case v.Type() == nodeType:
		v.Set(reflect.ValueOf(*n))
		return
	case v.Type() == reflect.PointerTo(nodeType):
		v.Set(reflect.ValueOf(n))
		return
	case isNull(n):
		f.Problemf(n, "%shas no value; give it one or leave it out", to.subject())
		return
	}
	if d, ok := reflect.TypeAssert[NodeDecoder](v.Addr()); ok {
		d.DecodeYAML(f, n)
		return
	}
	switch {
	case v.Type() == durationType:
		if msg := setDuration(n, v); msg != "" {
			f.Problemf(n, "%s%s", to.prefix(), msg)
		}
	case v.Kind() == reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		f.value(n, p.Elem(), to)
		v.Set(p)
	case v.Kind() == reflect.Struct:
		f.structure(n, v, to)
	case v.Kind() == reflect.Slice:
		f.list(n, v, to)
	case v.Kind() == reflect.Map:
		f.mapping(n, v, to)
	default:
		if want := setScalar(n, v); want != "" {
			f.Problemf(n, "%s%s", to.prefix(), wrongType(n, want))
		}
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func (t target) subject() string {
	if t.name == "" {
		return "this "
	}
	return t.name + " "
}

// prefix starts a message about the place's value.
func (t target) prefix() string {
	if t.name == "" {
		return ""
	}
	return t.name + ": "
}

func (f *File) list(n *yaml.Node, v reflect.Value, to target) {
	items := n.Content
	if n.Kind != yaml.SequenceNode {
		if !to.oneOrMore {
			f.Problemf(n, "%swant a list, got %s", to.prefix(), kind(n))
			return
		}
		items = []*yaml.Node{n}
	}
	list := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		f.value(item, list.Index(i), target{name: to.name})
	}
	v.Set(list)
}

func (f *File) mapping(n *yaml.Node, v reflect.Value, to target) {
	if n.Kind != yaml.MappingNode {
		f.Problemf(n, "%swant a mapping, got %s", to.prefix(), kind(n))
		return
	}
	m := reflect.MakeMapWithSize(v.Type(), len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		elem := reflect.New(v.Type().Elem()).Elem()
		f.value(n.Content[i+1], elem, target{name: key})
		m.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), elem)
	}
	v.Set(m)
}

// A field is a struct field that a key decodes into.
type field struct {
	index    int
	required bool
	mistaken []string // what people write in its place
	to       target
}

func fields(t reflect.Type) []field {
	var list []field
	for i := range t.NumField() {
		name, opts, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if name == "" || name == "-" {
			continue
		}
		o := strings.Split(opts, ",")
		list = append(list, field{
			index:    i,
			required: slices.Contains(o, "required"),
			mistaken: strings.FieldsFunc(t.Field(i).Tag.Get("mistaken"), func(r rune) bool { return r == ',' }),
			to:       target{name: name, oneOrMore: slices.Contains(o, "oneormore")},
		})
	}
	return list
}

// A shape is the fields of a struct and their names.
type shape struct {
	known []field
	names []string
}

// shape returns that of a type, which is worked out once for a file.
func (f *File) shape(t reflect.Type) shape {
	s, ok := f.shapes[t]
	if ok {
		return s
	}
	s.known = fields(t)
	for _, fd := range s.known {
		s.names = append(s.names, fd.to.name)
	}
	if f.shapes == nil {
		f.shapes = map[reflect.Type]shape{}
	}
	f.shapes[t] = s
	return s
}

func (f *File) structure(n *yaml.Node, v reflect.Value, to target) {
	s := f.shape(v.Type())
	known, names := s.known, s.names
	if n.Kind != yaml.MappingNode {
		f.Problemf(n, "%swant a mapping with the keys %s, got %s", to.prefix(), strings.Join(names, ", "), kind(n))
		return
	}
	seen := make([]bool, len(known))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		j := slices.Index(names, key.Value)
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" || isNull(key):
			// Parse has reported it.
		case j < 0:
			if k := slices.IndexFunc(known, func(fd field) bool { return slices.Contains(fd.mistaken, key.Value) }); k >= 0 {
				f.Problemf(key, "unknown key %q; write %s", key.Value, names[k])
				seen[k] = true
				continue
			}
			f.UnknownKey(key, names)
		case !seen[j]:
			seen[j] = true
			f.value(n.Content[i+1], v.Field(known[j].index), known[j].to)
		}
	}
	for j, fd := range known {
		if fd.required && !seen[j] {
			f.Problemf(n, "%s is required, but missing", fd.to.name)
		}
	}
}

// UnknownKey records that key is none of the known keys, with a suggestion.
func (f *File) UnknownKey(key *yaml.Node, known []string) {
	f.Problemf(key, "unknown key %q%s (known: %s)", key.Value, DidYouMean(key.Value, known), strings.Join(known, ", "))
}
