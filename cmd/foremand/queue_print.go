package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/org/foreman-action/internal/duration"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/queue"
)

// A row is a task as it is printed in JSON. The form is kept: fields are only added.
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
		Owner: t.Owner, Attempt: t.Attempt, Tries: t.Tries, Priority: t.Priority, Reason: t.Reason, Enqueued: t.Enqueued.UTC(),
		Ready: at(t.Ready), Claimed: at(t.Claimed), Until: at(t.Until), Completed: at(t.Completed), Ended: at(t.Ended),
	}
}

func (i *inspection) printList(list []queue.Info, stats queue.Stats) error {
	if i.asJSON {
		rows := make([]row, 0, len(list))
		for _, t := range list {
			rows = append(rows, rowOf(t))
		}
		return i.printJSON(map[string]any{"tasks": rows, "states": stats.States})
	}
	w := tabwriter.NewWriter(i.p.stdout, 0, 0, 2, ' ', 0)
	if len(list) > 0 {
		fmt.Fprintln(w, "TASK\tSTATE\tISSUE\tAGENT\tENQUEUED\tREASON")
	}
	for _, t := range list {
		fmt.Fprintf(w, "%s\t%s\t%s#%d\t%s\t%s\t%s\n", sanitize.Line(t.ID), stateWords(t), sanitize.Line(t.Repo), t.Issue,
			cmp.Or(sanitize.Line(t.Agent), "-"), t.Enqueued.UTC().Format(time.DateTime), sanitize.Line(t.Reason))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	var counts []string
	for _, s := range queue.States() {
		counts = append(counts, fmt.Sprintf("%d %s", stats.States[s], s))
	}
	_, err := fmt.Fprintf(i.p.stdout, "%s; %d held back\n", strings.Join(counts, ", "), stats.Held)
	return err
}

func stateWords(t queue.Info) string {
	switch {
	case t.Held:
		return string(t.State) + ", held"
	case t.Draining:
		return string(t.State) + ", being carried out"
	}
	return string(t.State)
}

// printDetails prints all that is kept of a task, as JSON: texts in it are somebody else's.
func (i *inspection) printDetails(d queue.Details) error {
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
	return i.printJSON(struct {
		row
		Message any     `json:"message"`
		Origin  any     `json:"origin"`
		Result  any     `json:"result"`
		Report  any     `json:"report"`
		Log     []entry `json:"log"`
	}{rowOf(d.Info), raw(d.Message), raw(d.Origin), raw(d.Result), raw(d.Report), log})
}

func parseAge(s string) (time.Duration, error) {
	d, err := duration.Parse(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("want an age such as 30d or 12h, got %q", s)
	}
	return d, nil
}
