package issueagent

import (
	"encoding/json"
	"strings"

	"github.com/org/foreman-action/protocol"
)

// maxTries bounds the places at which an answer is looked into.
const maxTries = 100

// A said is what a model said, before anything of it is believed.
type said struct {
	Decision  string
	Rationale string
	items     []protocol.ActionItem
	odd       []string // what was among the actions and is none
}

// parse finds the one object in a text that has a decision: models put sentences and
// fences around what they were asked for. Of several nobody knows which is the model's
// own, and which it repeats of the issue.
func parse(text string) (said, bool) {
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
			return said{}, false
		}
		found = o
	}
	if found == nil {
		return said{}, false
	}
	return take(found), true
}

// take reads of an object what is of the right type.
func take(o map[string]json.RawMessage) said {
	var s said
	if json.Unmarshal(o["decision"], &s.Decision) == nil {
		s.Decision = strings.ToLower(strings.TrimSpace(s.Decision))
	}
	if json.Unmarshal(o["rationale"], &s.Rationale) != nil {
		s.Rationale = ""
	}
	var list []json.RawMessage
	if raw, ok := o["actions"]; ok && json.Unmarshal(raw, &list) != nil {
		s.odd = append(s.odd, "actions that are no list")
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
