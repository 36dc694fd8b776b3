package serverconfig

import (
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/config/schema"
	"github.com/org/foreman-action/internal/logpart"
	"github.com/org/foreman-action/internal/yamlfile"
)

// Log configures which records are logged.
type Log struct {
	Level string            `default:"info" yaml:"level"` // the lowest one; empty: info
	Parts map[string]string `yaml:"parts"`                // levels by parts of the server
}

func logKeys() schema.Table {
	return schema.Table{
		{Path: "log", Doc: "What the server logs."},
		{Path: "log.level", Rule: schema.OneOf(logpart.LevelNames()...), Doc: "Lowest level that is logged: debug, info (the default), warn or error."},
		{Path: "log.parts", Rule: parts(), JSON: schema.Object{
			"propertyNames":        schema.Object{"enum": logpart.Names()},
			"additionalProperties": schema.Object{"enum": logpart.LevelNames()},
		}, Doc: "Levels of single parts, such as {executor: debug}. The parts are " + strings.Join(logpart.Names(), ", ") + "."},
	}
}

// parts permits the levels of known parts.
func parts() schema.Rule {
	return schema.Rule{Check: func(v schema.Value) {
		levels, _ := reflect.TypeAssert[map[string]string](v.Go)
		for _, part := range slices.Sorted(maps.Keys(levels)) {
			at := yamlfile.Child(v.Node, part)
			if err := logpart.CheckPart(part); err != nil {
				v.ProblemAt(at, "%v", err)
			} else if _, err := logpart.ParseLevel(levels[part]); err != nil {
				v.Entry(part, at).Problemf("want %s", strings.Join(logpart.LevelNames(), " or "))
			}
		}
	}}
}

// Levels returns the levels of a configuration that [Load] returned.
func (l Log) Levels() logpart.Levels {
	out := logpart.Levels{Parts: map[string]slog.Level{}}
	out.Default, _ = logpart.ParseLevel(l.Level) // Load has checked them; "" is info
	for part, name := range l.Parts {
		out.Parts[part], _ = logpart.ParseLevel(name)
	}
	return out
}
