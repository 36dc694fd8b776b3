package app

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// A painter colours text for terminals, or leaves it.
type painter struct{ on bool }

func (p painter) paint(code, s string) string {
	if !p.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p painter) bold(s string) string  { return p.paint("1", s) }
func (p painter) faint(s string) string { return p.paint("2", s) }

// verdict colours a word by what it means: green goes, yellow stays, red is bad.
func (p painter) verdict(s string) string {
	switch s {
	case "do", "done", "applied", "planned", "dry_run":
		return p.paint("32", s)
	case "refuse", "failed", "partial":
		return p.paint("31", s)
	}
	return p.paint("33", s)
}

// printReport writes a report for a person. Foreign text is made harmless for
// terminals first.
func printReport(w io.Writer, res result, p painter) error {
	rep := res.report
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s%s\n", name, value)
		}
	}
	fmt.Fprintf(&b, "%s  %s\n", p.bold(fmt.Sprintf("%s#%d", sanitize.Line(rep.Repo), rep.Issue)), sanitize.Line(rep.Title))
	line("event", sanitize.Line(rep.Event))
	line("decision", p.bold(string(rep.Decision)))
	line("why", sanitize.Line(rep.Rationale))
	line("by", sanitize.Line(rep.By))
	if len(rep.Actions) > 0 {
		b.WriteString("\nplan\n")
		printActions(&b, rep, p)
	}
	if ts := traces(rep); len(ts) > 0 {
		b.WriteString("\nrules\n")
		for _, t := range ts {
			mark := p.faint("-")
			if t.fired {
				mark = p.paint("32", "+")
			}
			fmt.Fprintf(&b, "  %s %-20s %s\n", mark, t.id, p.faint(sanitize.Line(t.why)))
		}
	}
	b.WriteString("\n")
	line("status", p.verdict(string(rep.Status)))
	if rep.Reason != rep.Rationale {
		line("reason", sanitize.Line(rep.Reason))
	}
	line("note", closingNote(res))
	for _, warning := range rep.Warnings {
		line("warning", sanitize.Log(warning))
	}
	if len(rep.Missing) > 0 {
		b.WriteString("\n" + permissionsHelp(res.needs, rep.Missing) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func closingNote(res result) string {
	switch {
	case res.noConfig:
		return "there are no rules and no agent: give --rules FILE or --agent URL, or write " + config.DefaultPath
	case res.report.Status == runner.StatusDryRun:
		return "nothing was written; --apply carries the plan out"
	}
	return ""
}

func printActions(b *strings.Builder, rep runner.Report, p painter) {
	for _, a := range rep.Actions {
		state := a.State.Result()
		if a.Verdict != triage.Do || a.State == triage.Planned {
			state = string(a.Verdict)
		}
		// The colour codes must not count for the width.
		pad := strings.Repeat(" ", max(0, 8-len(state)))
		fmt.Fprintf(b, "  %d. %s%s %s  %s\n", a.Index+1, p.verdict(state), pad, p.bold(clip(sanitize.Line(a.Action.Type), 40)), whatOf(a.Action))
		fmt.Fprintf(b, "     %s\n", p.faint(strings.Join(nonEmpty(sanitize.Line(a.Reason), "by "+sanitize.Line(a.Source.String()), sanitize.Line(a.URL)), ", ")))
	}
}

func nonEmpty(list ...string) []string {
	out := list[:0]
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// whatOf shows the parameters of an action in short.
func whatOf(a protocol.ActionItem) string {
	var parts []string
	for _, name := range a.ParamNames() {
		if list, ok, err := a.Texts(name); ok && err == nil {
			parts = append(parts, clip(sanitize.Line(strings.Join(list, ", ")), 100))
			continue
		}
		raw, _ := a.Param(name)
		parts = append(parts, clip(sanitize.Line(name+" "+string(raw)), 100))
	}
	return strings.Join(parts, "; ")
}

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

const permissionsLack = "The token lacks a permission. Give the job this block:"

// permissionsHelp says what to paste into the workflow.
func permissionsHelp(needs, missing []string) string {
	block := strings.TrimSuffix(permissionsBlock(needs, missing), "\n")
	return permissionsLack + "\n\n    " + strings.ReplaceAll(block, "\n", "\n    ")
}

// permissionsBlock is the exact block: what it does not name, the token does not get.
func permissionsBlock(needs, missing []string) string {
	var b strings.Builder
	b.WriteString("permissions:\n")
	levels := map[string]string{}
	for _, need := range slices.Concat(needs, missing) {
		name, level, _ := strings.Cut(need, ": ")
		if levels[name] != "write" {
			levels[name] = level
		}
	}
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		fmt.Fprintf(&b, "  %s: %s\n", name, levels[name])
	}
	return b.String()
}
