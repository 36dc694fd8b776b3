package outcome

import (
	"fmt"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
)

// ParseCustom returns the effect of an action with that specification. It sanitizes names, and
// passes each text of [protocol.KindMarkdown] to clean, whose error refuses the action. The error
// names the wrong parameter.
func ParseCustom(spec protocol.ActionSpec, a protocol.ActionItem, clean func(string) (string, error)) (effect.Custom, error) {
	if err := spec.Check(a); err != nil {
		return effect.Custom{}, err
	}
	params := map[string]any{}
	for _, p := range spec.Params {
		var value any
		switch s, ok, _ := a.Text(p.Name); {
		case p.Kind == protocol.KindInt:
			if n, ok, err := a.Int(p.Name); ok && err == nil {
				value = n
			}
		case p.Kind == protocol.KindTexts:
			if list := names(a, p.Name); len(list) > 0 {
				value = list
			}
		case ok && p.Kind == protocol.KindMarkdown:
			text, err := clean(s)
			if err != nil {
				return effect.Custom{}, fmt.Errorf("%s: %s: %w", spec.Name, p.Name, err)
			}
			value = text
		case ok:
			if name := Name(a, p.Name); name != "" {
				value = name
			}
		}
		switch {
		case value != nil:
			params[p.Name] = value
		case p.Required:
			return effect.Custom{}, fmt.Errorf("%s: %s is empty after sanitizing", spec.Name, p.Name)
		}
	}
	item, err := protocol.NewAction(spec.Name, params)
	return effect.Custom{Spec: spec, Item: item}, err
}
