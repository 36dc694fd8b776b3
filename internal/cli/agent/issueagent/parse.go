package issueagent

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/org/foreman-action/protocol"
)

// maxTries bounds how many positions of an answer are tried as the start of a JSON object.
const maxTries = 100

// A parsed is the content of a model's answer, before it is validated.
type parsed struct {
	Decision  string
	Rationale string
	items     []protocol.ActionItem
	odd       []string // invalid entries of the actions
}

// parse finds the only object with a "decision" in a text. Models put sentences and code fences
// around it. If there are several, ok is false: one of them may be quoted from the issue.
func parse(text string) (parsed, bool) {
	var found map[string]json.RawMessage
	for range maxTries {
		i := strings.IndexByte(text, '{')
		if i < 0 {
			break
		}
		text = text[i:]
		var o map[string]json.RawMessage
		d := json.NewDecoder(strings.NewReader(text))
		if d.Decode(&o) != nil {
			text = text[1:]
			continue
		}
		text = text[d.InputOffset():]
		if _, ok := o["decision"]; !ok {
			continue
		}
		if found != nil {
			return parsed{}, false
		}
		found = o
	}
	if found == nil {
		return parsed{}, false
	}
	return take(found), true
}

// take reads the fields of an object that have the right type.
func take(o map[string]json.RawMessage) parsed {
	var s parsed
	if json.Unmarshal(o["decision"], &s.Decision) == nil {
		s.Decision = strings.ToLower(strings.TrimSpace(s.Decision))
	}
	if json.Unmarshal(o["rationale"], &s.Rationale) != nil {
		s.Rationale = ""
	}
	var list []json.RawMessage
	if raw, ok := o["actions"]; ok && json.Unmarshal(raw, &list) != nil {
		s.odd = append(s.odd, "actions, which is not a list")
	}
	for _, raw := range list {
		var item protocol.ActionItem
		if json.Unmarshal(raw, &item) != nil {
			s.odd = append(s.odd, "an action without a type")
			continue
		}
		s.items = append(s.items, item)
	}
	return s
}

// withoutWrongIntent drops the wrong values of the parameters that every action may have, and
// returns their mistakes. A harness would refuse the action because of them.
func withoutWrongIntent(item protocol.ActionItem) (protocol.ActionItem, []error) {
	var wrong []error
	kept := map[string]any{}
	for _, name := range item.ParamNames() {
		raw, _ := item.Param(name)
		if slices.Contains(protocol.IntentParams(), name) {
			if err := wrongIntent(name, raw); err != nil {
				wrong = append(wrong, err)
				continue
			}
		}
		kept[name] = raw
	}
	if len(wrong) == 0 {
		return item, nil
	}
	again, err := protocol.NewAction(item.Type, kept)
	if err != nil {
		// Raw JSON of a decoded item can always be encoded.
		panic("issueagent: encode the parameters of an action: " + err.Error())
	}
	return again, wrong
}

// wrongIntent returns the mistake in one of the parameters that every action may have.
func wrongIntent(name string, raw json.RawMessage) error {
	alone, err := protocol.NewAction("", map[string]any{name: raw})
	if err == nil {
		_, err = alone.Intent()
	}
	return err
}
