// Package export writes tasks as JSON lines, one object a line, for other programs.
package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
	"github.com/org/foreman-action/runner"
)

// pageSize is how many tasks are read at a time.
const pageSize = 200

// Options configure an export.
type Options struct {
	// Filter selects the tasks. Limit is the number of tasks; 0: all. Tasks that are enqueued during
	// the export are not part of it, because it goes from the newest task to older ones.
	Filter queue.Filter
	// Payload adds the message, the origin and the agent's decision.
	Payload bool
	// Flush is called after each page, if it is not nil. An error ends the export.
	Flush func() error
}

// A Result is how far an export came, also after an error.
type Result struct {
	Lines int
	// Last is the number of the last task that was written. Filter.Before continues after it. 0: none.
	Last int64
}

// A line is a task. The format is stable: new versions only add fields. A time or a duration is
// missing if the task did not get that far.
type line struct {
	Seq       int64     `json:"seq"` // continue with before=…
	ID        string    `json:"task_id"`
	State     string    `json:"state"`
	Agent     string    `json:"agent"`
	Repo      string    `json:"repo"`
	Issue     int       `json:"issue"`
	Held      bool      `json:"held,omitempty"`
	Attempt   int       `json:"attempt"`
	Tries     int       `json:"tries"`
	Asks      int       `json:"asks"`
	Priority  int       `json:"priority"`
	Reason    string    `json:"reason,omitempty"`
	Enqueued  time.Time `json:"enqueued"`
	Claimed   time.Time `json:"claimed,omitzero"`
	Completed time.Time `json:"completed,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
	Waiting   *float64  `json:"waiting_seconds,omitempty"`  // enqueued until claimed
	Deciding  *float64  `json:"deciding_seconds,omitempty"` // claimed until completed
	Applying  *float64  `json:"applying_seconds,omitempty"` // completed until ended
	Outcome   string    `json:"outcome,omitempty"`          // of a task that ended
	Decision  string    `json:"decision,omitempty"`
	By        string    `json:"by,omitempty"` // who decided
	Executed  int       `json:"executed"`     // actions carried out
	Actions   []action  `json:"actions"`

	*payload
}

// An action is one of the report.
type action struct {
	Type   string `json:"type"`
	Result string `json:"result"` // such as "done", "none" or "failed"
	Source string `json:"source,omitempty"`
	Reason string `json:"reason,omitempty"`
	URL    string `json:"url,omitempty"`
}

// A payload has the texts of a task. A text that is not JSON is a string.
type payload struct {
	Message any `json:"message"`
	Origin  any `json:"origin"`
	Result  any `json:"result"`
}

// Write writes the tasks that match, the newest first. It keeps one page of tasks, and the texts of
// one task, in memory. Tasks that are deleted meanwhile are left out.
func Write(ctx context.Context, w io.Writer, q queue.Queue, o Options) (r Result, err error) {
	f := o.Filter
	left := f.Limit
	for {
		f.Limit = pageSize
		if left > 0 {
			f.Limit = min(pageSize, left-r.Lines)
		}
		page, err := q.Search(ctx, f)
		if err != nil {
			return r, fmt.Errorf("read tasks: %w", err)
		}
		for _, t := range page.Tasks {
			switch err := write(ctx, w, q, t, o.Payload); {
			case errors.Is(err, queue.ErrNotFound):
				continue
			case err != nil:
				return r, err
			}
			r.Lines, r.Last = r.Lines+1, t.Seq
		}
		if o.Flush != nil {
			if err := o.Flush(); err != nil {
				return r, err
			}
		}
		if f.Before = page.Next; f.Before == 0 || left > 0 && r.Lines >= left {
			return r, nil
		}
	}
}

// write writes the line of one task.
func write(ctx context.Context, w io.Writer, q queue.Queue, t queue.Info, texts bool) error {
	d, err := q.Inspect(ctx, t.ID)
	if err != nil {
		return err
	}
	data, err := encode(d, texts)
	if err != nil {
		return fmt.Errorf("write task %s: %w", t.ID, err)
	}
	_, err = w.Write(data)
	return err
}

// encode returns the line of a task. It is valid UTF-8 without line breaks or characters that control
// a terminal, whatever the texts of the task contain.
func encode(d queue.Details, texts bool) ([]byte, error) {
	l := line{
		Seq: d.Seq, ID: d.ID, State: string(d.State), Agent: d.Agent, Repo: d.Repo, Issue: d.Issue, Held: d.Held,
		Attempt: d.Attempt, Tries: d.Tries, Asks: d.Asks, Priority: d.Priority, Reason: d.Reason,
		Enqueued: d.Enqueued.UTC(), Claimed: d.Claimed.UTC(), Completed: d.Completed.UTC(), Ended: d.Ended.UTC(),
		Waiting: between(d.Enqueued, d.Claimed), Deciding: between(d.Claimed, d.Completed), Applying: between(d.Completed, d.Ended),
		Actions: []action{},
	}
	if !d.Ended.IsZero() {
		l.Outcome = string(history.OutcomeOf(d.Info, d.Report))
	}
	var report runner.Report
	if d.Report != nil && json.Unmarshal(d.Report, &report) == nil {
		l.Decision, l.By, l.Executed = string(report.Decision), report.By, report.Executed
		for _, a := range report.Actions {
			l.Actions = append(l.Actions, action{a.Action.Type, a.State.Result(), a.Source.String(), a.Reason, a.URL})
		}
	}
	if texts {
		l.payload = &payload{raw(d.Message), raw(d.Origin), raw(d.Result)}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(l); err != nil {
		return nil, err
	}
	return printable(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// raw returns a stored text as JSON, or as a string if it is not JSON.
func raw(b []byte) any {
	switch {
	case len(b) == 0:
		return nil
	case json.Valid(b):
		return json.RawMessage(b)
	}
	return string(b)
}

// printable escapes the characters of a JSON text that are not graphic, and ends the line. Such
// characters occur only in strings.
func printable(data []byte) []byte {
	out := make([]byte, 0, len(data)+1)
	for _, r := range string(data) { // bytes that are not UTF-8 are U+FFFD here
		if r == ' ' || unicode.IsGraphic(r) {
			out = append(out, string(r)...)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, "\\u%04x", unit)
		}
	}
	return append(out, '\n')
}

// between returns the seconds from one time to another, at least 0; nil: one of them is not known.
func between(from, to time.Time) *float64 {
	if from.IsZero() || to.IsZero() {
		return nil
	}
	s := max(0, to.Sub(from)).Seconds()
	return &s
}
