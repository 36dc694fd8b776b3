package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/bulk"
	"github.com/org/foreman-action/internal/server/request"
	"github.com/org/foreman-action/internal/server/response"
	"github.com/org/foreman-action/internal/server/taskjson"
	"github.com/org/foreman-action/queue"
)

// A taskList is the answer to GET /queue/tasks.
type taskList struct {
	Tasks []taskjson.Task `json:"tasks"`
	// Next is the parameter "before" of the next page; null: there are no older tasks that could match.
	Next *int64 `json:"next"`
	// Examined is how many tasks the server compared with the filter; 0: an index has those that match.
	Examined int `json:"examined"`
}

// A taskCount is the answer to GET /queue/count.
type taskCount struct {
	Count int `json:"count"`
	// Next is the parameter "before" with which the count continues; null: all tasks were counted.
	Next *int64 `json:"next"`
}

// A dryRun is the answer to a dry run.
type dryRun struct {
	taskCount

	// Before is the field "before" of an act that changes only tasks which the dry run counted; null: there is no
	// task. Times such as "1h" count from each request, so a filter with them selects other tasks later.
	Before *int64 `json:"before"`
}

// A bulkResult is the answer to POST /queue/bulk.
type bulkResult struct {
	Changed  int           `json:"changed"`
	Skipped  int           `json:"skipped"` // tasks that have changed, or whose state does not allow it
	Failed   int           `json:"failed"`
	Skips    []bulkFailure `json:"skips"`    // the first skipped tasks
	Failures []bulkFailure `json:"failures"` // the first failed tasks
	// Next is the field "before" with which the act continues; null: it is complete.
	Next *int64 `json:"next"`
	// Error is why the act ended after some tasks, as in the answer to a failed request; absent: it did not.
	Error any `json:"error,omitempty"`
}

type bulkFailure struct {
	ID     string `json:"task_id"`
	Detail any    `json:"detail"` // as in the answer to a request for this task alone
}

// list answers with a page of the tasks that match the filter in the query.
func (h *operatorHandler) list(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	f, err := h.filter.ParseAll(r.URL.Query())
	if err != nil {
		return unprocessable(err)
	}
	page, err := h.queue.Search(r.Context(), f)
	if err != nil {
		return err
	}
	response.JSON(w, r, http.StatusOK, taskList{taskjson.List(page.Tasks), optional(page.Next), page.Examined})
	return nil
}

// count answers with the number of the tasks that match the filter in the query.
func (h *operatorHandler) count(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	f, err := h.filter.ParseAll(r.URL.Query())
	if err != nil {
		return unprocessable(err)
	}
	tally, err := h.queue.Count(r.Context(), f)
	if err != nil {
		return err
	}
	response.JSON(w, r, http.StatusOK, taskCount{tally.N, optional(tally.Next)})
	return nil
}

// maxBulk is the size of the largest body of a bulk act: the versions and the ids of bulk.MaxTasks tasks, which
// are UUIDs.
const maxBulk = 4 * request.MaxSmall

// bulk changes the tasks that match a filter, or counts them.
func (h *operatorHandler) bulk(w http.ResponseWriter, r *http.Request, caller access.Caller) error {
	body, err := request.ReadOperatorObject(w, r, maxBulk)
	if err != nil {
		return err
	}
	act, dry, err := h.act(body)
	if err != nil {
		return unprocessable(err)
	}
	if dry {
		f, err := bulk.Bounded(r.Context(), h.queue, act.Filter)
		if err != nil {
			return err
		}
		tally, err := h.queue.Count(r.Context(), f)
		if err != nil {
			return err
		}
		response.JSON(w, r, http.StatusOK, dryRun{taskCount{tally.N, optional(tally.Next)}, optional(f.Before)})
		return nil
	}
	act.By = cmp.Or(caller.Name, "somebody on this machine")
	result, err := bulk.Operator{Queue: h.queue, Observe: h.observe, Log: h.log}.Step(r.Context(), act)
	if err != nil && result.Changed == 0 {
		return err
	}
	out := bulkResult{Changed: result.Changed, Skipped: result.Skipped, Failed: result.Failed, Skips: failures(result.Skips), Failures: failures(result.Failures), Next: optional(result.Next)}
	if err != nil { // the caller must learn what was done
		out.Error = errorOf(err).Detail
	}
	response.JSON(w, r, http.StatusOK, out)
	return nil
}

// failures returns the tasks that were not changed, with the answer to a request for each alone; never nil.
func failures(list []bulk.Failure) []bulkFailure {
	out := make([]bulkFailure, 0, len(list))
	for _, f := range list {
		out = append(out, bulkFailure{f.ID, errorOf(f.Err).Detail})
	}
	return out
}

// act returns the act that a body describes, and whether it is a dry run.
func (h *operatorHandler) act(body request.Object) (a bulk.Act, dry bool, err error) {
	var in struct {
		Verb   bulk.Verb                  `json:"verb"`
		Filter map[string]json.RawMessage `json:"filter"`
		IDs    []string                   `json:"ids"`
		Tasks  []struct {
			ID      string `json:"task_id"`
			Version string `json:"version"` // as the sender saw the task; empty: any
		} `json:"tasks"`
		Reason string `json:"reason"`
		Limit  *int   `json:"limit"` // nil: as many as one answer allows
		Before int64  `json:"before"`
		DryRun bool   `json:"dry_run"`
	}
	if err := decodeStrict(body.Data, &in); err != nil {
		return a, false, err
	}
	v := url.Values{}
	for key, value := range in.Filter {
		var text string
		if json.Unmarshal(value, &text) != nil {
			var n int64
			if err := json.Unmarshal(value, &n); err != nil {
				return a, false, errors.New("filter: want an object of texts and numbers")
			}
			text = strconv.FormatInt(n, 10)
		}
		v.Set(key, text)
	}
	a = bulk.Act{Verb: in.Verb, Reason: in.Reason}
	if in.IDs != nil || in.Tasks != nil {
		a.Tasks = []queue.Seen{}
	}
	for _, id := range in.IDs {
		a.Tasks = append(a.Tasks, queue.Seen{ID: id})
	}
	for _, t := range in.Tasks {
		seen, err := taskjson.Seen(t.ID, t.Version)
		if err != nil {
			return a, false, fmt.Errorf("tasks: %w", err)
		}
		a.Tasks = append(a.Tasks, seen)
	}
	if in.Limit != nil {
		a.Limit = *in.Limit
	}
	if a.Filter, err = h.filter.ParseAll(v); err != nil {
		return a, false, err
	}
	if a.Filter.Limit != 0 || a.Filter.Before != 0 {
		return a, false, errors.New("filter: before and limit are fields beside the filter")
	}
	switch {
	case in.Filter == nil && a.Tasks == nil:
		return a, false, errors.New("want a filter, tasks or ids")
	case a.Tasks != nil && (in.Filter != nil || in.DryRun):
		return a, false, errors.New("with tasks or ids, there is no filter and no dry_run")
	case in.Limit != nil && a.Limit < 1:
		return a, false, fmt.Errorf("limit: want 1 or more, got %d", a.Limit)
	case in.Before < 0:
		return a, false, errors.New("want a before of 0 or more")
	}
	a.Filter.Before = in.Before
	a, err = a.Check()
	return a, in.DryRun, err
}

// optional returns a pointer to n, or nil for 0.
func optional(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

// unprocessable returns the answer to a filter or an act with mistakes.
func unprocessable(err error) error {
	return &response.Error{Status: http.StatusUnprocessableEntity, Detail: err.Error()}
}

// decodeStrict decodes a JSON object, and refuses unknown fields: a misspelt one would change other tasks
// than its sender wanted.
func decodeStrict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: want another type than %s", kind.Field, kind.Value)
	}
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
