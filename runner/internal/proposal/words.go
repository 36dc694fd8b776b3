package proposal

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/outcome"
)

// Words describes a proposal for people, in Markdown on one line: "add the label `bug`". Several actions
// are joined.
func Words(p memory.Proposal) string { return join(p, "post the comment below") }

// Alone is like Words, for a place that does not show the text of a comment.
func Alone(p memory.Proposal) string { return join(p, "post a comment") }

// join describes the actions of a proposal. posts describes a comment beside another action.
func join(p memory.Proposal, posts string) string {
	parts := []string{words(p.Action)}
	for _, a := range p.Group {
		w := words(a)
		if spec, _ := outcome.SpecOf(a.Type); spec.Posts() {
			w = posts
		}
		if memory.HashAction(a) != memory.HashAction(p.Action) && !slices.Contains(parts, w) {
			parts = append(parts, w)
		}
	}
	if last := len(parts) - 1; last > 0 {
		return strings.Join(parts[:last], ", ") + " and " + parts[last]
	}
	return parts[0]
}

// words describes one action.
func words(a protocol.ActionItem) string {
	values := memory.NewAction(0, a).Values
	list := codes(values)
	with := func(verb string) string { return verb + " " + list }
	switch a.Type {
	case protocol.ActionAddLabel, protocol.ActionAddLabels:
		if len(values) > 1 {
			return with("add the labels")
		}
		return with("add the label")
	case protocol.ActionRemoveLabel:
		return with("remove the label")
	case protocol.ActionComment:
		return "post a comment"
	case protocol.ActionUpdateComment:
		return "post or update the comment " + code(outcome.CommentKey(a))
	case protocol.ActionCloseIssue:
		s := "close"
		if len(values) > 0 {
			s += " as " + strings.ReplaceAll(sanitize.Value(values[0]), "_", " ")
		}
		if after, ok, err := a.Text("after"); ok && err == nil {
			s += " after " + sanitize.Value(after)
		}
		return s
	case protocol.ActionMarkDuplicate:
		return "close as a duplicate of issue " + list
	case protocol.ActionReopenIssue:
		return "reopen"
	case protocol.ActionAssign:
		return with("assign")
	case protocol.ActionUnassign:
		return with("unassign")
	case protocol.ActionSetMilestone:
		return with("set the milestone")
	case protocol.ActionRemoveMilestone:
		return "remove the milestone"
	case protocol.ActionSetType:
		return with("set the type")
	case protocol.ActionLock:
		if len(values) > 0 {
			return "lock as " + sanitize.Value(values[0])
		}
		return "lock"
	case protocol.ActionUnlock:
		return "unlock"
	case protocol.ActionReact:
		return with("react with")
	case protocol.ActionNeverAgain:
		return with("never add the label") + " again"
	case protocol.ActionHideComment:
		return "hide Foreman's newest comment"
	case protocol.ActionRequestReview:
		return with("request a review by")
	}
	return code(a.Type) + own(a)
}

// own lists the parameters of an action that is not built in.
func own(a protocol.ActionItem) string {
	var b strings.Builder
	for _, name := range a.ParamNames() {
		raw, _ := a.Param(name)
		b.WriteString(" " + code(name+": "+string(raw)))
	}
	return b.String()
}

// code returns a text as inline code, in which nothing is active. It must not be empty.
func code(s string) string {
	s = strings.ReplaceAll(sanitize.Value(s), "`", "'")
	return "`" + s + "`"
}

func codes(list []string) string {
	var out []string
	for _, s := range list {
		if s != "" {
			out = append(out, code(s))
		}
	}
	return strings.Join(out, ", ")
}
