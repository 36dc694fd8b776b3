// Package explain is the command that shows why each rule fires on an event.
package explain

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/delivery"
	"github.com/org/foreman-action/internal/cli/document"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/rulefiles"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

const help = `Shows the condition of every rule part by part, each with its value, for one event:
why the rule fires, or not. Parts in brackets were not evaluated. Nothing is written;
OWNER/REPO#N and the look-ups of rules are read from GitHub (GITHUB_TOKEN). The issue
counts as newly opened unless --event-name names another event. With --event nothing is
looked up, so a condition that needs a look-up fails.

Exit codes: 0 done, 2 a mistake in arguments, event or files.`

// Options are all that the command depends on.
type Options struct {
	Env   process.Env
	Event delivery.Request
	Files []string // empty: the configuration file
	JSON  bool     // print the explanation as JSON
}

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	o := Options{Env: env}
	c := &cobra.Command{
		Use:   "explain (--event FILE | OWNER/REPO#N) [FILE…]",
		Short: "Show why each rule fires on an event, and why not",
		Long:  help,
		Example: "  foreman rules explain --event testdata/events/issues/opened.payload.json rules.yml\n" +
			"  foreman rules explain octo-org/hello#42",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && delivery.IsIssue(args[0]) {
				o.Event.Issue, args = args[0], args[1:]
			}
			o.Files = args
			return Run(c.Context(), o)
		},
	}
	fl := c.Flags()
	fl.StringVar(&o.Event.File, "event", "", "`FILE` with the event's payload, \"-\" for standard input")
	fl.StringVar(&o.Event.Name, "event-name", "", "`NAME` of the event, such as issues or issues.edited (default: by the payload)")
	fl.BoolVar(&o.JSON, "json", false, "print the explanation as JSON")
	return c
}

// Run prints the condition of every rule with its values for one event.
func Run(ctx context.Context, o Options) error {
	if (o.Event.Issue == "") == (o.Event.File == "") {
		return command.Usagef("name one event: --event FILE, or OWNER/REPO#N")
	}
	cfg, err := rulefiles.LoadValid(ctx, o.Env, o.Files)
	if err != nil {
		return err
	}
	options, e, err := delivery.ForRules(ctx, o.Env, cfg, o.Event)
	if err != nil {
		return err
	}
	list, err := runner.Explain(ctx, options, e)
	if err != nil {
		return command.Usage(err)
	}
	if o.JSON {
		return o.Env.Print(format.JSON(document.ExplanationOf(e, list), "  ") + "\n")
	}
	return o.Env.Print(explanationText(e, list, format.Painter{On: o.Env.Colour}))
}

func explanationText(e triage.Delivery, list []rules.RuleWhy, p format.Painter) string {
	var b strings.Builder
	var failed []string
	fmt.Fprintf(&b, "%s on %s: %s\n", e.Key(), e.Ref(), sanitize.Log(e.Issue.Title))
	for _, r := range list {
		format.WriteRule(&b, r, p)
		if r.Error != "" {
			failed = append(failed, r.ID)
		}
	}
	if len(failed) > 0 {
		fmt.Fprintf(&b, "\n%s fails, so in a run no rule acts.\n", strings.Join(failed, ", "))
	}
	return b.String()
}
