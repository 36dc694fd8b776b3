package outcome

import (
	"fmt"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
)

// Parse returns the effect of an action. All names are sanitized; the body of a comment is not. The
// error matches [effect.ErrUnknown], or names the wrong parameter.
func Parse(a protocol.ActionItem) (effect.Effect, error) {
	spec, ok := SpecOf(a.Type)
	if !ok {
		return nil, fmt.Errorf("%w: %s", effect.ErrUnknown, text.Quote(a.Type))
	}
	if err := spec.Check(a); err != nil {
		return nil, err
	}
	if e := parse(a); e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("%w: %s", effect.ErrUnknown, text.Quote(a.Type))
}

// parse returns the effect of an action with valid parameters.
func parse(a protocol.ActionItem) effect.Effect {
	switch a.Type {
	case protocol.ActionAddLabel:
		return effect.AddLabels{Names: names(a, "label")}
	case protocol.ActionAddLabels:
		return effect.AddLabels{Names: names(a, "labels")}
	case protocol.ActionRemoveLabel:
		return effect.RemoveLabels{Names: names(a, "label")}
	case protocol.ActionComment, protocol.ActionUpdateComment:
		return parseComment(a)
	case protocol.ActionCloseIssue:
		return parseClose(a)
	case protocol.ActionReopenIssue:
		return effect.Reopen{}
	case protocol.ActionMarkDuplicate:
		return parseDuplicate(a)
	case protocol.ActionAssign:
		return effect.Assign{Logins: names(a, "assignees")}
	case protocol.ActionUnassign:
		return effect.Unassign{Logins: names(a, "assignees")}
	case protocol.ActionSetMilestone:
		return effect.SetMilestone{Title: Name(a, "milestone")}
	case protocol.ActionRemoveMilestone:
		return effect.SetMilestone{}
	case protocol.ActionSetType:
		return effect.SetType{Name: Name(a, "issue_type")}
	case protocol.ActionLock:
		return effect.Lock{Reason: Name(a, "reason")}
	case protocol.ActionUnlock:
		return effect.Unlock{}
	case protocol.ActionReact:
		return effect.React{Content: Name(a, "content")}
	case protocol.ActionNeverAgain:
		return effect.NeverAgain{Labels: names(a, "label")}
	case protocol.ActionHideComment:
		return effect.HideComment{Key: Name(a, "key")}
	case protocol.ActionRequestReview:
		return effect.RequestReview{Users: names(a, "users"), Teams: names(a, "teams")}
	case effect.ActionAllowAgain:
		return effect.AllowAgain{Label: Name(a, "label")}
	case effect.ActionKeepOpen:
		return effect.KeepOpen{Rule: Name(a, "rule")}
	}
	return nil
}

func parseComment(a protocol.ActionItem) effect.Comment {
	body, _, _ := a.Text("body")
	if a.Type == protocol.ActionUpdateComment {
		return effect.Comment{Body: body, Key: CommentKey(a)}
	}
	return effect.Comment{Body: body, Once: Name(a, "once")}
}

func parseClose(a protocol.ActionItem) effect.Close {
	e := effect.Close{Reason: Name(a, "reason")}
	after, ok, _ := a.Text("after")
	if d, err := protocol.ParseDuration(after); ok && err == nil {
		e.After = d
		e.Veto, _, _ = a.Texts("veto")
	}
	return e
}

func parseDuplicate(a protocol.ActionItem) effect.MarkDuplicate {
	n, _, _ := a.Int("of")
	return effect.MarkDuplicate{Of: int(n)}
}
