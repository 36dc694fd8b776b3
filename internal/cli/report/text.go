package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/draft"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/grants"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// verdict colours a word by its meaning: green for done, yellow for skipped and for proposed, red for
// failed.
func verdict(p format.Painter, s string) string {
	switch s {
	case "do", "done", "applied", "planned", "dry_run":
		return p.Paint("32", s)
	case "refuse", "failed", "partial":
		return p.Paint("31", s)
	}
	return p.Paint("33", s)
}

// Text renders a report for a person. It sanitizes untrusted text for terminals.
func Text(res Result, p format.Painter) string {
	rep := res.Report
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s%s\n", name, value)
		}
	}
	fmt.Fprintf(&b, "%s  %s\n", p.Bold(fmt.Sprintf("%s#%d", sanitize.Line(rep.Repo), rep.Issue)), sanitize.Line(rep.Title))
	line("event", sanitize.Line(rep.Event))
	line("decision", p.Bold(string(rep.Decision)))
	line("why", sanitize.Line(rep.Rationale))
	line("by", sanitize.Line(rep.By))
	if rep.ReadAgain != "" {
		line("issue", "read again, because "+rep.ReadAgain)
	}
	if len(rep.Actions) > 0 {
		b.WriteString("\nplan\n")
		printActions(&b, rep, p)
	}
	if len(rep.Undecided) > 0 {
		b.WriteString("\nunknown here\n")
		for _, u := range rep.Undecided {
			fmt.Fprintf(&b, "  %s %-20s %s\n", p.Paint("33", "?"), sanitize.Line(u.ID), sanitize.Line(u.Why))
			fmt.Fprintf(&b, "    %s\n", p.Faint("to decide it: "+sanitize.Line(draft.Supplies(u.Missing))))
		}
	}
	if len(rep.Rules) > 0 {
		b.WriteString("\nrules\n")
		for _, t := range rep.Rules {
			mark := p.Faint("-")
			switch {
			case t.Fired:
				mark = p.Paint("32", "+")
			case slices.ContainsFunc(rep.Undecided, func(u runner.Undecided) bool { return u.ID == t.ID }):
				mark = p.Paint("33", "?")
			}
			fmt.Fprintf(&b, "  %s %-20s %s\n", mark, t.ID, p.Faint(sanitize.Line(t.Why)))
		}
	}
	b.WriteString("\n")
	line("status", verdict(p, string(rep.Status)))
	if rep.Reason != rep.Rationale {
		line("reason", sanitize.Line(rep.Reason))
	}
	line("proposed", strings.ReplaceAll(answers(reportsOf(res)...), "`", ""))
	line("note", closingNote(res))
	line("hint", sanitize.Line(res.Hint))
	for _, warning := range rep.Warnings {
		line("warning", sanitize.Log(warning))
	}
	if len(rep.Missing) > 0 {
		b.WriteString("\n" + grants.Help(res.Needs, rep.Missing) + "\n")
	}
	return b.String()
}

func closingNote(res Result) string {
	planned := res.Report.Status == runner.StatusDryRun || res.Report.Status == runner.StatusIncomplete
	switch {
	case res.NoConfig:
		return fmt.Sprintf("%s: %v; foreman init creates one, or give --rules FILE or --agent URL", config.DefaultPath, config.ErrNotFound)
	case planned && res.Described:
		return "nothing was written: the issue is not on GitHub"
	case planned && res.Shadow:
		return "nothing was written, because the configuration has mode: shadow; with mode: apply, --apply writes"
	case planned:
		return "nothing was written; --apply carries the plan out"
	}
	return ""
}

func printActions(b *strings.Builder, rep runner.Report, p format.Painter) {
	for _, a := range rep.Actions {
		state := a.State.Result()
		if a.Verdict != triage.Do || a.State == triage.Planned {
			state = string(a.Verdict)
		}
		// Colour codes have no width, so the padding is computed from the plain text.
		pad := strings.Repeat(" ", max(0, 8-len(state)))
		fmt.Fprintf(b, "  %d. %s%s %s  %s\n", a.Index+1, verdict(p, state), pad, p.Bold(text.Shorten(sanitize.Line(a.Action.Type), 40)), whatOf(a.Action))
		fmt.Fprintf(b, "     %s\n", p.Faint(sanitize.Line(strings.Join(format.NonEmpty(append(notes(a), a.URL)...), ", "))))
		for _, w := range why(a) {
			fmt.Fprintf(b, "     %s\n", p.Faint(sanitize.Line(w)))
		}
	}
}

// whatOf returns the parameters of an action in a short form, without why it is requested and how sure
// its source is.
func whatOf(a protocol.ActionItem) string {
	var parts []string
	for _, name := range a.ParamNames() {
		if slices.Contains(protocol.IntentParams(), name) {
			continue
		}
		if list, ok, err := a.Texts(name); ok && err == nil {
			parts = append(parts, text.Shorten(sanitize.Line(strings.Join(list, ", ")), 100))
			continue
		}
		raw, _ := a.Param(name)
		parts = append(parts, text.Shorten(sanitize.Line(name+" "+string(raw)), 100))
	}
	return strings.Join(parts, "; ")
}
