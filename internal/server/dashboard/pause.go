package dashboard

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/bulk"
	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/queue"
)

// A pauseSection shows the pauses, on every page.
type pauseSection struct {
	Rows    []pauseRow
	Problem bool // the pauses cannot be read
}

// A pauseRow is a pause. Kind and Name are sent back to end it.
type pauseRow struct {
	Scope, By, Reason string
	Kind, Name        string
	Since             time.Time
	Held, Busy        string // in a sentence
	Warning           string // why the pause may hold nothing; empty: nothing is wrong
}

// pauseSection returns the section about pauses; nil if the page has none.
func (c *contents) pauseSection(ctx context.Context) *pauseSection {
	if c.pauses == nil {
		return nil
	}
	list, err := c.pauses.ListPauses(ctx, true)
	s := &pauseSection{Problem: err != nil}
	for _, p := range list {
		r := pauseRow{
			Scope: line(p.Scope.String(), maxLine), By: word(p.By), Reason: line(p.Reason, maxLine),
			Kind: string(p.Scope.Kind), Name: p.Scope.Name, Since: p.At, Held: plural(p.Held, "task"),
		}
		if p.Held >= queue.MaxHeld {
			r.Held = "at least " + r.Held
		}
		r.Warning = c.configured.Warning(p.Scope)
		if p.Claimed+p.Draining > 0 {
			r.Busy = plural(p.Claimed, "claim") + " and " + plural(p.Draining, "decision") + " in progress"
		}
		s.Rows = append(s.Rows, r)
	}
	return s
}

// pauseOrResume handles the forms with which operators pause and resume. They send the kind and the name
// of a scope.
func (d *Dashboard) pauseOrResume(verb string, apply func(r *http.Request, s queue.Scope, by string) (did string, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if d.auth.operators == nil || d.contents.pauses == nil {
			d.renderer.show(w, r, response{Status: http.StatusForbidden, Problem: "Nothing can be paused here, because no operators are configured. Use \"foremand pause\" and \"foremand resume\"."})
			return
		}
		v, ok := d.admit(w, r)
		if !ok {
			return
		}
		if !d.auth.ownPage(r) {
			d.renderer.show(w, r, response{Status: http.StatusForbidden, Problem: notOwnPage, Visitor: v})
			return
		}
		s, err := postedScope(r)
		if err != nil {
			d.renderer.show(w, r, response{Status: http.StatusBadRequest, Problem: "Nothing was changed: " + line(err.Error(), maxLine) + ".", Visitor: v})
			return
		}
		did, err := apply(r, s, v.operator)
		d.observe.Report(observe.Observation{Event: observe.OperatorChanged, Status: verb, N: 1, Err: err})
		d.contents.reader.changed()
		if err != nil {
			d.renderer.fail(w, r, err)
			return
		}
		redirect(w, withNotice(local(r.PostFormValue("from")), did))
	}
}

// postedScope returns the scope that a form names. A name with a kind that has none is a mistake: the person
// may have forgotten to choose the kind.
func postedScope(r *http.Request) (queue.Scope, error) {
	return filter.Scope(queue.Scope{Kind: queue.ScopeKind(r.PostFormValue("kind")), Name: strings.TrimSpace(r.PostFormValue("name"))})
}

func (d *Dashboard) pause(r *http.Request, s queue.Scope, by string) (did string, err error) {
	p, already, err := d.contents.pauses.Pause(r.Context(), s, by, r.PostFormValue("reason"))
	if err != nil {
		return "", err
	}
	bulk.LogPause(r.Context(), d.log, p, already, by)
	if already {
		return "already", nil
	}
	return "paused", nil
}

func (d *Dashboard) resume(r *http.Request, s queue.Scope, by string) (did string, err error) {
	p, found, err := d.contents.pauses.Resume(r.Context(), s)
	if err != nil {
		return "", err
	}
	p.Scope = s // p may be zero
	bulk.LogResume(r.Context(), d.log, p, found, by)
	if !found {
		return "unpaused", nil
	}
	return "resumed", nil
}
