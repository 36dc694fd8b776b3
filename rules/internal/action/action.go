// Package action compiles the actions of a rule and renders them for an event.
package action

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/template"
)

// The actions that only rules have. Escalate becomes the decision. Retriage evaluates the rules
// once more, as for a newly opened issue.
const (
	Escalate = "escalate"
	Retriage = "retriage"
)

// Specs returns the actions that "then" takes.
func Specs() []protocol.ActionSpec {
	return append(protocol.ActionSpecs(), protocol.ActionSpec{
		Name: Escalate, Params: []protocol.Param{{Name: "reason"}}, Main: "reason", Doc: "hands the issue to a person; nothing is written",
	}, protocol.ActionSpec{Name: Retriage, Doc: "decides on the issue again, as if it were new"})
}

// An Action is one compiled item of "then".
type Action struct {
	spec   protocol.ActionSpec
	file   *yamlfile.File
	Node   *yaml.Node // the node of its name
	params []param
	intent protocol.Intent
}

// A param is a compiled parameter. Only one of texts, list, and value or whole is set.
type param struct {
	spec  protocol.Param
	texts []*template.Template   // the text, or the items of a list
	list  *expression.Expression // an expression that yields the list
	value any                    // a literal int
	whole *expression.Expression // an expression that yields an int
}

// The bounds of a rule's actions.
const (
	MaxActions  = 50     // of one rule
	MaxList     = 100    // items of a list parameter
	MaxMarkdown = 60_000 // characters; GitHub allows 65,536, and a marker is added
)

// A compiler compiles the actions of a rule.
type compiler struct {
	expressions *expression.Compiler
	specs       []protocol.ActionSpec
}

// Compile compiles the value of "then". specs are the allowed actions, from [Specs]. Mistakes are
// recorded in f.
func Compile(c *expression.Compiler, specs []protocol.ActionSpec, f *yamlfile.File, n *yaml.Node) []Action {
	return compiler{c, specs}.actions(f, n)
}

// actions compiles a list.
func (c compiler) actions(f *yamlfile.File, n *yaml.Node) []Action {
	switch {
	case n.Kind == yaml.MappingNode:
		f.Problemf(n, "then: want a list of actions, got a mapping; start each action with \"- \"")
		return nil
	case n.Kind != yaml.SequenceNode:
		f.Problemf(n, "then: want a list of actions, such as [%s], got %s", protocol.ActionCloseIssue, yamlfile.Kind(n))
		return nil
	case len(n.Content) == 0:
		f.Problemf(n, "then: the list is empty; name an action")
	case len(n.Content) > MaxActions:
		f.Problemf(n, "then: %d actions; at most %d are allowed", len(n.Content), MaxActions)
		return nil
	}
	var list []Action
	for _, item := range n.Content {
		if a, ok := c.action(f, item); ok {
			list = append(list, a)
		}
	}
	return list
}

// action compiles one item: a name, or a mapping of one name to its parameters.
func (c compiler) action(f *yamlfile.File, n *yaml.Node) (Action, bool) {
	name, value := n, (*yaml.Node)(nil)
	switch {
	case n.Kind == yaml.MappingNode && len(n.Content) == 2:
		name, value = n.Content[0], n.Content[1]
	case n.Kind == yaml.MappingNode && len(n.Content) > 2:
		if hint := Misplaced(n.Content[2].Value); hint != "" {
			f.Problemf(n.Content[2], "%s is no action%s", n.Content[2].Value, hint)
			return Action{}, false
		}
		f.Problemf(n.Content[2], "an action is one key; start %s on its own line with \"- \", or indent it below %s", n.Content[2].Value, n.Content[0].Value)
		return Action{}, false
	case n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str":
		f.Problemf(n, "want an action, got %s", yamlfile.Kind(n))
		return Action{}, false
	}
	i := slices.IndexFunc(c.specs, func(s protocol.ActionSpec) bool { return s.Name == name.Value })
	if i < 0 {
		f.Problemf(name, "unknown action %q%s", name.Value, Hint(name.Value, c.specs))
		return Action{}, false
	}
	a := Action{spec: c.specs[i], file: f, Node: name}
	before := f.ErrorCount()
	a.params, a.intent = c.params(f, a.spec, value)
	c.checkRequired(f, a)
	return a, f.ErrorCount() == before
}

func (c compiler) checkRequired(f *yamlfile.File, a Action) {
	for _, p := range a.spec.Params {
		if p.Required && !a.Has(p.Name) {
			f.Problemf(a.Node, "%s needs %s%s", a.spec.Name, p.Name, instead(p))
		}
	}
	if a.spec.NeedsOne && len(a.params) == 0 {
		f.Problemf(a.Node, "%s needs %s", a.spec.Name, a.spec.Choice())
	}
	if a.Has("veto") && !a.Has("after") {
		f.Problemf(a.Node, "%s: veto needs after, the time until the close, such as after: 72h", a.spec.Name)
	}
}

// Name returns the name of the action.
func (a Action) Name() string { return a.spec.Name }

// Spec returns the specification of the action.
func (a Action) Spec() protocol.ActionSpec { return a.spec }

// Has reports whether the action has a parameter.
func (a Action) Has(name string) bool {
	return slices.ContainsFunc(a.params, func(p param) bool { return p.spec.Name == name })
}

// params compiles the parameters: a single value (the short form) or a mapping (the long form).
func (c compiler) params(f *yamlfile.File, spec protocol.ActionSpec, n *yaml.Node) ([]param, protocol.Intent) {
	switch {
	case n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		return nil, protocol.Intent{}
	case n.Kind == yaml.MappingNode:
		return c.long(f, spec, n)
	case spec.Main == "":
		f.Problemf(n, "%s takes no value", spec.Name)
		return nil, protocol.Intent{}
	}
	i := slices.IndexFunc(spec.Params, func(p protocol.Param) bool { return p.Name == spec.Main })
	return []param{c.param(f, spec, spec.Params[i], n)}, protocol.Intent{}
}

// long compiles the long form, which may also have the keys of an intent.
func (c compiler) long(f *yamlfile.File, spec protocol.ActionSpec, n *yaml.Node) (list []param, intent protocol.Intent) {
	var known []string
	for _, p := range spec.Params {
		known = append(known, p.Name)
	}
	if proposable(spec) {
		known = append(known, protocol.IntentParams()...)
	}
	for key, value := range yamlfile.Pairs(n) {
		j := slices.Index(known, key.Value)
		switch {
		case j >= len(spec.Params):
			DecodeIntent(f, key.Value, value, &intent)
		case j >= 0:
			list = append(list, c.param(f, spec, spec.Params[j], value))
		case slices.Contains(protocol.IntentParams(), key.Value):
			f.Problemf(key, "%s takes no %s, because it is never proposed to a person", spec.Name, key.Value)
		case len(known) == 0:
			f.Problemf(key, "%s takes no parameters", spec.Name)
		case n.Style&yaml.FlowStyle != 0 && value.Kind == yaml.ScalarNode && value.ShortTag() == "!!null" && value.Value == "":
			f.Problemf(key, "in {…} a comma ends a value, so %q counts as a key; quote the whole value", text.Shorten(key.Value, text.Quoted))
		default:
			f.UnknownKey(key, known)
		}
	}
	return list, intent
}

// param compiles the value of one parameter. Mistakes are recorded in f.
func (c compiler) param(f *yamlfile.File, spec protocol.ActionSpec, p protocol.Param, n *yaml.Node) param {
	out := param{spec: p}
	before := f.ErrorCount()
	switch {
	case p.Kind == protocol.KindInt:
		c.intParam(f, n, &out)
	case p.Kind == protocol.KindTexts && n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			c.textParam(f, item, &out)
		}
	case p.Kind == protocol.KindTexts && n.Kind == yaml.ScalarNode && !template.Contains(n.Value):
		c.listParam(f, spec, n, &out)
	default:
		c.textParam(f, n, &out)
	}
	if f.ErrorCount() == before {
		checkLiteral(f, spec, out, n)
	}
	return out
}

func (c compiler) textParam(f *yamlfile.File, n *yaml.Node, out *param) {
	var s string
	if n.Kind == yaml.SequenceNode && out.spec.Name == "label" {
		f.Problemf(n, "label: want one name, got a list; add_labels takes a list, and remove_label is repeated for each name")
		return
	}
	if out.spec.Kind == protocol.KindDuration && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!int" {
		f.Problemf(n, "%[1]s: want a time with its unit, got %[2]s; write %[2]sh for hours, or %[2]sd for days", out.spec.Name, text.Shorten(n.Value, text.Quoted))
		return
	}
	if !f.DecodeKey(out.spec.Name, n, &s) {
		return
	}
	if out.spec.Kind == protocol.KindMarkdown && !expression.CheckComment(f, n) {
		return
	}
	t := template.Compile(c.expressions, f, n, func(at template.Part) template.Escape {
		e, unescapable := escape(out.spec, at)
		if unescapable != "" {
			f.WarnIn(n, at.Line, at.Col, unescapable)
		}
		return e
	})
	if t != nil {
		out.texts = append(out.texts, t)
	}
}

// bareName matches a text that was probably meant as a name where an expression is expected.
var bareName = text.Regexp(`^[A-Za-z0-9][A-Za-z0-9_./:-]*$`)

// names matches several names with commas, which no expression is.
var names = text.Regexp(`^[A-Za-z0-9][A-Za-z0-9_./ -]*(,\s*[A-Za-z0-9][A-Za-z0-9_./ -]*)+$`)

// listParam compiles a bare string as an expression.
func (c compiler) listParam(f *yamlfile.File, spec protocol.ActionSpec, n *yaml.Node, out *param) {
	var s string
	if !f.DecodeKey(out.spec.Name, n, &s) || !expression.CheckComment(f, n) {
		return
	}
	if login, mention := strings.CutPrefix(s, "@"); mention {
		f.Problemf(n, "%s takes a list, and logins have no @: write [%s]", spec.Name, login)
		return
	}
	if names().MatchString(s) {
		f.Problemf(n, "%s takes a list; write [%s]", spec.Name, text.Shorten(s, text.Quoted))
		return
	}
	root, _, _ := strings.Cut(s, ".")
	if bareName().MatchString(s) && !slices.Contains(expression.RootNames(), root) {
		f.Problemf(n, "%s takes a list, and a plain text is an expression that returns one; write a fixed name as [%s]", spec.Name, s)
		return
	}
	out.list = c.expressions.Compile(expression.Source{File: f, Node: n, Text: s}, expression.Texts)
}

func (c compiler) intParam(f *yamlfile.File, n *yaml.Node, out *param) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		if src, start, ok := template.Single(n.Value); ok {
			out.whole = c.expressions.Compile(expression.Source{File: f, Node: n, Text: src, Start: start}, expression.Int)
			return
		}
	}
	var i int
	if f.DecodeKey(out.spec.Name, n, &i) {
		out.value = i
	}
}
