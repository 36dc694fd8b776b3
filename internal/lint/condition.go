package lint

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/ghexpr"
)

// A truth says whether a condition is true, ordered from false to true.
type truth int

const (
	no truth = iota
	maybe
	yes
)

// A condition is the "if" of a job or a step, an expression of GitHub Actions. Only the event and
// the label have known values in it.
type condition struct {
	tree  *ghexpr.Node // nil if it cannot be parsed; the condition may be true then
	nodes int
	texts []string // string literals in it
	asks  bool     // it refers to labels of the event
}

// parseCondition parses a condition. It returns nil if src is empty.
func parseCondition(src string) *condition {
	if src == "" {
		return nil
	}
	c := &condition{}
	if tree, ok := ghexpr.Parse(src); ok {
		c.tree = tree
		c.read(tree)
	}
	return c
}

// read adds the literals and the paths of a part of the condition.
func (c *condition) read(n *ghexpr.Node) {
	c.nodes++
	switch n.Kind {
	case ghexpr.Literal:
		c.texts = append(c.texts, n.Text)
		c.texts = append(c.texts, listOf(n.Text)...)
		for part := range strings.SplitSeq(n.Text, ",") {
			c.texts = append(c.texts, strings.TrimSpace(part))
		}
	case ghexpr.Path:
		c.asks = c.asks || labelPath(n.Text) != 0
	case ghexpr.Word, ghexpr.Function, ghexpr.Operator, ghexpr.Part:
	}
	for _, arg := range n.Args {
		c.read(arg)
	}
}

// listOf parses a JSON list of strings.
func listOf(s string) []string {
	var list []string
	if json.Unmarshal([]byte(s), &list) != nil {
		return nil
	}
	return list
}

// asksLabel reports whether the condition refers to labels of the event.
func (c *condition) asksLabel() bool { return c != nil && c.asks }

// holds evaluates the condition for an event that adds the label to an issue without other labels.
func (c *condition) holds(event, label string) truth {
	switch {
	case c == nil:
		return yes
	case c.tree == nil:
		return maybe
	}
	return added{event, label}.value(c.tree).truth()
}

// labelPath returns 1 for the path of the event's label, 2 for the path of a list of labels, and 0
// for any other path.
func labelPath(path string) int {
	switch path {
	case "github.event.label.name":
		return 1
	case "github.event.issue.labels.*.name", "github.event.pull_request.labels.*.name":
		return 2
	}
	return 0
}

// A value is the value of an expression: a string, a list of strings, or only its truth. The zero
// value is unknown.
type value struct {
	is   truth    // truth of a value that is neither string nor list; valid if settled
	text string   // valid if known
	list []string // nil: it is not a list
	// known and settled mean that text and is are valid.
	known, settled bool
}

func answer(b bool) value {
	if b {
		return value{is: yes, settled: true}
	}
	return value{is: no, settled: true}
}

func (v value) truth() truth {
	switch {
	case v.known && v.text == "":
		return no
	case v.known, v.list != nil:
		return yes
	case v.settled:
		return v.is
	}
	return maybe
}

// added is the event in which a label is added.
type added struct{ event, label string }

// value returns the value of a part of a condition.
func (a added) value(n *ghexpr.Node) value {
	switch n.Kind {
	case ghexpr.Literal:
		return value{text: n.Text, known: true}
	case ghexpr.Word:
		if n.Text == "true" || n.Text == "false" {
			return answer(n.Text == "true")
		}
	case ghexpr.Path:
		return a.named(n.Text)
	case ghexpr.Function:
		return call(n.Text, a.values(n.Args))
	case ghexpr.Operator:
		return operation(n.Text, a.values(n.Args))
	case ghexpr.Part:
	}
	return value{}
}

func (a added) values(nodes []*ghexpr.Node) []value {
	var list []value
	for _, n := range nodes {
		list = append(list, a.value(n))
	}
	return list
}

func (a added) named(path string) value {
	switch path {
	case "github.event_name":
		return value{text: a.event, known: true}
	case "github.event.action":
		return value{text: "labeled", known: true}
	case "github.event.issue.pull_request":
		return answer(a.event != "issues")
	}
	switch labelPath(path) {
	case 1:
		return value{text: a.label, known: true}
	case 2:
		return value{list: []string{a.label}}
	}
	return value{}
}

// operation returns the result of an operator.
func operation(operator string, args []value) value {
	first := args[0]
	switch operator {
	case "!":
		return value{is: yes - first.truth(), settled: true}
	case "&&", "||":
		is := first.truth()
		for _, v := range args[1:] {
			if operator == "||" {
				is = max(is, v.truth())
			} else {
				is = min(is, v.truth())
			}
		}
		return value{is: is, settled: true}
	case "==", "!=":
		if first.known && args[1].known {
			return answer(strings.EqualFold(first.text, args[1].text) == (operator == "=="))
		}
	}
	return value{}
}

// call returns the result of a function.
func call(function string, args []value) value {
	if len(args) == 0 && function == "always" {
		return answer(true)
	}
	if len(args) == 1 || len(args) == 2 && function == "join" {
		v := args[0]
		switch {
		case function == "fromjson" && v.known && listOf(v.text) != nil:
			return value{list: listOf(v.text)}
		case (function == "join" || function == "tojson") && len(v.list) == 1:
			return value{text: v.list[0], known: true}
		case function == "tojson" && v.known:
			return v
		}
		return value{}
	}
	if len(args) != 2 || !args[1].known {
		return value{}
	}
	in, what := args[0], strings.ToLower(args[1].text)
	switch {
	case function == "contains" && in.list != nil:
		return answer(slices.ContainsFunc(in.list, func(s string) bool { return strings.EqualFold(s, what) }))
	case !in.known:
		return value{}
	case function == "contains":
		return answer(strings.Contains(strings.ToLower(in.text), what))
	case function == "startswith":
		return answer(strings.HasPrefix(strings.ToLower(in.text), what))
	case function == "endswith":
		return answer(strings.HasSuffix(strings.ToLower(in.text), what))
	}
	return value{}
}
