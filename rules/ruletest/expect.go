package ruletest

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/internal/expression"
)

// An expectation is one key of "expect".
type expectation struct {
	key  string
	node *yaml.Node
	meet meeting
}

// A meeting compares an expectation with the result. It returns the expected and the actual value
// as text.
type meeting func(issueState) (want, got string, ok bool)

// expectKeys are the keys of "expect" in the file.
type expectKeys struct {
	Fired     *yaml.Node `mistaken:"rules,fires"    yaml:"fired"`
	Labels    *yaml.Node `mistaken:"label"          yaml:"labels"`
	Comments  *yaml.Node `mistaken:"comment"        yaml:"comments"`
	Closed    *yaml.Node `mistaken:"close,state"    yaml:"closed"`
	Escalated *yaml.Node `mistaken:"escalate"       yaml:"escalated"`
	Decision  *yaml.Node `yaml:"decision"`
	Undone    *yaml.Node `mistaken:"undo,undoes"    yaml:"undone"`
	Retriage  *yaml.Node `yaml:"retriage"`
	Actions   *yaml.Node `mistaken:"action,then,do" yaml:"actions"`
	Error     *yaml.Node `mistaken:"fails,fail"     yaml:"error"`
}

// An expectDecoder reads expectations.
type expectDecoder struct {
	f   *yamlfile.File
	ids []string // the ids of all rules; nil: unknown
	own []protocol.ActionSpec
}

// expect reads the expectations of a test; fired lists the rules that it expects to fire.
func (d expectDecoder) expect(n *yaml.Node) (list []expectation, fired []string) {
	var keys expectKeys
	if !d.f.DecodeKey("expect", n, &keys) {
		return nil, nil
	}
	for _, e := range []struct {
		key  string
		node *yaml.Node
		read func(*yaml.Node) meeting
	}{
		{"fired", keys.Fired, func(n *yaml.Node) meeting {
			fired = d.rules("fired", n)
			return rulesAre(fired, func(a issueState) []string { return a.result.Fired })
		}},
		{"labels", keys.Labels, d.expectLabels},
		{"comments", keys.Comments, d.expectComments},
		{"closed", keys.Closed, d.expectClosed},
		{"escalated", keys.Escalated, d.expectEscalated},
		{"decision", keys.Decision, d.expectDecision},
		{"undone", keys.Undone, func(n *yaml.Node) meeting {
			return rulesAre(d.rules("undone", n), func(a issueState) []string { return a.undone })
		}},
		{"retriage", keys.Retriage, d.expectRetriage},
		{"actions", keys.Actions, d.expectActions},
		{"error", keys.Error, d.expectError},
	} {
		if e.node != nil {
			list = append(list, expectation{e.key, e.node, e.read(e.node)})
		}
	}
	if len(list) == 0 {
		d.f.Problemf(n, "expect is empty, so that the test always passes; add an expectation, such as fired: []")
	}
	return list, fired
}

// rules reads a list of ids.
func (d expectDecoder) rules(key string, n *yaml.Node) []string {
	var want []string
	d.f.DecodeKey(key, n, &want)
	for i, id := range want {
		if d.ids != nil && !slices.Contains(d.ids, id) {
			d.f.Problemf(n.Content[i], "%s: there is no rule %q%s", key, text.Shorten(id, text.Quoted), yamlfile.DidYouMean(id, d.ids))
		}
		if slices.Contains(want[:i], id) {
			d.f.Problemf(n.Content[i], "%s: %s is listed twice; list each rule once", key, text.Shorten(id, text.Quoted))
		}
	}
	return want
}

// rulesAre compares the ids of rules, in order.
func rulesAre(want []string, of func(issueState) []string) meeting {
	return func(a issueState) (string, string, bool) {
		got := of(a)
		return listed(want), listed(got), slices.Equal(want, got)
	}
}

func listed(items []string) string { return "[" + strings.Join(items, ", ") + "]" }

// expectLabels reads "labels": the labels of the issue afterwards, in any order and case.
func (d expectDecoder) expectLabels(n *yaml.Node) meeting {
	var want []string
	d.f.DecodeKey("labels", n, &want)
	return func(a issueState) (string, string, bool) {
		w, g := sortedFold(want), sortedFold(a.labels)
		return listed(w), listed(g), slices.EqualFunc(w, g, strings.EqualFold)
	}
}

func sortedFold(labels []string) []string {
	return slices.SortedFunc(slices.Values(labels), func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
}

// expectComments reads "comments": the number of comments, or a part of each.
func (d expectDecoder) expectComments(n *yaml.Node) meeting {
	if n.Kind == yaml.SequenceNode {
		var parts []string
		d.f.DecodeKey("comments", n, &parts)
		return func(a issueState) (string, string, bool) {
			return quoted(parts), quoted(a.comments), slices.EqualFunc(a.comments, parts, strings.Contains)
		}
	}
	var want int
	if d.f.DecodeKey("comments", n, &want) && want < 0 {
		d.f.Problemf(n, "comments: want 0 or more, or a list with a part of each comment")
	}
	return func(a issueState) (string, string, bool) {
		got := strconv.Itoa(len(a.comments))
		if len(a.comments) > 0 {
			got += ": " + quoted(a.comments)
		}
		return strconv.Itoa(want), got, len(a.comments) == want
	}
}

func quoted(texts []string) string {
	q := make([]string, len(texts))
	for i, s := range texts {
		q[i] = strconv.Quote(text.Shorten(s, expression.MaxValue))
	}
	return listed(q)
}

// boolOr reads true, false or a text.
func (d expectDecoder) boolOr(key string, n *yaml.Node, text *string) bool {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		*text = n.Value
		return true
	}
	var yes bool
	d.f.DecodeKey(key, n, &yes)
	return yes
}

// expectClosed reads "closed": whether the issue is closed, now or after a grace period, or the
// reason for closing it.
func (d expectDecoder) expectClosed(n *yaml.Node) meeting {
	var reason string
	want := d.boolOr("closed", n, &reason)
	reasons := []string{"completed", "not_planned", "duplicate"}
	if reason != "" && !slices.Contains(reasons, reason) {
		d.f.Problemf(n, "closed: want true, false or one of %s, got %q%s", strings.Join(reasons, ", "), text.Shorten(reason, text.Quoted), yamlfile.DidYouMean(reason, reasons))
	}
	return func(a issueState) (string, string, bool) {
		got := a.closed()
		if reason != "" {
			return reason, got, got == reason
		}
		return strconv.FormatBool(want), got, want == (got != "false")
	}
}

// expectEscalated reads "escalated": whether a rule escalates, or a part of the reason.
func (d expectDecoder) expectEscalated(n *yaml.Node) meeting {
	var part string
	want := d.boolOr("escalated", n, &part)
	return func(a issueState) (string, string, bool) {
		m := a.result.Message
		is := m.Decision == protocol.Escalate
		if part != "" {
			return strconv.Quote(part), strconv.Quote(m.Rationale), is && strings.Contains(m.Rationale, part)
		}
		return strconv.FormatBool(want), strconv.FormatBool(is), is == want
	}
}

// expectRetriage reads "retriage": whether a rule asks for a new decision.
func (d expectDecoder) expectRetriage(n *yaml.Node) meeting {
	var want bool
	d.f.DecodeKey("retriage", n, &want)
	return func(a issueState) (string, string, bool) {
		got := a.result.Retriage
		return strconv.FormatBool(want), strconv.FormatBool(got), got == want
	}
}

func (d expectDecoder) expectDecision(n *yaml.Node) meeting {
	var want string
	known := make([]string, 0, len(protocol.DecisionTypes()))
	for _, t := range protocol.DecisionTypes() {
		known = append(known, string(t))
	}
	if d.f.DecodeKey("decision", n, &want) && !slices.Contains(known, want) {
		d.f.Problemf(n, "decision: want one of %s, got %q%s", strings.Join(known, ", "), text.Shorten(want, text.Quoted), yamlfile.DidYouMean(want, known))
	}
	return func(a issueState) (string, string, bool) {
		got := string(a.result.Message.Decision)
		return want, got, want == got
	}
}

// expectError reads "error": a part of the message of the condition that fails.
func (d expectDecoder) expectError(n *yaml.Node) meeting {
	var part string
	if d.f.DecodeKey("error", n, &part) && strings.TrimSpace(part) == "" {
		d.f.Problemf(n, "error: want a part of the message")
	}
	return func(a issueState) (string, string, bool) {
		if a.err == nil {
			return strconv.Quote(part), "no error", false
		}
		return strconv.Quote(part), a.err.Error(), strings.Contains(a.err.Error(), part)
	}
}
