package dashboard

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/server/bulk"
	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/internal/server/taskjson"
	"github.com/org/foreman-action/queue"
)

// A bulkPage is the view model of the page on which operators confirm a bulk act, and see its result.
type bulkPage struct {
	Title  string
	Text   string
	Notes  []string
	Filter []fact   // the filter that selects the tasks
	Tasks  []chosen // the chosen tasks, or the first skipped ones; empty: those of the filter
	Button string   // empty: there is nothing to confirm
	Danger bool
	Asks   bool   // it has a field for a reason
	Reason string // of the act so far
	Fields []fact // the hidden fields of the form
	Back   string // address of the list
}

// A chosen task was selected in the list, or was skipped.
type chosen struct {
	ID, URL string
	State   string // as the operator saw it, or why it was skipped; may be empty
}

// The values of the form's field "which".
const (
	whichChecked = "checked"
	whichPage    = "page"
	whichFilter  = "filter"
)

// maxChosen limits the chosen tasks that are listed.
const maxChosen = 100

// bulk handles the form that changes many tasks. The first request counts them and asks for a confirmation;
// the second one, with the field "confirm", changes them.
func (d *Dashboard) bulk(w http.ResponseWriter, r *http.Request) {
	v, ok := d.operator(w, r)
	if !ok {
		return
	}
	refuse := func(why string) {
		d.renderer.show(w, r, response{Status: http.StatusUnprocessableEntity, Visitor: v, Problem: "Nothing was changed: " + why + "."})
	}
	if err := r.ParseForm(); err != nil {
		refuse("the form is too long or cannot be read")
		return
	}
	act, query, err := d.act(r.PostForm)
	if err != nil {
		refuse(mistakes(err))
		return
	}
	act.By = v.operator
	if r.PostFormValue("confirm") == "" {
		page, err := d.confirm(r.Context(), act, query)
		if err != nil {
			d.renderer.fail(w, r, err)
			return
		}
		d.renderer.show(w, r, response{Status: http.StatusOK, Visitor: v, Bulk: page})
		return
	}
	result, err := bulk.Operator{Queue: d.queue, Observe: d.observe, Log: d.log}.Step(r.Context(), act)
	d.contents.reader.changed()
	if err != nil && result.Changed == 0 {
		d.renderer.fail(w, r, err)
		return
	}
	if err != nil {
		d.log.Error("a bulk act on the dashboard stopped", "error", err)
	}
	d.renderer.show(w, r, response{Status: http.StatusOK, Visitor: v, Bulk: resultPage(act, query, result, err)})
}

// act returns the act of a form, and the query of the list from which it comes.
func (d *Dashboard) act(form url.Values) (a bulk.Act, query url.Values, err error) {
	a = bulk.Act{Verb: bulk.Verb(form.Get("verb")), Reason: form.Get("reason")}
	var chosen []string
	if query, err = url.ParseQuery(form.Get("filter")); err != nil {
		return a, nil, errors.New("the filter cannot be read")
	}
	switch form.Get("which") {
	case whichChecked:
		chosen = form["task"]
	case whichPage:
		chosen = form["page"]
	case whichFilter:
		filter.WithoutEmpty(query) // the empty fields of a form
		if a.Filter, err = d.filter.ParseAll(query); err != nil {
			return a, nil, err
		}
		a, err = a.Check()
		return a, query, err
	}
	if len(chosen) == 0 {
		return a, nil, errors.New("no task was selected")
	}
	for _, key := range chosen {
		t, err := parseKey(key)
		if err != nil {
			return a, nil, err
		}
		a.Tasks = append(a.Tasks, t)
	}
	a, err = a.Check()
	return a, query, err
}

// formKey returns the value of a form that names a task, with its version as the operator sees it. No version
// contains a space.
func formKey(t queue.Seen) string { return taskjson.Version(t) + " " + t.ID }

// parseKey returns the task that a value of formKey names. A value without a version is a mistake.
func parseKey(key string) (queue.Seen, error) {
	version, id, ok := strings.Cut(key, " ")
	if !ok {
		return queue.Seen{}, errors.New("a task has no version")
	}
	return taskjson.Seen(id, version)
}

// confirm returns the page that asks for a confirmation. Only tasks that exist now will be changed.
func (d *Dashboard) confirm(ctx context.Context, a bulk.Act, query url.Values) (*bulkPage, error) {
	p := newBulkPage(a, query)
	if a.Tasks != nil {
		p.Title = verbName(a.Verb) + " " + plural(len(a.Tasks), "task") + "?"
		for _, t := range a.Tasks[:min(len(a.Tasks), maxChosen)] {
			p.Tasks = append(p.Tasks, chosen{word(t.ID), taskURL(t.ID), stateName(t.State)})
		}
		return p, nil
	}
	var err error
	if a.Filter, err = bulk.Bounded(ctx, d.queue, a.Filter); err != nil {
		return nil, err
	}
	p = newBulkPage(a, query)
	tally, err := d.queue.Count(ctx, a.Filter)
	if err != nil {
		return nil, err
	}
	number := plural(tally.N, "task")
	if tally.Next > 0 {
		number = "at least " + number
		p.Notes = append(p.Notes, "Only the newest "+strconv.Itoa(queue.MaxExamined)+" tasks were counted. Older ones that match are changed, too.")
	}
	p.Title = verbName(a.Verb) + " " + number + "?"
	if tally.N == 0 && tally.Next == 0 {
		p.Title, p.Text, p.Button = "No task matches", "There is nothing to change.", ""
	}
	if tally.N > bulk.MaxTasks {
		p.Notes = append(p.Notes, "Each step changes at most "+strconv.Itoa(bulk.MaxTasks)+" tasks, and then asks again.")
	}
	return p, nil
}

// newBulkPage returns the page for the next step of an act.
func newBulkPage(a bulk.Act, query url.Values) *bulkPage {
	p := &bulkPage{
		Text: verbText(a.Verb), Button: verbName(a.Verb), Danger: a.Verb == bulk.Cancel, Asks: a.Verb == bulk.AskAgain, Reason: line(a.Reason, maxLine),
		Fields: []fact{{"verb", string(a.Verb)}, {"confirm", "yes"}},
	}
	back := url.Values{}
	for _, key := range filter.Keys() {
		if value := query.Get(key); value != "" && key != "before" {
			back.Set(key, value)
		}
	}
	p.Back = (&url.URL{Path: "/", RawQuery: back.Encode()}).RequestURI()
	if a.Tasks != nil {
		p.Fields = append(p.Fields, fact{"which", whichChecked}, fact{"filter", query.Encode()})
		for _, t := range a.Tasks {
			p.Fields = append(p.Fields, fact{"task", formKey(t)})
		}
		return p
	}
	v := filter.Values(a.Filter)
	p.Fields = append(p.Fields, fact{"which", whichFilter}, fact{"filter", v.Encode()})
	for _, key := range filter.Keys() {
		if value := v.Get(key); value != "" && key != "before" {
			p.Filter = append(p.Filter, fact{key, line(value, maxLine)})
		}
	}
	return p
}

// resultPage returns the page with the result of a step. err is why it stopped early.
func resultPage(a bulk.Act, query url.Values, r bulk.Result, err error) *bulkPage {
	if r.Next > 0 && a.Tasks == nil {
		a.Filter.Before = r.Next
	}
	p := newBulkPage(a, query)
	p.Title, p.Tasks = plural(r.Changed, "task")+" changed", nil
	p.Text = verbName(a.Verb) + ": " + plural(r.Changed, "task") + "."
	if r.Skipped > 0 {
		p.Notes = append(p.Notes, plural(r.Skipped, "task was", "tasks were")+" skipped, because they have changed or their state does not allow it.")
		for _, f := range r.Skips {
			p.Tasks = append(p.Tasks, chosen{word(f.ID), taskURL(f.ID), bulk.Why(f.Err)})
		}
	}
	if r.Failed > 0 {
		p.Notes = append(p.Notes, plural(r.Failed, "task", "tasks")+" could not be changed. See the log of the server for the cause.")
	}
	if err != nil {
		p.Notes = append(p.Notes, "The step ended early, because the queue could not be written. See the log of the server for the cause.")
	}
	p.Asks = false
	if p.Button = ""; r.Next > 0 {
		p.Button = "Continue with older tasks"
		p.Notes = append(p.Notes, "There may be more tasks.")
	}
	if a.Reason != "" {
		p.Fields = append(p.Fields, fact{"reason", a.Reason})
	}
	return p
}

// verbName returns the name of a verb on buttons.
func verbName(v bulk.Verb) string {
	return map[bulk.Verb]string{bulk.Retry: "Retry", bulk.AskAgain: "Ask again about", bulk.Cancel: "Cancel", bulk.Release: "Release"}[v]
}

// verbText describes what a verb does.
func verbText(v bulk.Verb) string {
	return map[bulk.Verb]string{
		bulk.Retry:    "Failed tasks become ready again, and delayed ones are released.",
		bulk.AskAgain: "The decisions of done or failed tasks are removed, and the agents decide again.",
		bulk.Cancel:   "Tasks that have not ended fail, unless their decisions are being applied.",
		bulk.Release:  "The claims of agents end, and the tasks can be claimed again at once.",
	}[v]
}
