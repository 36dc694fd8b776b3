package pipeline

import (
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/coding/build"
	"github.com/org/foreman-action/internal/coding/build/machine"
	"github.com/org/foreman-action/internal/sanitize"
)

// headline returns the result of a run, in a sentence.
func headline(r build.Report) string {
	rounds := fmt.Sprintf("%d rounds", r.Round)
	if r.Round == 1 {
		rounds = "1 round"
	}
	what := map[machine.Status]string{
		machine.Approved: "approved", machine.ChangesRequested: "not approved", machine.Failed: "failed",
	}[r.Status]
	if r.Reason != nil {
		what += " (" + strings.ReplaceAll(string(*r.Reason), "_", " ") + ")"
	}
	return fmt.Sprintf("%s: %s after %s and %s", r.TaskID, what, rounds, r.Ended.Sub(r.Started).Round(time.Second))
}

// human returns the report for a terminal.
func human(r build.Report) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(sanitize.Log(fmt.Sprintf(format, args...)) + "\n")
	}
	line("%s", headline(r))
	if r.Data != nil {
		line("  %s", r.Data.Summary)
	}
	for _, p := range r.Errors {
		line("  %s", strings.ReplaceAll(p.Message, "\n", "\n    "))
	}
	for _, i := range r.OpenIssues {
		line("  open, %s: %s (%s)", i.Severity, i.Description, strings.Join(i.Paths, ", "))
	}
	for _, c := range r.Checks {
		if !c.Passed {
			line("  the check %s fails", c.Name)
		}
	}
	line("  branch %s, %.12s..%.12s", r.Branch, r.BaseSHA, r.HeadSHA)
	line("  everything is in .foreman/runs/%s", r.TaskID)
	line("next:")
	for _, step := range next(r) {
		line("  %s", step)
	}
	return b.String()
}

// next returns what the user can do after a run, one step a line.
func next(r build.Report) []string {
	read := fmt.Sprintf("read the change:     git diff %.12s...%s", r.BaseSHA, r.Branch)
	resumable := r.Reason == nil
	if !resumable {
		_, resumable = machine.Resume(machine.State{End: &machine.End{Reason: *r.Reason}})
	}
	switch {
	case r.Status == machine.Approved:
		return []string{
			read,
			"merge it:            git merge " + r.Branch,
			"or open a draft PR:  foreman build publish --task-id " + r.TaskID,
		}
	case r.Status == machine.ChangesRequested:
		return []string{
			read,
			"correct the branch, then have it judged:  foreman build review --task-id " + r.TaskID,
		}
	case resumable:
		return []string{"correct the cause, then go on:  foreman build resume --task-id " + r.TaskID}
	}
	return []string{
		"run a clearer task under another --task-id",
		"remove this run:  foreman build clean --task-id " + r.TaskID,
	}
}

// Markdown returns the report for a job's summary or a comment.
func Markdown(r build.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", sanitize.Markdown(headline(r)))
	if r.Data != nil {
		fmt.Fprintf(&b, "%s\n\n", sanitize.Markdown(r.Data.Summary))
	}
	for _, p := range r.Errors {
		fmt.Fprintf(&b, "- %s\n", sanitize.Markdown(p.Message))
	}
	if len(r.OpenIssues) > 0 {
		b.WriteString("\n| open | finding | where |\n| --- | --- | --- |\n")
		for _, i := range r.OpenIssues {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", i.Severity, sanitize.Markdown(i.Description), sanitize.Markdown(strings.Join(i.Paths, ", ")))
		}
	}
	if len(r.Checks) > 0 {
		b.WriteString("\n| check | |\n| --- | --- |\n")
		for _, c := range r.Checks {
			outcome := "passed"
			if !c.Passed {
				outcome = "**failed**"
			}
			fmt.Fprintf(&b, "| %s | %s |\n", sanitize.Markdown(c.Name), outcome)
		}
	}
	fmt.Fprintf(&b, "\nBranch `%s`, %d bytes of changes.\n", r.Branch, r.DiffBytes)
	return b.String()
}
