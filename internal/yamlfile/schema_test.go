package yamlfile_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/duration"
	"github.com/org/foreman-action/internal/yamlfile"
)

// own is a NodeDecoder.
type own struct{ text string }

func (o *own) DecodeYAML(_ *yamlfile.File, n *yaml.Node) { o.text = n.Value }

// TestSchema checks the schema of every kind of type.
func TestSchema(t *testing.T) {
	t.Parallel()
	pattern := strings.ReplaceAll(duration.Pattern, `\`, `\\`)
	duration := `{"anyOf":[{"pattern":"` + pattern + `","type":"string"},{"const":0}]}`
	for _, c := range []struct {
		name string
		typ  reflect.Type
		more map[string]map[string]any
		want string // the properties, or the whole schema
	}{
		{"scalars", reflect.TypeFor[struct {
			S string  `yaml:"s"`
			B *bool   `yaml:"b"`
			I int     `yaml:"i"`
			L int64   `yaml:"l"`
			F float64 `yaml:"f"`
			X string  `yaml:"-"`
			Y string
		}](), nil, `{"b":{"type":"boolean"},"f":{"type":"number"},"i":{"type":"integer"},"l":{"type":"integer"},"s":{"type":"string"}}`},
		{"duration", reflect.TypeFor[struct {
			D *time.Duration `yaml:"d"`
		}](), nil, `{"d":` + duration + `}`},
		{"lists", reflect.TypeFor[struct {
			L []string       `yaml:"l"`
			O []int          `yaml:"o,oneormore"`
			M map[string]int `yaml:"m"`
		}](), nil, `{"l":{"items":{"type":"string"},"type":"array"},` +
			`"m":{"additionalProperties":{"type":"integer"},"type":"object"},` +
			`"o":{"anyOf":[{"items":{"type":"integer"},"type":"array"},{"type":"integer"}]}}`},
		{"nodes", reflect.TypeFor[struct {
			P *yaml.Node `yaml:"p"`
			N yaml.Node  `yaml:"n"`
			O *own       `yaml:"o"`
		}](), map[string]map[string]any{"p": {"const": 1}, "o": {"description": "own"}},
			`{"n":{},"o":{"description":"own"},"p":{"const":1}}`},
		{"inline", reflect.TypeFor[struct {
			D time.Time `yaml:"d"`
			O struct {
				A int            `yaml:"a"`
				M map[string]int `yaml:",inline"`
			} `yaml:"o"`
		}](), map[string]map[string]any{"o.*": {"minimum": 1}}, `{"d":{"format":"date","type":"string"},` +
			`"o":{"additionalProperties":{"type":"integer"},"properties":{"a":{"type":"integer"}},"type":"object"}}`},
		{"nested", reflect.TypeFor[struct {
			A struct {
				B string `yaml:"b,required"`
			} `yaml:"a"`
		}](), map[string]map[string]any{"a.b": {"enum": []int{1}}},
			`{"a":{"additionalProperties":false,"properties":{"b":{"enum":[1],"type":"string"}},"required":["b"],"type":"object"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := yamlfile.Schema(c.typ, func(path string) map[string]any { return c.more[path] })
			got, err := json.Marshal(s["properties"])
			if err != nil || string(got) != c.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
			if s["additionalProperties"] != false || s["type"] != "object" {
				t.Errorf("an open schema: %v", s)
			}
		})
	}
}

// TestSchemaUnknownType checks that Schema panics for a type that Decode does not support.
func TestSchemaUnknownType(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic for a type that Decode does not know")
		}
	}()
	yamlfile.Schema(reflect.TypeFor[struct {
		C chan int `yaml:"c"`
	}](), func(string) map[string]any { return nil })
}
