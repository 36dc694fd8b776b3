package scoring

import (
	_ "embed"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

//go:embed rules.yml
var builtin []byte

// Source returns the file of the built-in rules.
func Source() []byte { return slices.Clone(builtin) }

// Builtin returns the built-in rules.
func Builtin() (*Rules, error) { return Parse("rules.yml", builtin) }

// The limits of a rules file.
const (
	maxRules   = 200
	maxImpact  = 100
	maxMessage = 300 // characters
	maxLength  = 1000
	maxNodes   = 200 // nodes in the syntax tree of a condition
)

// Rules are the rules of a score. They are safe for concurrent use.
type Rules struct {
	rules  []rule
	limits map[string]Limit
}

// A Limit bounds the sum of the rules of a group.
type Limit struct {
	Min int `yaml:"min,required"`
	Max int `yaml:"max,required"`
}

// A rule is one entry of the rules file.
type rule struct {
	group   string
	impact  int
	message string
	when    *vm.Program // nil: always
	at      string      // its position in the file
}

// holds evaluates the condition. The cost is limited, because conditions have no loops and read
// only short texts, and expr's virtual machine has a memory limit.
func (r rule) holds(e env) (bool, error) {
	if r.when == nil {
		return true, nil
	}
	out, err := vm.Run(r.when, e)
	if err != nil {
		if at, ok := errors.AsType[*file.Error](err); ok {
			err = errors.New(at.Message)
		}
		return false, err
	}
	return out == true, nil
}

// A wireRules is the content of a rules file.
type wireRules struct {
	Limits map[string]Limit `yaml:"limits"`
	Rules  []wireRule       `yaml:"rules,required"`
}

type wireRule struct {
	Group   yaml.Node  `yaml:"group,required"`
	Impact  yaml.Node  `yaml:"impact,required"`
	When    *yaml.Node `yaml:"when"`
	Message yaml.Node  `yaml:"message,required"`
}

// Parse reads a file of rules. The error names every mistake with its line and column.
func Parse(name string, src []byte) (*Rules, error) {
	f, err := yamlfile.Parse(name, src)
	if err != nil {
		return nil, err
	}
	var w wireRules
	f.Decode(f.Root(), &w)
	out := &Rules{limits: w.Limits}
	checkLimits(f, w.Limits)
	if len(w.Rules) > maxRules {
		f.Problemf(yamlfile.Child(f.Root(), "rules"), "rules: %d rules; at most %d are allowed", len(w.Rules), maxRules)
		return nil, f.Err()
	}
	for _, r := range w.Rules {
		out.rules = append(out.rules, compile(f, r))
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// checkLimits reports limits of unknown groups, and limits that allow no value.
func checkLimits(f *yamlfile.File, limits map[string]Limit) {
	n := yamlfile.Child(f.Root(), "limits")
	for key, value := range yamlfile.Pairs(n) {
		l, ok := limits[key.Value]
		switch {
		case !slices.Contains(groupNames(), key.Value):
			f.Problemf(key, "limits: %s", unknownGroup(key.Value))
		case ok && l.Min > l.Max:
			f.Problemf(value, "limits: %s: the minimum %d is above the maximum %d", key.Value, l.Min, l.Max)
		}
	}
}

func unknownGroup(name string) string {
	return fmt.Sprintf("unknown group %q%s; want one of %s", name, yamlfile.DidYouMean(name, groupNames()), strings.Join(groupNames(), ", "))
}

// compile checks a rule and compiles its condition.
func compile(f *yamlfile.File, w wireRule) rule {
	out := rule{at: fmt.Sprintf("%s:%d", f.Name(), w.Group.Line)}
	if decode(f, &w.Group, &out.group) && !slices.Contains(groupNames(), out.group) {
		f.Problemf(&w.Group, "group: %s", unknownGroup(out.group))
	}
	if decode(f, &w.Impact, &out.impact) && (out.impact == 0 || out.impact < -maxImpact || out.impact > maxImpact) {
		f.Problemf(&w.Impact, "impact: want -%d to %d, and not 0, got %d", maxImpact, maxImpact, out.impact)
	}
	if decode(f, &w.Message, &out.message) && (strings.TrimSpace(out.message) == "" || utf8.RuneCountInString(out.message) > maxMessage) {
		f.Problemf(&w.Message, "message: want 1 to %d characters", maxMessage)
	}
	if w.When != nil {
		out.when = condition(f, w.When)
	}
	return out
}

// decode decodes a value. A missing value has already been reported.
func decode(f *yamlfile.File, n *yaml.Node, out any) bool { return n.Kind != 0 && f.Decode(n, out) }

// condition compiles a condition; nil where it has mistakes.
func condition(f *yamlfile.File, n *yaml.Node) *vm.Program {
	var src string
	if !f.Decode(n, &src) {
		return nil
	}
	if len(src) > maxLength {
		f.Problemf(n, "when: the condition has %d bytes; at most %d are allowed", len(src), maxLength)
		return nil
	}
	const maxBrackets = 50 // the parser is recursive
	if strings.Count(src, "(")+strings.Count(src, "[")+strings.Count(src, "{") > maxBrackets {
		f.Problemf(n, "when: more than %d brackets", maxBrackets)
		return nil
	}
	program, err := expr.Compile(src, expr.Env(env{}), expr.AsBool(), expr.MaxNodes(maxNodes), expr.DisableAllBuiltins())
	if err == nil {
		return program
	}
	if at, ok := errors.AsType[*file.Error](err); ok {
		f.ProblemIn(n, at.Line, at.Column+1, "when: "+plain(at.Message))
	} else {
		f.Problemf(n, "when: %v", err)
	}
	return nil
}

// missing matches the compiler's message about an unknown field.
var missing = text.Regexp(`^type scoring\.(env\w*) has no field (\w+)$`)

// plain replaces the name of a Go struct in a message by its name in conditions.
func plain(message string) string {
	m := missing().FindStringSubmatch(message)
	if m == nil {
		return message
	}
	for f := range reflect.TypeFor[env]().Fields() {
		if f.Type.Name() != m[1] {
			continue
		}
		var known []string
		for k := range f.Type.Fields() {
			known = append(known, k.Tag.Get("expr"))
		}
		return fmt.Sprintf("%s has no field %q%s; want one of %s", f.Tag.Get("expr"), m[2], yamlfile.DidYouMean(m[2], known), strings.Join(known, ", "))
	}
	return message
}
