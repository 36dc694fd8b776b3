package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/grants"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner"
)

// Summary is the job summary: the decision, its reason and its result, with the version of the
// program and the error of the run, which may be nil.
func Summary(res Result, version string, err error) string {
	rep := res.Report
	var b strings.Builder
	b.WriteString(headline(rep) + "\n\n")
	writeWhy(&b, rep, err)
	if rep.ReadAgain != "" {
		b.WriteString("The issue was read again, because " + rep.ReadAgain + ".\n\n")
	}
	if res.Survey != nil {
		surveyTable(&b, res)
	}
	if len(rep.Actions) > 0 {
		actionTable(&b, rep)
	}
	if how := answers(reportsOf(res)...); how != "" {
		b.WriteString(how + "\n\n")
	}
	if res.ReadOnly() {
		b.WriteString(ForkAdvice + ".\n\n")
	} else if len(rep.Missing) > 0 {
		b.WriteString(grants.Lack + "\n\n" + sanitize.Fence(grants.Block(res.Needs, rep.Missing), "yaml") + "\n\n")
	}
	if res.Review != "" {
		b.WriteString(res.Review + "\n\n")
	}
	for _, w := range rep.Warnings {
		b.WriteString("⚠️ " + sanitize.Markdown(w) + "\n\n")
	}
	if len(rep.Rules) > 0 {
		ruleTable(&b, rep.Rules)
	}
	writeParts(&b, rep.Why)
	if res.NoConfig {
		b.WriteString("There is no `" + config.DefaultPath + "` and no agent, so nothing was decided.")
		if res.Starter != "" {
			b.WriteString(" A file to start with, which writes nothing until it has `mode: apply`:\n\n" + sanitize.Fence(res.Starter, "yaml"))
		}
		if len(res.Others) > 0 {
			b.WriteString("\n\n" + otherTools(res.Others))
		}
		b.WriteString("\n\n")
	}
	b.WriteString(footer(rep, version))
	return b.String()
}

// otherTools says how the configurations of other tools become rules.
func otherTools(actions []string) string {
	what := "its configuration"
	if len(actions) > 1 {
		what = "their configurations"
	}
	return "This repository also runs " + strings.Join(actions, ", ") + ": `foreman init` turns " + what + " into rules."
}

// writeWhy writes the reason of the decision, or the error: mistakes in a file with their
// lines.
func writeWhy(b *strings.Builder, rep runner.Report, err error) {
	if ps := failure.Problems(err); ps != nil {
		b.WriteString(sanitize.Fence(text.Shorten(ps.Error(), 20_000), "") + "\n\n")
		return
	}
	_, failed := errors.AsType[*rules.EvalError](err)
	if failed {
		b.WriteString(sanitize.Fence(text.Shorten(err.Error(), 4000), "") + "\n\n")
	}
	if rep.Rationale != "" {
		b.WriteString("> " + strings.ReplaceAll(sanitize.Markdown(text.Shorten(rep.Rationale, 2000)), "\n", "\n> ") + "\n\n")
	}
	if rep.Reason != "" && rep.Reason != rep.Rationale && !failed {
		b.WriteString(sanitize.Markdown(text.Shorten(rep.Reason, 4000)) + "\n\n")
	}
}

func headline(rep runner.Report) string {
	icons := map[runner.Status]string{
		runner.StatusApplied: "✅", runner.StatusPartial: "❌", runner.StatusFailed: "❌",
		runner.StatusDryRun: "📝", runner.StatusSkipped: "⏭️", runner.StatusEscalated: "🙋",
		runner.StatusSuggested: "💡",
	}
	what := "Foreman"
	if rep.Issue > 0 {
		what = link(fmt.Sprintf("#%d", rep.Issue), rep.IssueURL)
	}
	h := fmt.Sprintf("## %s %s: %s", icons[rep.Status], what, words(string(rep.Status)))
	// Most decisions say no more than the status.
	if rep.By != "" && !slices.Contains([]protocol.DecisionType{protocol.LabelAndRespond, protocol.Escalate, protocol.Skip}, rep.Decision) {
		h += fmt.Sprintf(" (%s)", words(string(rep.Decision)))
	}
	if rep.Title != "" {
		h += "\n\n" + sanitize.Cell(rep.Title, 200)
	}
	return h
}

// link makes text a link to url, if that is a plain address.
func link(text, url string) string {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("()<>|\\\"'`", r) }
	if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") || strings.ContainsFunc(url, odd) {
		return text
	}
	return fmt.Sprintf("[%s](%s)", text, url)
}

func words(s string) string { return strings.ReplaceAll(s, "_", " ") }

// maxNotes bounds the last cell of an action, in characters. A rationale has at most 280.
const maxNotes = 600

func actionTable(b *strings.Builder, rep runner.Report) {
	b.WriteString("| | action | what | verdict | result | |\n|--:|---|---|---|---|---|\n")
	for _, a := range rep.Actions {
		fmt.Fprintf(b, "| %d | %s | %s | %s | %s | %s |\n", a.Index+1,
			sanitize.Cell(a.Action.Type, 60), sanitize.Cell(whatOf(a.Action), 160),
			a.Verdict, link(a.State.Result(), a.URL), sanitize.Cell(strings.Join(append(notes(a), why(a)...), "; "), maxNotes))
	}
	b.WriteString("\n")
}

func ruleTable(b *strings.Builder, ts []rules.Summary) {
	fired := 0
	for _, t := range ts {
		if t.Fired {
			fired++
		}
	}
	fmt.Fprintf(b, "<details><summary>Rules: %d of %d fired</summary>\n\n| rule | | why |\n|---|---|---|\n", fired, len(ts))
	for _, t := range ts {
		mark := "–"
		if t.Fired {
			mark = "✔"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", sanitize.Cell(t.ID, 64), mark, sanitize.Cell(t.Why, 300))
	}
	b.WriteString("\n</details>\n\n")
}

const maxParts = 100_000 // bytes; a job summary can have 1 MiB

// writeParts shows the conditions of the rules that listen to the event, part by part.
func writeParts(b *strings.Builder, list []rules.RuleWhy) {
	var parts strings.Builder
	for _, r := range list {
		if r.Why != nil && parts.Len() < maxParts {
			format.WriteRule(&parts, r, format.Painter{})
		}
	}
	if parts.Len() > 0 {
		b.WriteString("<details><summary>Why: each condition, part by part</summary>\n\n" + sanitize.Fence(text.Shorten(strings.TrimPrefix(parts.String(), "\n"), maxParts), "text") + "\n\n</details>\n\n")
	}
}

func footer(rep runner.Report, version string) string {
	parts := []string{sanitize.Cell(rep.Event, 60), "foreman " + sanitize.Cell(version, 60)}
	if rep.TaskID != "" {
		parts = append([]string{"task " + sanitize.Cell(rep.TaskID, 40)}, parts...)
	}
	return "<sub>" + strings.Join(format.NonEmpty(parts...), " · ") + "</sub>\n"
}
