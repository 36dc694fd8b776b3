package effect

import (
	"errors"
	"fmt"
	"strings"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
)

// SpecOf returns the specification of an action type, including the types that only revert other
// actions. ok is false for an unknown type.
func SpecOf(typ string) (spec protocol.ActionSpec, ok bool) {
	cancels := func(param string) (protocol.ActionSpec, bool) {
		return protocol.ActionSpec{Name: typ, Params: []protocol.Param{{Name: param, Kind: protocol.KindText}}}, true
	}
	switch typ {
	case ActionAllowAgain:
		return cancels("label")
	case ActionKeepOpen:
		return cancels("rule")
	}
	return protocol.SpecOf(typ)
}

// Cancels reports whether an action of that type cancels a deferred action in the memory.
func Cancels(typ string) bool { return typ == ActionAllowAgain || typ == ActionKeepOpen }

// ErrUnknown means that there is no action of that type.
var ErrUnknown = errors.New("unknown action")

// Parse returns the effect of an action. All names are sanitized; the body of a comment is not. The
// error matches [ErrUnknown], or names the wrong parameter.
func Parse(a protocol.ActionItem) (Effect, error) {
	spec, ok := SpecOf(a.Type)
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrUnknown, text.Quote(a.Type))
	}
	if err := spec.Check(a); err != nil {
		return nil, err
	}
	switch a.Type {
	case protocol.ActionAddLabel:
		return AddLabels{names(a, "label")}, nil
	case protocol.ActionAddLabels:
		return AddLabels{names(a, "labels")}, nil
	case protocol.ActionRemoveLabel:
		return RemoveLabels{Names: names(a, "label")}, nil
	case protocol.ActionComment:
		body, _, _ := a.Text("body")
		return Comment{Body: body, Once: Name(a, "once")}, nil
	case protocol.ActionUpdateComment:
		body, _, _ := a.Text("body")
		return Comment{Body: body, Key: CommentKey(a)}, nil
	case protocol.ActionCloseIssue:
		e := Close{Reason: Name(a, "reason")}
		after, ok, _ := a.Text("after")
		if d, err := protocol.ParseDuration(after); ok && err == nil {
			e.After = d
			e.Veto, _, _ = a.Texts("veto")
		}
		return e, nil
	case protocol.ActionReopenIssue:
		return Reopen{}, nil
	case protocol.ActionMarkDuplicate:
		n, _, _ := a.Int("of")
		return MarkDuplicate{int(n)}, nil
	case protocol.ActionAssign:
		return Assign{names(a, "assignees")}, nil
	case protocol.ActionUnassign:
		return Unassign{names(a, "assignees")}, nil
	case protocol.ActionSetMilestone:
		return SetMilestone{Name(a, "milestone")}, nil
	case protocol.ActionRemoveMilestone:
		return SetMilestone{}, nil
	case protocol.ActionSetType:
		return SetType{Name(a, "issue_type")}, nil
	case protocol.ActionLock:
		return Lock{Name(a, "reason")}, nil
	case protocol.ActionUnlock:
		return Unlock{}, nil
	case protocol.ActionReact:
		return React{Content: Name(a, "content")}, nil
	case protocol.ActionNeverAgain:
		return NeverAgain{names(a, "label")}, nil
	case ActionAllowAgain:
		return AllowAgain{Name(a, "label")}, nil
	case ActionKeepOpen:
		return KeepOpen{Name(a, "rule")}, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrUnknown, text.Quote(a.Type))
}

// CommentKey returns the key of an update_comment; the default is "sticky".
func CommentKey(a protocol.ActionItem) string {
	if key := Name(a, "key"); key != "" {
		return key
	}
	return "sticky"
}

// AgentKey returns a key for an agent's comment. It differs from all keys of rules, because it
// contains a slash and they do not. An empty key stays empty.
func AgentKey(key string) string {
	if key == "" {
		return ""
	}
	return agentKeys + key
}

// BareKey returns a key without the prefix of AgentKey.
func BareKey(key string) string { return strings.TrimPrefix(key, agentKeys) }

const agentKeys = "agent/"

// SameOnce reports whether the "once" of a posted marker matches that of a comment. It also matches
// old comments of agents, whose keys have no prefix.
func SameOnce(posted, once string) bool {
	return posted == once || posted == BareKey(once)
}

// ValidKey reports whether a key can be part of a marker: 1 to 64 letters, digits, '.', '_' and
// '-'.
func ValidKey(key string) bool {
	if key == "" || len(key) > 64 {
		return false
	}
	return strings.IndexFunc(key, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	}) < 0
}

// Name returns a parameter that is a name, sanitized; empty if the parameter is absent.
func Name(a protocol.ActionItem, param string) string {
	s, _, _ := a.Text(param)
	return sanitize.Name(s)
}

// names returns a parameter that is a list of names: sanitized, without duplicates.
func names(a protocol.ActionItem, param string) []string {
	list, _, _ := a.Texts(param)
	var out []string
	seen := Names{}
	for _, s := range list {
		s = sanitize.Name(s)
		if s != "" && !seen.Has(s) {
			seen.put([]string{s}, true)
			out = append(out, s)
		}
	}
	return out
}
