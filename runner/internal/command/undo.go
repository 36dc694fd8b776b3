package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// taskPrefix matches the id of a task, or the beginning of one.
var taskPrefix = text.Regexp(`^[0-9a-f-]{4,36}$`)

// FindTask returns the task for an undo: the one whose id begins with the first word of rest or, if
// rest is empty, the newest one with a revertible action. rest is the text after the command. later
// reports whether a task came after the comment. If there is no such task, why is the reason.
func FindTask(r memory.Record, later func(memory.Task) bool, rest string) (task memory.Task, why string) {
	name, _, _ := strings.Cut(rest, " ")
	name = strings.ToLower(strings.Trim(name, "`"))
	if name == "" {
		made := history.LastMade(r, later)
		for _, t := range slices.Backward(r.Tasks) {
			if slices.ContainsFunc(made, func(m history.Made) bool {
				_, revertible, _ := m.Inverse()
				return m.Task == t.ID && !m.Canceled && revertible && !m.ByUndo()
			}) {
				return t, ""
			}
		}
		return task, "no task of ours on this issue has an action that can be reverted, or all of them were changed since"
	}
	var found []memory.Task
	if taskPrefix().MatchString(name) {
		for _, t := range r.Tasks {
			if strings.HasPrefix(t.ID, name) {
				found = append(found, t)
			}
		}
	}
	switch len(found) {
	case 0:
		return task, "no task of ours on this issue has an id that begins with " + sanitize.Code(text.Quote(name)) + "; the job summary and our comments contain the id"
	case 1:
		return found[0], ""
	}
	return task, fmt.Sprintf("the ids of %d tasks begin with %s; write more characters of the id", len(found), sanitize.Code(text.Quote(name)))
}

// UndoAnswer renders the result of undoing a task. steps belong to the items of the reversal, in
// order.
func UndoAnswer(task memory.Task, t history.Reversal, steps []plan.Step) string {
	var b strings.Builder
	event := ""
	if task.Event != "" { // empty if the task was rebuilt from the timeline
		event = sanitize.Code(sanitize.Name(text.Quote(task.Event))) + ", "
	}
	fmt.Fprintf(&b, "Undo of task %s (%s%s):\n\n", sanitize.Code(task.ID), event, task.At.UTC().Format("2006-01-02 15:04 UTC"))
	var left []string
	for i, d := range t.Made {
		if s := steps[i]; s.Verdict != triage.Do {
			left = append(left, d.Subject()+" stays as it is: "+sanitize.Value(s.Reason))
			continue
		}
		fmt.Fprintf(&b, "- %s\n", d.Reverted())
	}
	for _, why := range append(left, t.Left...) {
		fmt.Fprintf(&b, "- %s\n", why)
	}
	var stays []string
	for _, a := range task.Actions {
		if !outcome.Revertible(a.Type) && a.Result == triage.Done && !slices.Contains(stays, sanitize.Code(a.Type)) {
			stays = append(stays, sanitize.Code(a.Type))
		}
	}
	if len(stays) > 0 {
		fmt.Fprintf(&b, "- cannot be undone: %s\n", strings.Join(stays, ", "))
	}
	if len(t.Made)+len(t.Left)+len(stays) == 0 {
		b.WriteString("- everything that it did was changed since by other tasks\n")
	}
	return b.String()
}
