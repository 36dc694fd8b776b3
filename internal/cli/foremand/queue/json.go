package queue

import (
	"encoding/json"
	"io"
	"time"

	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/server/taskjson"
	"github.com/org/foreman-action/queue"
)

// printListJSON prints tasks, the number before which there may be more (0: there are none), and the
// counts of all tasks.
func printListJSON(w io.Writer, list []queue.Info, next int64, stats queue.Stats) error {
	document := map[string]any{"tasks": taskjson.List(list), "states": stats.States}
	if next > 0 {
		document["next"] = next
	}
	return printJSON(w, document)
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
		taskjson.Task
		Message any     `json:"message"`
		Origin  any     `json:"origin"`
		Result  any     `json:"result"`
		Report  any     `json:"report"`
		Log     []entry `json:"log"`
	}{taskjson.Of(d.Info), raw(d.Message), raw(d.Origin), raw(d.Result), raw(d.Report), log})
}

// printJSON prints a value that contains untrusted text.
func printJSON(w io.Writer, v any) error {
	_, err := io.WriteString(w, format.JSON(v, "  ")+"\n")
	return err
}
