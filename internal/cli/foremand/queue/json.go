package queue

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/org/foreman-action/queue"
)

// A row is a task in the printed JSON. The format is stable: new versions only add fields.
type row struct {
	ID        string     `json:"task_id"`
	State     string     `json:"state"`
	Agent     string     `json:"agent"`
	Repo      string     `json:"repo"`
	Issue     int        `json:"issue"`
	Held      bool       `json:"held"`
	Behind    string     `json:"behind,omitempty"`
	Draining  bool       `json:"draining"`
	Owner     string     `json:"owner,omitempty"`
	Attempt   int        `json:"attempt"`
	Tries     int        `json:"tries"`
	Asks      int        `json:"asks"` // how often the agent was called again
	Priority  int        `json:"priority"`
	Reason    string     `json:"reason,omitempty"`
	Enqueued  time.Time  `json:"enqueued"`
	Ready     *time.Time `json:"ready,omitempty"`
	Claimed   *time.Time `json:"claimed,omitempty"`
	Until     *time.Time `json:"until,omitempty"`
	Completed *time.Time `json:"completed,omitempty"`
	Ended     *time.Time `json:"ended,omitempty"`
}

func rowOf(t queue.Info) row {
	at := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		t = t.UTC()
		return &t
	}
	return row{
		ID: t.ID, State: string(t.State), Agent: t.Agent, Repo: t.Repo, Issue: t.Issue, Held: t.Held, Behind: t.Behind, Draining: t.Draining,
		Owner: t.Owner, Attempt: t.Attempt, Tries: t.Tries, Asks: t.Asks, Priority: t.Priority, Reason: t.Reason, Enqueued: t.Enqueued.UTC(),
		Ready: at(t.Ready), Claimed: at(t.Claimed), Until: at(t.Until), Completed: at(t.Completed), Ended: at(t.Ended),
	}
}

// printListJSON prints tasks and the counts of all tasks.
func printListJSON(w io.Writer, list []queue.Info, stats queue.Stats) error {
	rows := make([]row, 0, len(list))
	for _, t := range list {
		rows = append(rows, rowOf(t))
	}
	return printJSON(w, map[string]any{"tasks": rows, "states": stats.States})
}

// printDetailsJSON prints all stored data of a task.
func printDetailsJSON(w io.Writer, d queue.Details) error {
	raw := func(b []byte) any {
		switch {
		case len(b) == 0:
			return nil
		case json.Valid(b):
			return json.RawMessage(b)
		}
		return string(b)
	}
	type entry struct {
		At   time.Time `json:"at"`
		What string    `json:"what"`
		Who  string    `json:"who,omitempty"`
		Text string    `json:"text,omitempty"`
	}
	log := make([]entry, 0, len(d.Log))
	for _, e := range d.Log {
		log = append(log, entry{e.At.UTC(), e.What, e.Who, e.Text})
	}
	return printJSON(w, struct {
		row
		Message any     `json:"message"`
		Origin  any     `json:"origin"`
		Result  any     `json:"result"`
		Report  any     `json:"report"`
		Log     []entry `json:"log"`
	}{rowOf(d.Info), raw(d.Message), raw(d.Origin), raw(d.Result), raw(d.Report), log})
}

// printJSON prints a value that contains untrusted text. Characters that control a terminal
// or reverse the direction of text are escaped, also where JSON does not require it.
func printJSON(w io.Writer, v any) error {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	var out strings.Builder
	for _, r := range b.String() { // bytes that are not UTF-8 are U+FFFD here
		if r == '\n' || r == ' ' || unicode.IsGraphic(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&out, "\\u%04x", unit)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}
