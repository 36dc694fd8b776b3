package poll

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

const (
	doubt     = time.Minute // by which the clock that our memory goes by may differ from GitHub's
	manyTasks = 20          // that are looked at of an issue, the newest ones
	blur      = 2           // seconds by which GitHub may say that an issue changed later than what changed it
)

// A told is the issue as the newest task tells of it.
type told struct {
	known       bool  // there is a task
	at          int64 // when the issue had last changed; 0: the task does not tell
	title, body string
}

// tasks returns what the newest task of an issue tells, and whether one is in flight.
func (f *follower) tasks(ctx context.Context, n int) (last told, busy bool, err error) {
	list, err := f.o.Tasks.List(ctx, queue.Filter{Repo: f.name, Issue: n, Limit: manyTasks})
	if err != nil {
		return told{}, false, fmt.Errorf("look for tasks of issue %d: %w", n, err)
	}
	for _, t := range list {
		if t.State != queue.Done && t.State != queue.Failed {
			return told{}, true, nil
		}
	}
	if len(list) == 0 {
		return told{}, false, nil
	}
	d, err := f.o.Tasks.Inspect(ctx, list[0].ID)
	if errors.Is(err, queue.ErrNotFound) { // purged meanwhile
		return told{}, false, nil
	}
	if err != nil {
		return told{}, false, fmt.Errorf("look at the last task of issue %d: %w", n, err)
	}
	return read(d.Message), false, nil
}

// read finds the issue in a task's message.
func read(message []byte) told {
	var m struct {
		Payload struct {
			Title string  `json:"title"`
			Body  *string `json:"body"`
			Issue struct {
				UpdatedAt time.Time `json:"updated_at"`
			} `json:"issue"`
		} `json:"payload"`
	}
	t := told{known: true}
	if json.Unmarshal(message, &m) != nil {
		return t
	}
	if at := m.Payload.Issue.UpdatedAt; !at.IsZero() {
		t.at = max(at.Unix(), 0)
	}
	t.title = m.Payload.Title
	if m.Payload.Body != nil {
		t.body = *m.Payload.Body
	}
	return t
}

// changed reports whether somebody wrote the title or the body anew since the task. The
// timeline does not tell of bodies, and we change neither.
func (t told) changed(i triage.Issue) bool {
	return t.at > 0 && (t.title != i.Title || t.body != i.Body)
}

// A deed is what happened to an issue, and who did it, as far as it is known.
type deed struct {
	action string // empty: nothing that is to be handed on
	told   bool   // a task tells of it already
	by     triage.Actor
}

// deed finds out what happened. The timeline is asked only where it can make a difference.
func (f *follower) deed(ctx context.Context, i triage.Issue, last told, w waiting) (deed, error) {
	if last.at > 0 && last.at >= i.UpdatedAt.Unix() {
		return deed{told: true}, nil // one of a webhook, or from before a crash
	}
	acted, when := f.acted(ctx, i.Number, last)
	d := deed{action: "edited", by: triage.Actor{Login: i.Author, Type: i.AuthorType}}
	switch {
	case w.Opened:
		d.action = "opened"
	case isBot(d.by):
		d.by = triage.Actor{} // a person may have changed it as well
	}
	if !acted && i.StateReason != "reopened" {
		return d, nil
	}
	from := max(last.at, w.From)
	if from == 0 && !when.IsZero() {
		from = when.Add(-doubt).Unix()
	}
	ref := f.ref
	ref.Number = i.Number
	t, err := f.source.Timeline(ctx, ref)
	switch {
	case errors.Is(err, triage.ErrTruncated):
		t = triage.Timeline{} // as good as none
	case err != nil:
		return deed{}, err
	}
	h := f.weigh(t, from)
	// No timeline tells that an issue was opened.
	h.others = h.others || i.CreatedAt.Unix() > from
	if h.by.Login != "" && d.action != "opened" {
		d.by = h.by
	}
	switch {
	case acted && h.ours(i) && !last.changed(i):
		f.log.DebugContext(ctx, "only we changed the issue", "issue", i.Number)
		return deed{}, nil
	case h.reopened:
		d.action = "reopened"
	}
	return d, nil
}

func isBot(a triage.Actor) bool { return a.Type == "Bot" || strings.HasSuffix(a.Login, "[bot]") }

// acted reports whether we are known to have written to an issue, and when we last
// decided on it.
func (f *follower) acted(ctx context.Context, n int, last told) (bool, time.Time) {
	if f.o.Memory == nil {
		return last.known, time.Time{}
	}
	r, err := f.o.Memory.Load(ctx, f.name, n)
	if err != nil {
		// When nobody can tell, the timeline can.
		return !errors.Is(err, memory.ErrNotFound), time.Time{}
	}
	var when time.Time
	did := r.Earlier != nil && len(r.Earlier.Done) > 0
	for _, t := range r.Tasks {
		when = t.At
		did = did || slices.ContainsFunc(t.Actions, func(a memory.Action) bool { return a.Result == triage.Done })
	}
	return did, when
}

// A balance is what happened on an issue since a time.
type balance struct {
	others   bool         // somebody else did something, or may have
	reopened bool         // somebody else reopened it
	by       triage.Actor // who else was last, a person before a bot; empty: nobody
	last     int64        // when we last did something; 0: we did not
}

// ours reports whether what changed the issue last was our doing, and nobody else's.
func (b balance) ours(i triage.Issue) bool {
	return !b.others && b.last > 0 && i.UpdatedAt.Unix() <= b.last+blur
}

// weigh reads a timeline from a time on, which does not count itself.
func (f *follower) weigh(t triage.Timeline, from int64) balance {
	var b balance
	if !t.Complete && (len(t.Events) == 0 || t.Events[0].At.Unix() > from) {
		b.others = true
	}
	for _, e := range t.Events {
		at := e.At.Unix()
		if !e.Edited.IsZero() {
			at = max(at, e.Edited.Unix())
		}
		if at <= from {
			continue
		}
		switch e.Kind {
		case "mentioned", "subscribed", "unsubscribed":
			continue // GitHub names those who were mentioned, by us perhaps
		case "closed":
			if !f.own(e.Actor) {
				continue // it is open again, and who opened it counts
			}
		}
		if f.own(e.Actor) || e.Kind == "commented" && sanitize.HasMarker(e.Body) {
			b.last = max(b.last, at)
			continue
		}
		b.others = true
		b.reopened = b.reopened || e.Kind == "reopened"
		if by := (triage.Actor{Login: e.Actor, Type: e.ActorType}); b.by.Login == "" || isBot(b.by) || !isBot(by) {
			b.by = by
		}
	}
	return b
}
