// Package condition translates the "if" of a job or step of GitHub Actions to conditions of our rule
// language.
//
// GitHub compares texts ignoring case, and so does the result. The functions are pure and safe for
// concurrent use. Their cost depends only on the length of the expression, which is limited.
package condition

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/ghexpr"
)

// A Problem is a part of an expression without a counterpart.
type Problem struct {
	At  int // offset in the source, in characters
	Msg string
}

// A Condition is a translated expression. It is true if all of its terms are true.
type Condition struct {
	Terms []string
	// Repo is a repository in which the terms can be true; empty: any repository.
	Repo string
	// Events are the events for which the condition is not always false. An event without an activity
	// is always one of them.
	Events []string
	// Never is true if the condition is false for every one of the events.
	Never bool
	// Lost are the parts that Terms omits. In the source each is joined to the others by "&&".
	Lost []Problem
}

// Translate translates an expression of a workflow with these events. An event is a name of GitHub,
// such as "pull_request_target", which is "pull_request" in our rules. An activity can follow it, as
// in "pull_request_target.opened"; the condition then excludes events instead of testing for them.
func Translate(src string, events []string) Condition {
	if at, around := textAround(src); around {
		return Condition{Events: events, Lost: []Problem{{at, "text around ${{ }} turns the condition into a text, which is always true for GitHub"}}}
	}
	n, ok := ghexpr.Parse(src)
	if !ok {
		return Condition{Events: events, Lost: []Problem{{0, "the expression cannot be parsed"}}}
	}
	terms := []*ghexpr.Node{n}
	if n.Kind == ghexpr.Operator && n.Text == "&&" {
		terms = n.Args
	}
	var kept []string
	var first Condition
	same := true // the translations for the single events are the same
	for _, e := range events {
		one := translated(terms, []string{e})
		if _, activity, _ := strings.Cut(e, "."); activity != "" && one.Never {
			continue
		}
		if len(kept) == 0 {
			first = one
		}
		kept = append(kept, e)
		same = same && first.Never == one.Never && slices.Equal(first.Terms, one.Terms) && slices.Equal(first.Lost, one.Lost)
	}
	switch {
	case len(events) > 0 && len(kept) == 0:
		return Condition{Never: true}
	case len(kept) > 0 && same:
		first.Events = kept
		return first
	}
	return translated(terms, kept)
}

// translated translates terms that are joined by "&&".
func translated(terms []*ghexpr.Node, events []string) Condition {
	t := newTranslation(events)
	c := Condition{Events: events}
	for _, n := range terms {
		switch v := t.truth(n); {
		case v.lost != nil:
			c.Lost = append(c.Lost, *v.lost)
		case v.known && !v.holds:
			c.Never = true
		case !v.known:
			if v.op == "or" {
				v.text = "(" + v.text + ")"
			}
			c.Terms, c.Repo = append(c.Terms, v.text), cmp.Or(c.Repo, repository(n))
		}
	}
	return c
}

// repository returns a repository for which a term is true; "" if the term is not about it.
func repository(n *ghexpr.Node) string {
	if n.Kind != ghexpr.Function && n.Text != "==" || len(n.Args) != 2 || n.Args[1].Kind != ghexpr.Literal {
		return ""
	}
	switch name := n.Args[1].Text; fields()[n.Args[0].Text].text {
	case "repo.owner":
		return name + "/hello"
	case "repo.full_name":
		if strings.HasSuffix(name, "/") {
			name += "hello"
		}
		return name
	}
	return ""
}

// textAround returns the position of text before or after "${{ }}", in characters; ok is false if
// there is no "${{", or no text around it.
func textAround(src string) (at int, ok bool) {
	before, rest, found := strings.Cut(src, "${{")
	if !found {
		return 0, false
	}
	if strings.TrimSpace(before) != "" {
		return len([]rune(before)) - len([]rune(strings.TrimLeft(before, " \t\r\n"))), true
	}
	inside, behind, closed := strings.Cut(rest, "}}")
	if !closed || strings.TrimSpace(behind) == "" {
		return 0, false
	}
	left := len([]rune(behind)) - len([]rune(strings.TrimLeft(behind, " \t\r\n")))
	return len([]rune(before+"${{"+inside+"}}")) + left, true
}

// A translation is the translation of one expression.
type translation struct {
	events []string // names of the events
	// activities are the activities of the events; nil if one of them is unknown.
	activities []string
}

func newTranslation(events []string) translation {
	var t translation
	known := len(events) > 0
	for _, e := range events {
		name, activity, _ := strings.Cut(e, ".")
		if !slices.Contains(t.events, name) {
			t.events = append(t.events, name)
		}
		known = known && activity != "" && activity != "*"
		t.activities = append(t.activities, activity)
	}
	if !known {
		t.activities = nil
	}
	return t
}

// A value is the translation of a part of an expression.
type value struct {
	text  string // the condition in our rule language
	lost  *Problem
	op    string // outermost operator: "and", "or", "not" or, for a comparison, "=="
	known bool   // the part is always true or always false, as in holds
	holds bool
}

func lost(n *ghexpr.Node, msg string) value { return value{lost: &Problem{n.At, msg}} }
func sure(holds bool) value                 { return value{known: true, holds: holds} }

// truth translates a part of which only the truth matters.
func (t translation) truth(n *ghexpr.Node) value {
	switch n.Kind {
	case ghexpr.Word:
		return sure(n.Text != "false" && n.Text != "null" && strings.Trim(n.Text, "-0.") != "")
	case ghexpr.Literal:
		return sure(n.Text != "")
	case ghexpr.Path:
		return t.given(n)
	case ghexpr.Function:
		return t.call(n)
	case ghexpr.Part:
		return lost(n, n.Name+" has no counterpart")
	case ghexpr.Operator:
	}
	switch n.Text {
	case "!":
		return negated(t.truth(n.Args[0]))
	case "&&", "||":
		list := make([]value, len(n.Args))
		for i, arg := range n.Args {
			list[i] = t.truth(arg)
		}
		return joined(n.Text, list...)
	}
	return t.compared(n)
}

// negated translates "!".
func negated(v value) value {
	switch {
	case v.lost != nil:
		return v
	case v.known:
		return sure(!v.holds)
	case v.op != "":
		v.text = "(" + v.text + ")"
	}
	return value{text: "not " + v.text, op: "not"}
}

// joined translates "&&" and "||".
func joined(sign string, list ...value) value {
	op, decides := "and", false
	if sign == "||" {
		op, decides = "or", true
	}
	var texts []string
	var unknown *value
	only := ""
	for _, v := range list {
		switch {
		case v.lost != nil:
			unknown = &v
		case v.known && v.holds == decides:
			return sure(decides)
		case v.known:
		case v.op != op && (v.op == "and" || v.op == "or"):
			texts, only = append(texts, "("+v.text+")"), ""
		default:
			texts, only = append(texts, v.text), v.op
		}
	}
	switch {
	case unknown != nil:
		return *unknown
	case len(texts) == 0:
		return sure(!decides)
	}
	if len(texts) == 1 {
		op = only
	}
	return value{text: strings.Join(texts, " "+op+" "), op: op}
}

// there translates whether the event has the object at the start of a path: an issue or a pull
// request. For other events the path is null.
func (t translation) there(path string) value {
	issues := strings.HasPrefix(path, "github.event.issue.")
	pulls := strings.HasPrefix(path, ownPull+".") || path == "github.head_ref" || path == "github.base_ref"
	ofNone := strings.HasPrefix(fields()[path].text, "pr.") && !slices.Contains(t.events, "issue_comment") // our field is then empty for an issue
	if len(t.events) == 0 || !issues && !pulls || ofNone {
		return sure(true)
	}
	return t.anyEvent(func(e string) bool {
		return pulls && strings.HasPrefix(e, "pull_request") || issues && (e == "issues" || e == "issue_comment")
	})
}

// given translates a path that is used as a condition: it is true if the path has a value.
func (t translation) given(n *ghexpr.Node) value {
	f, ok := fields()[n.Text]
	there := t.there(n.Text)
	switch {
	case !ok:
		return lost(n, n.Name+" has no counterpart")
	case f.kind == flag:
		return joined("&&", there, value{text: f.text})
	case f.kind == isPull:
		return t.pull(n.Text)
	case f.kind == names:
		return there
	}
	return joined("&&", there, value{text: f.text + ` != ""`, op: "=="})
}

// compared translates a comparison.
func (t translation) compared(n *ghexpr.Node) value {
	left, right := n.Args[0], n.Args[1]
	if left.Kind == ghexpr.Literal || left.Kind == ghexpr.Word {
		left, right = right, left
	}
	f, ok := fields()[left.Text]
	equal := n.Text == "=="
	switch {
	case left.Kind != ghexpr.Path && left.Kind != ghexpr.Function:
		return lost(n, "this comparison has no counterpart")
	case left.Kind == ghexpr.Function && (right.Text == "true" || right.Text == "false") && (equal || n.Text == "!="):
		v := t.truth(positive(left, (right.Text == "true") == equal))
		if v.lost == nil && right.Kind == ghexpr.Literal {
			return sure(!equal) // compared as numbers, no such text equals a boolean
		}
		return v
	case left.Kind == ghexpr.Function:
		return lost(left, left.Name+"() has no counterpart")
	case !ok:
		return lost(left, left.Name+" has no counterpart")
	case !equal && n.Text != "!=":
		return lost(n, "the operator "+n.Text+" has no counterpart")
	}
	there, sign := joined("&&", t.there(left.Text), t.there(right.Text)), n.Text
	if !there.known && !equal {
		sign = "=="
	}
	same := value{op: "=="}
	switch {
	case f.kind == flag || f.kind == isPull:
		return t.flag(f, left, right, equal)
	case right.Kind == ghexpr.Path:
		other, ok := fields()[right.Text]
		if !ok || !other.isText() {
			return lost(right, right.Name+" has no counterpart")
		}
		same.text = "lower(" + f.text + ") " + sign + " lower(" + other.text + ")"
	case right.Kind == ghexpr.Word && right.Text == "null":
		same.text = f.text + " " + sign + ` ""`
	case right.Kind != ghexpr.Literal || f.kind == names:
		return lost(n, "this comparison has no counterpart")
	case left.Text == eventName:
		return t.event(right.Text, equal)
	case left.Text == eventAction && len(t.activities) > 0:
		v := t.activity(value{text: f.text + " == " + strconv.Quote(f.literal(right.Text)), op: "=="},
			func(activity string) bool { return strings.EqualFold(activity, right.Text) })
		if !equal && !v.known {
			return value{text: strings.Replace(v.text, " == ", " != ", 1), op: v.op}
		} else if !equal {
			return negated(v)
		}
		return v
	default:
		same.text = f.lower(right.Text) + " " + sign + " " + strconv.Quote(f.literal(right.Text))
	}
	null := right.Kind == ghexpr.Word || right.Kind == ghexpr.Literal && right.Text == ""
	switch {
	case there.known && there.holds:
		return same
	case null:
		same = joined("||", negated(there), same)
	default:
		same = joined("&&", there, same)
	}
	if !equal {
		return negated(same)
	}
	return same
}

// positive returns the node if yes, otherwise its negation.
func positive(n *ghexpr.Node, yes bool) *ghexpr.Node {
	if yes {
		return n
	}
	return &ghexpr.Node{Kind: ghexpr.Operator, Text: "!", Args: []*ghexpr.Node{n}, At: n.At}
}

// flag translates the comparison of a boolean field, or of an object that may be null. GitHub
// compares values of different types as numbers: null, the empty text and false are 0. Any other
// text and any object equals nothing.
func (t translation) flag(f field, left, right *ghexpr.Node, equal bool) value {
	var yes bool
	switch {
	case right.Kind == ghexpr.Literal && (right.Text == "true" || right.Text == "false"), f.kind == isPull && right.Kind == ghexpr.Word && right.Text == "true":
		return sure(!equal)
	case right.Kind == ghexpr.Word && right.Text == "true":
		yes = true
	case right.Kind == ghexpr.Word && (right.Text == "false" || right.Text == "null"):
	case right.Kind == ghexpr.Literal && right.Text == "":
	default:
		return lost(left, left.Name+" can only be compared with true or false")
	}
	return t.truth(positive(left, yes == equal))
}

// pull translates a path that only pull requests have. The path is either part of the payload's
// issue, or the payload's own pull request.
func (t translation) pull(path string) value {
	pulls := "pull_request"
	if !slices.Contains(t.events, pulls) {
		pulls = "pull_request_target"
	}
	if path == ownPull && len(t.events) > 0 {
		return t.event(pulls, true)
	}
	if len(t.events) > 0 && !slices.Contains(t.events, "issue_comment") {
		return sure(false) // the payload of "issues" has no pull request, and that of "pull_request" has no issue
	}
	text := fields()[path].text
	if others := t.event(pulls, false); !others.known {
		return value{text: others.text + " and " + text, op: "and"}
	}
	return value{text: text, op: "=="}
}

// event translates a comparison of the event's name.
func (t translation) event(name string, equal bool) value {
	ours := func(event string) string { return strings.TrimSuffix(event, "_target") }
	name = strings.ToLower(name)
	switch {
	case !slices.Contains(t.events, name):
		return sure(!equal)
	case !slices.ContainsFunc(t.events, func(e string) bool { return ours(e) != ours(name) }):
		return sure(equal)
	}
	op := " != "
	if equal {
		op = " == "
	}
	return value{text: "event.name" + op + strconv.Quote(ours(name)), op: "=="}
}

// activity returns v, or its value if v is true for all activities of the events or for none.
func (t translation) activity(v value, holds func(activity string) bool) value {
	all, none := len(t.activities) > 0, len(t.activities) > 0
	for _, a := range t.activities {
		all, none = all && holds(a), none && !holds(a)
	}
	if all || none {
		return sure(all)
	}
	return v
}

// anyEvent translates that the event is one of those for which holds returns true.
func (t translation) anyEvent(holds func(event string) bool) value {
	var list, others []value
	for _, e := range t.events {
		if holds(e) {
			list = append(list, t.event(e, true))
		} else {
			others = append(others, t.event(e, false))
		}
	}
	switch {
	case len(others) == 0:
		return sure(len(list) > 0)
	case len(others) < len(list):
		return joined("&&", others...)
	}
	return joined("||", list...)
}

// call translates a call.
func (t translation) call(n *ghexpr.Node) value {
	switch {
	case slices.Contains([]string{"always", "success"}, n.Text) && len(n.Args) == 0:
		return sure(true)
	case slices.Contains([]string{"failure", "cancelled"}, n.Text) && len(n.Args) == 0:
		return sure(false)
	case len(n.Args) != 2:
	case n.Text == "contains":
		return t.contains(n)
	case n.Text == "startswith":
		return t.within(n, "startsWith")
	case n.Text == "endswith":
		return t.within(n, "endsWith")
	}
	return lost(n, n.Name+"() has no counterpart")
}

// within translates a function such as startsWith, about a text and a part of it.
func (t translation) within(n *ghexpr.Node, op string) value {
	f, ok := fields()[n.Args[0].Text]
	switch {
	case n.Args[0].Kind != ghexpr.Path || !ok || !f.isText():
		return lost(n.Args[0], describe(n.Args[0])+" has no counterpart")
	case n.Args[1].Kind != ghexpr.Literal:
		return lost(n.Args[1], describe(n.Args[1])+" has no counterpart")
	}
	part := n.Args[1].Text
	parts := map[string]func(s, part string) bool{"contains": strings.Contains, "startsWith": strings.HasPrefix, "endsWith": strings.HasSuffix}
	holds := func(s string) bool { return parts[op](s, strings.ToLower(part)) }
	v := value{text: f.lower(part) + " " + op + " " + strconv.Quote(f.literal(part)), op: "=="}
	switch n.Args[0].Text {
	case eventName:
		return t.anyEvent(holds)
	case eventAction:
		return t.activity(v, holds)
	}
	return joined("&&", t.there(n.Args[0].Text), v)
}

// contains translates the function contains(list or text, part).
func (t translation) contains(n *ghexpr.Node) value {
	in, part := n.Args[0], n.Args[1]
	f, ok := fields()[in.Text]
	switch {
	case in.Kind == ghexpr.Path && ok && f.kind == names && part.Kind == ghexpr.Literal && f.text == "issue.labels":
		return joined("&&", t.there(in.Text), value{text: "label(" + strconv.Quote(part.Text) + ")"})
	case in.Kind == ghexpr.Path && ok && f.kind == names && part.Kind == ghexpr.Literal:
		one := "any(" + f.text + ", lower(#) == " + strconv.Quote(strings.ToLower(part.Text)) + ")"
		return joined("&&", t.there(in.Text), value{text: one})
	case in.Kind == ghexpr.Function && in.Text == "fromjson" && part.Kind == ghexpr.Path:
		return t.oneOf(in, part)
	}
	return t.within(n, "contains")
}

// oneOf translates the function contains with a list: contains(fromJSON('["a", "b"]'), path).
func (t translation) oneOf(in, part *ghexpr.Node) value {
	f, ok := fields()[part.Text]
	var list []string
	if !ok || !f.isText() || len(in.Args) != 1 || in.Args[0].Kind != ghexpr.Literal ||
		json.Unmarshal([]byte(in.Args[0].Text), &list) != nil || len(list) == 0 {
		return lost(part, describe(part)+" has no counterpart")
	}
	texts := slices.Clone(list)
	holds := func(e string) bool {
		return slices.ContainsFunc(texts, func(s string) bool { return strings.EqualFold(s, e) })
	}
	if part.Text == eventName {
		return t.anyEvent(holds)
	}
	plain := f.text
	for i, s := range list {
		if lower := f.lower(s); lower != f.text {
			plain = lower
		}
		list[i] = strconv.Quote(f.literal(s))
	}
	v := value{text: plain + " in [" + strings.Join(list, ", ") + "]", op: "=="}
	if part.Text == eventAction {
		return t.activity(v, holds)
	}
	return joined("&&", t.there(part.Text), v)
}

// describe returns the name of a part for a message.
func describe(n *ghexpr.Node) string {
	switch n.Kind {
	case ghexpr.Function:
		return n.Name + "()"
	case ghexpr.Operator:
		return "the operator " + n.Text
	case ghexpr.Literal:
		return "the text '" + n.Text + "'"
	case ghexpr.Word:
		return n.Text
	case ghexpr.Path, ghexpr.Part:
	}
	return n.Name
}
