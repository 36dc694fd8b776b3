package dashboard

import (
	"errors"
	"net/http"
	"strings"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/bulk"
	"github.com/org/foreman-action/internal/server/dashboard/trend"
	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/queue"
)

// overview serves the first page.
func (d *Dashboard) overview(w http.ResponseWriter, r *http.Request) {
	v, ok := d.admit(w, r)
	if !ok {
		return
	}
	f, err := d.filter.Parse(r.URL.Query())
	if err != nil {
		d.renderer.show(w, r, response{Status: http.StatusBadRequest, Problem: "The filter in this address is invalid: " + mistakes(err) + ".", Visitor: v})
		return
	}
	if f == (queue.Filter{ID: f.ID}) && f.ID != "" { // the id of a task, or of a delivery
		if _, err := d.queue.Inspect(r.Context(), f.ID); err == nil {
			redirect(w, taskURL(f.ID))
			return
		}
	}
	c, err := d.contents.overview(r.Context(), f)
	if err != nil {
		d.renderer.fail(w, r, err)
		return
	}
	d.renderer.show(w, r, response{Status: http.StatusOK, Visitor: v, content: c, Notice: notice(r.FormValue("did"))})
}

// mistakes returns the mistakes in a filter on one line.
func mistakes(err error) string { return line(strings.ReplaceAll(err.Error(), "\n", "; "), maxLine) }

// past serves the charts of the last hours and days.
func (d *Dashboard) past(w http.ResponseWriter, r *http.Request) {
	v, ok := d.admit(w, r)
	if !ok {
		return
	}
	if d.history == nil {
		d.renderer.show(w, r, response{Status: http.StatusNotFound, Visitor: v, Problem: "This server records no history."})
		return
	}
	q, err := filter.ParseHistory(r.URL.Query())
	if err != nil {
		d.renderer.show(w, r, response{Status: http.StatusBadRequest, Problem: "The address is invalid: " + mistakes(err) + ".", Visitor: v})
		return
	}
	s, err := d.history.Read(r.Context(), q)
	if err != nil {
		d.renderer.fail(w, r, err)
		return
	}
	d.renderer.show(w, r, response{Status: http.StatusOK, Visitor: v, History: trend.New(s), content: content{Pauses: d.contents.pauseSection(r.Context())}})
}

// task serves the page of one task.
func (d *Dashboard) task(w http.ResponseWriter, r *http.Request) {
	if v, ok := d.admit(w, r); ok {
		d.showTask(w, r, response{Status: http.StatusOK, Visitor: v, Notice: notice(r.FormValue("did"))})
	}
}

// showTask adds the task of the request to a response and sends it.
func (d *Dashboard) showTask(w http.ResponseWriter, r *http.Request, res response) {
	var err error
	res.content, err = d.contents.task(r.Context(), r.PathValue("id"))
	switch {
	case errors.Is(err, queue.ErrNotFound):
		d.noSuchTask(w, r, res.Visitor)
	case err != nil:
		d.renderer.fail(w, r, err)
	default:
		d.renderer.show(w, r, res)
	}
}

func (d *Dashboard) noSuchTask(w http.ResponseWriter, r *http.Request, v visitor) {
	d.renderer.show(w, r, response{Status: http.StatusNotFound, Visitor: v, Problem: "There is no such task. It may have been purged."})
}

// operator returns the operator who sent a request that changes tasks. If it returns false, it answered the
// request.
func (d *Dashboard) operator(w http.ResponseWriter, r *http.Request) (v visitor, ok bool) {
	if d.auth.operators == nil {
		d.renderer.show(w, r, response{Status: http.StatusForbidden, Problem: "Tasks cannot be changed here, because no operators are configured. Use \"foremand queue\"."})
		return visitor{}, false
	}
	if v, ok = d.admit(w, r); !ok {
		return visitor{}, false
	}
	if !d.auth.ownPage(r) {
		d.renderer.show(w, r, response{Status: http.StatusForbidden, Problem: notOwnPage, Visitor: v})
		return visitor{}, false
	}
	return v, true
}

// change handles a button with which operators change a task. did is the name of the notice that the next
// page shows. The form has the task as the operator saw it; without it, the task is changed as it is.
func (d *Dashboard) change(verb bulk.Verb, did string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, ok := d.operator(w, r)
		if !ok {
			return
		}
		id := r.PathValue("id")
		seen := queue.Seen{ID: id}
		if key := r.PostFormValue("seen"); key != "" {
			var err error
			if seen, err = parseKey(key); err != nil || seen.ID != id {
				d.showTask(w, r, response{Status: http.StatusUnprocessableEntity, Visitor: v, Problem: "Nothing was changed: the form cannot be read."})
				return
			}
		}
		_, err := bulk.Act{Verb: verb, By: v.operator, Reason: r.PostFormValue("reason")}.Change(r.Context(), d.queue, seen)
		d.observe.Report(observe.Observation{Event: observe.OperatorChanged, Status: string(verb), N: 1, Err: err})
		d.contents.reader.changed()
		switch {
		case errors.Is(err, queue.ErrChanged):
			d.showTask(w, r, response{Status: http.StatusConflict, Visitor: v, Problem: "Nothing was changed: the task has changed meanwhile. This is its state now."})
		case errors.Is(err, queue.ErrState):
			d.showTask(w, r, response{Status: http.StatusConflict, Visitor: v, Problem: "Nothing was changed: the task's state no longer allows it."})
		case errors.Is(err, queue.ErrNotFound):
			d.noSuchTask(w, r, v)
		case err != nil:
			d.renderer.fail(w, r, err)
		default:
			d.log.Info("an operator changed a task", "task_id", word(id), "operator", v.operator, "did", did)
			to := taskURL(id)
			if from := r.PostFormValue("from"); from != "" {
				to = local(from)
			}
			redirect(w, withNotice(to, did))
		}
	}
}

// withNotice adds the name of a notice to the address of a page.
func withNotice(page, did string) string {
	sep := "?"
	if strings.Contains(page, "?") {
		sep = "&"
	}
	return page + sep + "did=" + did
}

// notice returns the text of the notice that the address of a page names.
func notice(did string) string {
	switch did {
	case "retried":
		return "The task was retried."
	case "asked":
		return "The task is decided again."
	case "paused":
		return "It is paused."
	case "already":
		return "It was paused already. Nothing was changed."
	case "resumed":
		return "It is resumed."
	case "unpaused":
		return "It was not paused. Nothing was changed."
	case "cancelled":
		return "The task was cancelled."
	}
	return ""
}
