package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/internal/server/taskjson"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// showOptions are all that the command show depends on.
type showOptions struct {
	*sharedOptions
	Task   string // its ID, or its issue as owner/name#7
	Newest bool   // show the newest task instead
}

func showCommand(shared *sharedOptions) *cobra.Command {
	o := showOptions{sharedOptions: shared}
	return &cobra.Command{
		Use:   "show [TASK]",
		Short: "Show the history of a task, by default the newest one; with --json all stored data",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if o.Newest = len(args) == 0; !o.Newest {
				o.Task = args[0]
			}
			return runShow(c.Context(), o)
		},
	}
}

// runShow prints a task.
func runShow(ctx context.Context, o showOptions) error {
	return o.with(ctx, func(q database.Store) error {
		t, err := find(ctx, q, o.Task, nil)
		if err != nil {
			return err
		}
		id := t.ID
		if o.Newest {
			list, err := queue.List(ctx, q, queue.Filter{Limit: 1})
			if err != nil {
				return err
			}
			if len(list) == 0 {
				return errors.New("there is no task yet")
			}
			id = list[0].ID
		}
		d, err := q.Inspect(ctx, id)
		if err != nil {
			return err
		}
		if o.JSON {
			return printDetailsJSON(o.Env.Stdout, d)
		}
		pauses, err := q.ListPauses(ctx, false)
		if err != nil {
			return err
		}
		why, err := waits(ctx, q, pauses, d.Info)
		if err != nil {
			return err
		}
		_, err = io.WriteString(o.Env.Stdout, story(d, why, o.Env.Now()))
		return err
	})
}

// story returns the course of a task for people. waits is what it waits for; empty: for nothing.
func story(d queue.Details, waits string, now time.Time) string {
	var b strings.Builder
	line := func(key, value string) {
		if value = short(value, 300); value != "" {
			fmt.Fprintf(&b, "%-9s %s\n", key, value)
		}
	}
	var r runner.Report
	if len(d.Report) > 0 && json.Unmarshal(d.Report, &r) != nil {
		r.Reason = "the report cannot be read; --json shows it"
	}
	line("task", d.ID)
	line("issue", fmt.Sprintf("%s#%d  %s", d.Repo, d.Issue, cmp.Or(r.Title, title(d))))
	line("event", r.Event)
	line("agent", d.Agent)
	line("state", stateText(d.Info, now))
	line("version", taskjson.Version(d.Seen()))
	line("waits", waits)
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
	history(&b, d.Log)
	return b.String()
}

func outcome(r runner.Report) string {
	if r.DryRun {
		return "dry run: nothing was written"
	}
	if r.Suggested > 0 {
		return fmt.Sprintf("%s (%d written, %d proposed)", r.Status, r.Executed, r.Suggested)
	}
	return fmt.Sprintf("%s (%d written)", r.Status, r.Executed)
}

// plan lists the actions with their results.
func plan(b *strings.Builder, actions []triage.ActionResult) {
	if len(actions) > 0 {
		b.WriteString("\nplan\n")
	}
	for _, a := range actions {
		fmt.Fprintf(b, "  %d. %-8s %s", a.Index+1, short(string(a.Verdict), 8), short(a.Action.Type, 40))
		for _, part := range []string{parameters(a.Action), result(a)} {
			if part != "" {
				fmt.Fprintf(b, "  %s", short(part, 120))
			}
		}
		if a.Reason != "" {
			fmt.Fprintf(b, ": %s", short(a.Reason, 200))
		}
		b.WriteByte('\n')
		if about := proposal(a); about != "" {
			fmt.Fprintf(b, "     %s\n", short(about, 400))
		}
	}
}

// proposal describes the proposal of an action: its number, how sure its source is and why it is requested,
// and who accepted it. It is empty if the action was never proposed.
func proposal(a triage.ActionResult) string {
	var parts []string
	if a.Proposal > 0 {
		parts = append(parts, fmt.Sprintf("proposal %d", a.Proposal))
	}
	if a.AcceptedBy != "" {
		parts = append(parts, "accepted by "+a.AcceptedBy)
	}
	if a.Verdict != triage.Suggest && len(parts) == 0 {
		return ""
	}
	if a.Confidence != "" {
		parts = append(parts, "confidence "+string(a.Confidence))
	}
	if a.Rationale != "" {
		parts = append(parts, a.Rationale)
	}
	return strings.Join(parts, ", ")
}

// result returns the result of an action; empty for one that was skipped.
func result(a triage.ActionResult) string {
	if r := a.State.Result(); r != triage.Skipped.Result() {
		return r
	}
	return ""
}

// parameters returns the parameters of an action: a single text unchanged, others as JSON.
func parameters(a protocol.ActionItem) string {
	names := a.ParamNames()
	if len(names) == 1 {
		if text, ok, err := a.Text(names[0]); ok && err == nil {
			return text
		}
	}
	all := map[string]json.RawMessage{}
	for _, name := range names {
		all[name], _ = a.Param(name)
	}
	out, err := json.Marshal(all)
	if err != nil || len(all) == 0 {
		return ""
	}
	return string(out)
}

// history lists the entries of the queue's log.
func history(b *strings.Builder, log []queue.Entry) {
	if len(log) > 0 {
		b.WriteString("\nlog\n")
	}
	for _, e := range log {
		fmt.Fprintf(b, "  %s  %s\n", e.At.UTC().Format(time.DateTime), short(strings.Join([]string{e.What, e.Who, e.Text}, "  "), 300))
	}
}

// short makes one line of untrusted text, of at most n characters.
func short(s string, n int) string { return text.Shorten(sanitize.Line(s), n) }
