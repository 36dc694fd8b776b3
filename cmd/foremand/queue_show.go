package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/executor"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

// story tells people what became of a task.
func story(d queue.Details) string {
	var b strings.Builder
	line := func(key, value string) {
		if value = short(value, 300); value != "" {
			fmt.Fprintf(&b, "%-9s %s\n", key, value)
		}
	}
	var r executor.Report
	if len(d.Report) > 0 && json.Unmarshal(d.Report, &r) != nil {
		r.Reason = "the report cannot be read; --json shows it"
	}
	line("task", d.ID)
	line("issue", fmt.Sprintf("%s#%d  %s", d.Repo, d.Issue, r.Title))
	line("event", r.Event)
	line("agent", d.Agent)
	line("state", stateWords(d.Info))
	line("enqueued", d.Enqueued.UTC().Format(time.DateTime))
	if r.Status != "" {
		b.WriteByte('\n')
		line("decision", string(r.Decision))
		line("why", r.Rationale)
		line("by", r.By)
		line("outcome", outcome(r))
	}
	line("reason", cmp.Or(r.Reason, d.Reason))
	for _, w := range r.Warnings {
		line("warning", w)
	}
	plan(&b, r.Actions)
	journey(&b, d.Log)
	return b.String()
}

func outcome(r executor.Report) string {
	if r.DryRun {
		return "dry run: nothing was written"
	}
	return fmt.Sprintf("%s (%d written)", r.Status, r.Executed)
}

// plan lists the actions with what became of each.
func plan(b *strings.Builder, actions []executor.ActionReport) {
	if len(actions) > 0 {
		b.WriteString("\nplan\n")
	}
	for _, a := range actions {
		fmt.Fprintf(b, "  %d. %-8s %s", a.Index+1, short(string(a.Verdict), 8), short(a.Type, 40))
		for _, part := range []string{parameters(a.Action), result(a)} {
			if part != "" {
				fmt.Fprintf(b, "  %s", short(part, 120))
			}
		}
		if a.Reason != "" {
			fmt.Fprintf(b, ": %s", short(a.Reason, 200))
		}
		b.WriteByte('\n')
	}
}

// result is what became of an action that was to be done.
func result(a executor.ActionReport) string {
	if a.Result == triage.Skipped.Result() {
		return ""
	}
	return a.Result
}

// parameters are those of an action, without its type: a single text as it is, anything
// else as JSON.
func parameters(action json.RawMessage) string {
	var all map[string]json.RawMessage
	if json.Unmarshal(action, &all) != nil {
		return ""
	}
	delete(all, "type")
	for _, only := range all {
		var text string
		if len(all) == 1 && json.Unmarshal(only, &text) == nil {
			return text
		}
	}
	out, err := json.Marshal(all)
	if err != nil {
		return ""
	}
	return string(out)
}

// journey lists what the queue has noted.
func journey(b *strings.Builder, log []queue.Entry) {
	if len(log) > 0 {
		b.WriteString("\nlog\n")
	}
	for _, e := range log {
		fmt.Fprintf(b, "  %s  %s\n", e.At.UTC().Format(time.DateTime), short(strings.Join([]string{e.What, e.Who, e.Text}, "  "), 300))
	}
}

// short makes one line of what others wrote, of at most n characters.
func short(s string, n int) string {
	r := []rune(sanitize.Line(s))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}
