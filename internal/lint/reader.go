package lint

import (
	"slices"
	"strings"
)

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

// A reader evaluates an expression while it parses it. It continues after unknown values as far as
// possible.
type reader struct {
	tokens       []token
	at, open     int
	event, label string
	failed       bool
}

// is consumes the next token if it is that sign.
func (r *reader) is(text string) bool {
	if r.at >= len(r.tokens) || r.tokens[r.at] != (token{sign, text}) {
		return false
	}
	r.at++
	return true
}

func (r *reader) either() value {
	v := r.both()
	for r.is("||") {
		v = value{is: max(v.truth(), r.both().truth()), settled: true}
	}
	return v
}

func (r *reader) both() value {
	v := r.compared()
	for r.is("&&") {
		v = value{is: min(v.truth(), r.compared().truth()), settled: true}
	}
	return v
}

func (r *reader) compared() value {
	v := r.negated()
	for {
		equal := r.is("==")
		switch {
		case equal, r.is("!="):
			w := r.negated()
			if !v.known || !w.known {
				v = value{}
				continue
			}
			v = answer(strings.EqualFold(v.text, w.text) == equal)
		case r.is("<"), r.is("<="), r.is(">"), r.is(">="):
			r.negated()
			v = value{}
		default:
			return v
		}
	}
}

func (r *reader) negated() value {
	if !r.is("!") {
		return r.one()
	}
	if r.open++; r.open > maxOpen {
		r.failed = true
		return value{}
	}
	defer func() { r.open-- }()
	return value{is: yes - r.negated().truth(), settled: true}
}

// one evaluates a string, a name, a call or an expression in parentheses.
func (r *reader) one() value {
	if r.open++; r.open > maxOpen || r.at >= len(r.tokens) {
		r.failed = true
		r.at = len(r.tokens)
		return value{}
	}
	defer func() { r.open-- }()
	t := r.tokens[r.at]
	r.at++
	switch {
	case t.kind == quoted:
		return value{text: t.text, known: true}
	case t == token{sign, "("}:
		v := r.either()
		r.failed = !r.is(")") || r.failed
		return v
	case t.kind == sign:
		r.failed = true
		return value{}
	case r.is("("):
		return call(t.text, r.arguments())
	case r.is("["):
		// Skip an index such as ['name'], which paths of labels do not need.
		r.either()
		r.failed = !r.is("]") || r.failed
		return value{}
	}
	return r.named(t.text)
}

func (r *reader) arguments() []value {
	var list []value
	for !r.is(")") {
		if len(list) > 0 && !r.is(",") || r.failed {
			r.failed = true
			return nil
		}
		list = append(list, r.either())
	}
	return list
}

func (r *reader) named(path string) value {
	switch path {
	case "true", "false":
		return answer(path == "true")
	case "github.event_name":
		return value{text: r.event, known: true}
	case "github.event.action":
		return value{text: "labeled", known: true}
	case "github.event.issue.pull_request":
		return answer(r.event != "issues")
	}
	switch labelPath(path) {
	case 1:
		return value{text: r.label, known: true}
	case 2:
		return value{list: []string{r.label}}
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
