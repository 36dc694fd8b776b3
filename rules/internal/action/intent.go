package action

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/template"
)

// proposable reports whether an action can be proposed to a person. Escalate and Retriage cannot,
// because they change nothing on the issue.
func proposable(spec protocol.ActionSpec) bool {
	return spec.Name != Escalate && spec.Name != Retriage
}

// Proposable reports whether the action can be proposed to a person.
func (a Action) Proposable() bool { return proposable(a.spec) }

// Intent returns what the author of the rule states about the action: why, how sure, and whether a
// person must be asked first.
func (a Action) Intent() protocol.Intent { return a.intent }

// DecodeIntent reads the value of one of [protocol.IntentParams] into out. Mistakes are recorded in f.
func DecodeIntent(f *yamlfile.File, key string, n *yaml.Node, out *protocol.Intent) {
	switch key {
	case protocol.ParamRationale:
		decodeRationale(f, n, &out.Rationale)
	case protocol.ParamConfidence:
		decodeConfidence(f, n, &out.Confidence)
	case protocol.ParamSuggest:
		f.DecodeKey(key, n, &out.Suggest)
	}
}

// decodeRationale reads a rationale. White space in it is folded, because people see it in one line.
func decodeRationale(f *yamlfile.File, n *yaml.Node, out *string) {
	var s string
	if !f.DecodeKey(protocol.ParamRationale, n, &s) || !expression.CheckComment(f, n) {
		return
	}
	if template.Contains(s) {
		line, col := text.Position(s, strings.Index(s, "{{"))
		f.ProblemIn(n, line, col, "rationale: want literal text; {{ }} would show text of the issue")
		return
	}
	s = strings.Join(strings.Fields(s), " ")
	switch length := utf8.RuneCountInString(s); {
	case length == 0:
		f.Problemf(n, "rationale: the text is empty; leave the key out to show the true parts of the condition")
	case length > sanitize.MaxRationale:
		f.Problemf(n, "rationale: %d characters; at most %d are allowed", length, sanitize.MaxRationale)
	default:
		*out = s
	}
}

// decodeConfidence reads a confidence: a word in any case, or a number.
func decodeConfidence(f *yamlfile.File, n *yaml.Node, out *protocol.Confidence) {
	raw, hint := n.Value, ""
	switch {
	case yamlfile.IsNull(n):
		f.DecodeKey(protocol.ParamConfidence, n, new(string)) // records the mistake
		return
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str":
		raw, hint = quotedJSON(n.Value), confidenceHint(n.Value)
	case n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" && n.ShortTag() != "!!float":
		f.Problemf(n, "confidence: want low, medium, high or a number from 0 to 1, got %s", yamlfile.Kind(n))
		return
	}
	c, err := protocol.ParseConfidence([]byte(raw))
	if err != nil {
		f.Problemf(n, "confidence: %v%s", err, hint)
		return
	}
	*out = c
}

// quotedJSON returns a text as JSON.
func quotedJSON(s string) string {
	b, err := protocol.Encode(s)
	if err != nil { // no text causes it
		return `""`
	}
	return string(b)
}

// confidenceHint returns a hint for a text that is no confidence.
func confidenceHint(s string) string {
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return "; write the number without quotes"
	}
	var words []string
	for _, c := range protocol.Confidences() {
		words = append(words, string(c))
	}
	return yamlfile.DidYouMean(s, words)
}

// addIntent adds what the author states to the parameters of a rendered action.
func (a Action) addIntent(params map[string]any) {
	if a.intent.Rationale != "" {
		params[protocol.ParamRationale] = a.intent.Rationale
	}
	if a.intent.Confidence != "" {
		params[protocol.ParamConfidence] = a.intent.Confidence
	}
	if a.intent.Suggest {
		params[protocol.ParamSuggest] = true
	}
}

// Misplaced returns a hint for one of [protocol.IntentParams] in another place than beside the
// parameters of an action; "" for any other key.
func Misplaced(key string) string {
	if !slices.Contains(protocol.IntentParams(), key) {
		return ""
	}
	return "; write it beside the parameters of its action, such as add_label: {label: bug, " + key + ": …}"
}
