package memory

import (
	"maps"
	"slices"
	"time"

	"github.com/org/foreman-action/protocol"
)

// AnswerWindow is how long agents stay away from an issue on which we commented.
const AnswerWindow = 24 * time.Hour

// fadedType stands for the types of comments that are older than AnswerWindow. No record
// is stored with it, and no action is called so.
const fadedType = "comment/old"

// Faded returns the record as agents are told of it at a time. Published agents stay away
// from an issue for as long as its summary says "commented", so [Summary] tells of a
// comment that was posted [AnswerWindow] ago or earlier as "replied", at which none of
// them does. Of comments that were folded into counts nobody knows more than the time of
// the last one of those tasks, so they fade together. The record itself is not changed,
// and what is returned is to be told and not to be saved.
func (r Record) Faded(now time.Time) Record {
	since := now.Add(-AnswerWindow)
	if r.Earlier != nil && !r.Earlier.To.After(since) {
		e := *r.Earlier
		e.Done = maps.Clone(e.Done)
		for typ, n := range r.Earlier.Done {
			if isComment(typ) {
				delete(e.Done, typ)
				e.Done[fadedType] = plus(e.Done[fadedType], n)
			}
		}
		r.Earlier = &e
	}
	r.Tasks = slices.Clone(r.Tasks)
	for i, t := range r.Tasks {
		if t.At.After(since) {
			continue
		}
		r.Tasks[i].Actions = slices.Clone(t.Actions)
		for j, a := range t.Actions {
			if isComment(a.Type) {
				r.Tasks[i].Actions[j].Type = fadedType
			}
		}
	}
	return r
}

// isComment reports whether an action of the type leaves a comment.
func isComment(typ string) bool {
	return typ == protocol.ActionComment || typ == protocol.ActionUpdateComment
}
