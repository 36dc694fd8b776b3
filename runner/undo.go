package runner

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/triage"
)

// elseUndo adds to a decision what takes back what rules did whose condition is false
// now. It reads nothing when nothing of theirs can be on the issue, and leaves alone
// what the decision itself asks for.
func (w *work) elseUndo(ctx context.Context, d *Decision, res *rules.Result) error {
	if res == nil || w.o.Memory == nil || w.fresh() || d.Message.Decision == protocol.Escalate {
		return nil
	}
	issue := rulesFacts(w.e, w.o.Now()).Issue
	ids := slices.DeleteFunc(slices.Clone(res.Undone), func(id string) bool { return !w.c.Rules.MayHaveLeft(id, issue) })
	if len(ids) == 0 {
		return nil
	}
	r := w.remembered(ctx)
	deeds := slices.DeleteFunc(lastDeeds(r, w.isThis), func(d deedDone) bool { return !slices.Contains(ids, d.rule) })
	if len(deeds) == 0 {
		return nil
	}
	h, ok := w.hindsight(ctx)
	if !ok {
		return nil // it was warned of
	}
	t, err := w.takeBack(r, deeds, h)
	if err != nil {
		return err
	}
	wanted := *d
	var did []string
	for i, deed := range t.deeds {
		if wanted.wants(deed) {
			continue
		}
		d.put(triage.Source{Rule: deed.rule, Undo: true}, t.items[i])
		if !slices.Contains(did, deed.rule) {
			did = append(did, deed.rule)
		}
	}
	if len(did) > 0 {
		d.Message.Rationale += "; taken back, for its condition is false now, is what was done by " + strings.Join(did, ", ")
	}
	return nil
}

// wants reports whether a decision asks for what a deed did.
func (d Decision) wants(deed deedDone) bool {
	return slices.ContainsFunc(d.Message.Actions, func(a protocol.ActionItem) bool {
		r, ok := reversalOf(a.Type)
		if !ok || r.thing != deed.thing || r.there != deed.there {
			return false
		}
		done := memory.NewAction(0, a)
		return slices.ContainsFunc(r.names(done), func(name string) bool { return fold(name) == fold(deed.name) })
	})
}

// isThis reports whether a task of the record is the present one.
func (w *work) isThis(t memory.Task) bool { return t.ID == w.o.TaskID }

// recall returns what was done before on the issue, from its timeline when there is no
// memory.
func (w *work) recall(ctx context.Context) memory.Record {
	r := w.remembered(ctx)
	if w.o.Memory != nil || w.fresh() {
		return r
	}
	if h, ok := w.hindsight(ctx); ok {
		r.Tasks = h.rebuild(w.own).Tasks
	}
	return r
}

// taskPrefix is what names a task: its id, or the beginning of it.
var taskPrefix = regexp.MustCompile(`^[0-9a-f-]{4,36}$`)

// undo adds to a decision what takes back what one of our tasks on the issue did, and
// the answer that tells of it.
func (w *work) undo(ctx context.Context, d *Decision, rest string) error {
	r := w.recall(ctx)
	r.Tasks = slices.DeleteFunc(slices.Clone(r.Tasks), w.isThis)
	deeds := lastDeeds(r, nil)
	task, why := undoable(r, w.later, rest)
	if why != "" {
		return d.answer(commandUndo, "Nothing was undone: "+why+".")
	}
	h, ok := w.hindsight(ctx)
	if !ok {
		return d.answer(commandUndo, "Nothing was undone: the timeline of the issue cannot be read, so nobody can tell what people did.")
	}
	t, err := w.takeBack(r, slices.DeleteFunc(deeds, func(d deedDone) bool { return d.task != task.ID }), h)
	if err != nil {
		return err
	}
	n := len(d.Message.Actions)
	if d.Message.Decision == protocol.Skip {
		n = 0
	}
	d.put(commandUndo.source(), t.items...)
	// The answer tells what the policy makes of it.
	steps := MakePlan(*d, *w.e.Issue, w.c.Policy, true).Steps[n:]
	return d.answer(commandUndo, t.text(task, steps))
}

// later reports whether a task came behind the event: who wrote the comment cannot have
// meant it.
func (w *work) later(t memory.Task) bool {
	return w.e.Happened() && t.At.Truncate(time.Second).After(w.e.Issue.UpdatedAt)
}

// undoable finds the task that is meant: by its id, or else the last one of which
// anything could be taken back before later ones. why says that there is none.
func undoable(r memory.Record, later func(memory.Task) bool, rest string) (task memory.Task, why string) {
	name, _, _ := strings.Cut(rest, " ")
	name = strings.ToLower(strings.Trim(name, "`"))
	if name == "" {
		deeds := lastDeeds(r, later)
		for _, t := range slices.Backward(r.Tasks) {
			if slices.ContainsFunc(deeds, func(d deedDone) bool {
				return d.task == t.ID && !d.back && d.by != "" && d.rule != commandUndo.rule()
			}) {
				return t, ""
			}
		}
		return task, "no task of ours on this issue did anything that can be taken back, or all of it was changed since"
	}
	var found []memory.Task
	if taskPrefix.MatchString(name) {
		for _, t := range r.Tasks {
			if strings.HasPrefix(t.ID, name) {
				found = append(found, t)
			}
		}
	}
	switch len(found) {
	case 0:
		return task, "no task of ours on this issue has an id that begins with " + sanitize.Code(text.Quote(name)) + "; the job summary and our comments tell it"
	case 1:
		return found[0], ""
	}
	return task, fmt.Sprintf("the ids of %d tasks begin with %s; give more of it", len(found), sanitize.Code(text.Quote(name)))
}

// text tells what became of a task.
func (t taking) text(task memory.Task, steps []Step) string {
	var b strings.Builder
	event := ""
	if task.Event != "" { // the timeline does not tell it
		event = sanitize.Code(sanitize.Name(text.Quote(task.Event))) + ", "
	}
	fmt.Fprintf(&b, "Undo of task %s (%s%s):\n\n", sanitize.Code(task.ID), event, task.At.UTC().Format("2006-01-02 15:04 UTC"))
	var left []string
	for i, d := range t.deeds {
		if s := steps[i]; s.Verdict != triage.Do {
			left = append(left, d.subject()+" stays as it is: "+sanitize.Value(s.Reason))
			continue
		}
		fmt.Fprintf(&b, "- %s\n", d.tell(d.name))
	}
	for _, why := range append(left, t.left...) {
		fmt.Fprintf(&b, "- %s\n", why)
	}
	var stays []string
	for _, a := range task.Actions {
		if _, ok := reversalOf(a.Type); !ok && a.Result == memory.Done && !slices.Contains(stays, sanitize.Code(a.Type)) {
			stays = append(stays, sanitize.Code(a.Type))
		}
	}
	if len(stays) > 0 {
		fmt.Fprintf(&b, "- cannot be taken back: %s\n", strings.Join(stays, ", "))
	}
	if len(t.deeds)+len(t.left)+len(stays) == 0 {
		b.WriteString("- everything that it did was changed since by other tasks\n")
	}
	return b.String()
}
