package yamlfile

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// A NodeDecoder decodes itself from a node and records mistakes in f. The node is never an alias or
// null.
type NodeDecoder interface {
	DecodeYAML(f *File, n *yaml.Node)
}

var (
	nodeType     = reflect.TypeFor[yaml.Node]()
	durationType = reflect.TypeFor[time.Duration]()
	timeType     = reflect.TypeFor[time.Time]()
)

// A Decoder fills Go values from the nodes of a file.
//
// A mapping decodes into a struct. The tag `yaml:"name"` names the key of a field, and "-" leaves a
// field out. The tag `yaml:",inline"` marks a map that takes the keys without a field of their own; in a
// struct that has none, such a key is a problem. Options follow the name:
//
//	required    an absent key is a problem
//	nullable    a null counts as an absent key
//	oneormore   a list takes a single value
//	zeroabsent  0 and an empty text count as an absent key, which must have a default
//
// The tag `default:"90s"` is the value of an absent key, even if the mapping around it is absent.
// The tag `mistaken:"a,b"` lists keys that people often write by mistake; the message then suggests
// the right key. Other types are string, bool, int, int64, float64, [time.Duration] ("90s"),
// [time.Time] ("2026-11-27", in UTC), pointers, slices, maps with string keys, yaml.Node and *yaml.Node, which keep the node unchanged,
// and every [NodeDecoder]. A null is a problem except for yaml.Node. Decode panics for any other
// type.
type Decoder struct {
	File *File // collects the problems
	// Variables resolves ${NAME} in scalars, except in nodes that are kept; nil: ${NAME} is kept.
	Variables *Variables
	// Lenient accepts a text in place of a number, a duration or a boolean, such as "8" for 8.
	Lenient bool
	// Secret is the type of secret texts, which no message contains. A text in place of a list or a
	// mapping may be a secret, too, so messages do not contain it either. Nil: messages may contain
	// all values.
	Secret reflect.Type
}

// Decode fills out, a non-nil pointer, from n and records mistakes in the file. It reports whether
// there were none. A wrong value does not change out.
func (d Decoder) Decode(n *yaml.Node, out any) bool { return d.decode("", n, out) }

func (d Decoder) decode(key string, n *yaml.Node, out any) bool {
	before := d.File.ErrorCount()
	d.value(n, reflect.ValueOf(out).Elem(), target{name: key})
	return d.File.ErrorCount() == before
}

// Decode is [Decoder.Decode] for values without variables.
func (f *File) Decode(n *yaml.Node, out any) bool { return Decoder{File: f}.Decode(n, out) }

// DecodeKey is [File.Decode] for the value of a key. Messages name the key.
func (f *File) DecodeKey(key string, n *yaml.Node, out any) bool {
	return Decoder{File: f}.decode(key, n, out)
}

// A target describes the place in a Go value that a node decodes into.
type target struct {
	name      string // of the key, for messages; empty at the top
	oneOrMore bool
}

func (d Decoder) value(n *yaml.Node, v reflect.Value, to target) {
	switch {
	case v.Type() == nodeType:
		v.Set(reflect.ValueOf(*n))
		return
	case v.Type() == reflect.PointerTo(nodeType):
		v.Set(reflect.ValueOf(n))
		return
	case IsNull(n):
		d.File.Problemf(n, "%shas no value; give it one or leave it out", to.subject())
		return
	}
	if own, ok := reflect.TypeAssert[NodeDecoder](v.Addr()); ok {
		own.DecodeYAML(d.File, n)
		return
	}
	if v.Type() == timeType {
		d.scalar(n, v, to)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		d.value(n, p.Elem(), to)
		v.Set(p)
	case reflect.Struct:
		d.structure(n, v, to)
	case reflect.Slice:
		d.list(n, v, to)
	case reflect.Map:
		d.mapping(n, v, to)
	default:
		d.scalar(n, v, to)
	}
}

func (t target) subject() string {
	if t.name == "" {
		return "this "
	}
	return t.name + " "
}

// prefix returns the start of a message about the value.
func (t target) prefix() string {
	if t.name == "" {
		return ""
	}
	return t.name + ": "
}

// wrongKind reports a node that is not the wanted list or mapping. hint may be empty.
func (d Decoder) wrongKind(n *yaml.Node, to target, want, keys, hint string) {
	if d.Secret != nil && n.Kind == yaml.ScalarNode {
		d.File.Problemf(n, "%swant %s", to.prefix(), want)
		return
	}
	d.File.Problemf(n, "%swant %s%s, got %s%s", to.prefix(), want, keys, Kind(n), hint)
}

// asList returns the hint for a text in the place of a list. A text with commas becomes several items.
// One with other spaces may be a command, so that its items are not known.
func asList(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || n.Value == "" || len(n.Value) > 40 || strings.ContainsAny(strings.ReplaceAll(n.Value, ", ", ","), " []{}#:&*!|>'\"%@`\\\n") {
		return ""
	}
	return "; write [" + n.Value + "]"
}

// asMapping returns the hint for a list of names in the place of a mapping whose first key takes such a
// list.
func (s shape) asMapping(n *yaml.Node) string {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 || len(s.known) == 0 || !s.known[0].texts {
		return ""
	}
	hint := asList(n.Content[0])
	if hint == "" {
		return ""
	}
	if len(n.Content) > 1 {
		hint = strings.TrimSuffix(hint, "]") + ", …]"
	}
	name, list := s.names[0], strings.TrimPrefix(hint, "; write ")
	return "; write {" + name + ": " + list + "}"
}

func (d Decoder) list(n *yaml.Node, v reflect.Value, to target) {
	items := n.Content
	if n.Kind != yaml.SequenceNode {
		if !to.oneOrMore {
			hint := ""
			if v.Type().Elem().Kind() == reflect.String {
				hint = asList(n)
			}
			d.wrongKind(n, to, "a list", "", hint)
			return
		}
		items = []*yaml.Node{n}
	}
	list := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		d.value(item, list.Index(i), target{name: to.name})
	}
	v.Set(list)
}

func (d Decoder) mapping(n *yaml.Node, v reflect.Value, to target) {
	if n.Kind != yaml.MappingNode {
		d.wrongKind(n, to, "a mapping", "", "")
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(n.Content)/2))
	for i := 0; i+1 < len(n.Content); i += 2 {
		d.mappingEntry(n.Content[i], n.Content[i+1], v)
	}
}

// mappingEntry decodes a value into a map, which it makes if it is nil.
func (d Decoder) mappingEntry(key, n *yaml.Node, v reflect.Value) {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	elem := reflect.New(v.Type().Elem()).Elem()
	d.value(n, elem, target{name: key.Value})
	v.SetMapIndex(reflect.ValueOf(key.Value).Convert(v.Type().Key()), elem)
}

// A field is a struct field that a key decodes into.
type field struct {
	index      int
	required   bool
	nullable   bool
	texts      bool // a list of texts
	zeroAbsent bool
	fallback   *yaml.Node // node of the default; nil: none
	mistaken   []string   // wrong keys that people often write for it
	to         target
}

// inlined returns the index of the map that takes the keys without a field; -1: there is none.
func inlined(t reflect.Type) int {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("yaml") == ",inline" {
			return i
		}
	}
	return -1
}

func fields(t reflect.Type) []field {
	var list []field
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		name, opts, _ := strings.Cut(tag.Get("yaml"), ",")
		if name == "" || name == "-" {
			continue
		}
		o := strings.Split(opts, ",")
		fd := field{
			index:      i,
			texts:      t.Field(i).Type == reflect.TypeFor[[]string](),
			required:   slices.Contains(o, "required"),
			nullable:   slices.Contains(o, "nullable"),
			zeroAbsent: slices.Contains(o, "zeroabsent"),
			mistaken:   strings.FieldsFunc(tag.Get("mistaken"), func(r rune) bool { return r == ',' }),
			to:         target{name: name, oneOrMore: slices.Contains(o, "oneormore")},
		}
		if text, ok := tag.Lookup("default"); ok {
			fd.fallback = &yaml.Node{Kind: yaml.ScalarNode, Value: text}
		}
		list = append(list, fd)
	}
	return list
}

// A shape contains the fields of a struct and their names.
type shape struct {
	known []field
	names []string
	rest  int // as inlined returns it
}

// shape returns the shape of a type. It is computed once for each file.
func (f *File) shape(t reflect.Type) shape {
	s, ok := f.shapes[t]
	if ok {
		return s
	}
	s.known, s.rest = fields(t), inlined(t)
	for _, fd := range s.known {
		s.names = append(s.names, fd.to.name)
	}
	if f.shapes == nil {
		f.shapes = map[reflect.Type]shape{}
	}
	f.shapes[t] = s
	return s
}

func (fd field) setDefault(v reflect.Value) {
	if err := setScalar(fd.fallback, v); err != nil {
		panic(fmt.Sprintf("yamlfile: default %q of %s: %v", fd.fallback.Value, fd.to.name, err))
	}
}

// setDefaults sets the fields that have a default, also in nested structs.
func (f *File) setDefaults(v reflect.Value) {
	for _, fd := range f.shape(v.Type()).known {
		switch at := v.Field(fd.index); {
		case fd.fallback != nil:
			fd.setDefault(at)
		case at.Kind() == reflect.Struct && at.Type() != nodeType && at.Type() != timeType:
			f.setDefaults(at)
		}
	}
}

func (d Decoder) structure(n *yaml.Node, v reflect.Value, to target) {
	s := d.File.shape(v.Type())
	d.File.setDefaults(v)
	if n.Kind != yaml.MappingNode {
		d.wrongKind(n, to, "a mapping", " with the keys "+strings.Join(s.names, ", "), s.asMapping(n))
		return
	}
	seen := make([]bool, len(s.known))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		j := slices.Index(s.names, key.Value)
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" || IsNull(key):
			// Parse has already reported it.
		case j < 0 && s.rest >= 0:
			d.mappingEntry(key, value, v.Field(s.rest))
		case j < 0:
			if k := slices.IndexFunc(s.known, func(fd field) bool { return slices.Contains(fd.mistaken, key.Value) }); k >= 0 {
				d.File.Problemf(key, "unknown key %q; write %s", key.Value, s.names[k])
				seen[k] = true
				continue
			}
			d.File.UnknownKey(key, s.names)
		case s.known[j].nullable && IsNull(value):
		case !seen[j]:
			seen[j] = true
			d.field(value, v, s.known[j])
		}
	}
	for j, fd := range s.known {
		if fd.required && !seen[j] {
			d.File.Problemf(n, "%s is required, but missing", fd.to.name)
		}
	}
}

// field decodes the value of a key into a struct field.
func (d Decoder) field(n *yaml.Node, v reflect.Value, fd field) {
	at := v.Field(fd.index)
	d.value(n, at, fd.to)
	if fd.zeroAbsent && at.IsZero() {
		fd.setDefault(at)
	}
}

// UnknownKey records that key is not one of the known keys, with a suggestion.
func (f *File) UnknownKey(key *yaml.Node, known []string) {
	f.Problemf(key, "unknown key %q%s (known: %s)", key.Value, DidYouMean(key.Value, known), strings.Join(known, ", "))
}
