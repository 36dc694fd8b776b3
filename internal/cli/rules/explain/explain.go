// Package explain is the command that shows why each rule fires on an event.
package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/delivery"
	"github.com/org/foreman-action/internal/cli/document"
	"github.com/org/foreman-action/internal/cli/draft"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/rulefiles"
	"github.com/org/foreman-action/internal/cli/tryout"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

const help = `Shows the condition of every rule part by part, each with its value, for one event:
why the rule fires, or not. Parts in brackets were not evaluated. Nothing is written;
OWNER/REPO#N and the look-ups of rules are read from GitHub (GITHUB_TOKEN). The flags
that describe an event are those of foreman triage. With them, and with --event, nothing
is looked up: a rule that depends on missing data is unknown here.

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
	var flags *tryout.Flags
	c := &cobra.Command{
		Use:   "explain (--title TITLE | --event FILE | OWNER/REPO#N) [FILE…]",
		Short: "Show why each rule fires on an event, and why not",
		Long:  help,
		Example: "  foreman rules explain --title \"panic at boot\" --author-issues 0 rules.yml\n" +
			"  foreman rules explain --event testdata/events/issues/opened.payload.json rules.yml\n" +
			"  foreman rules explain octo-org/hello#42",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && delivery.IsIssue(args[0]) {
				o.Event.Issue, args = args[0], args[1:]
			}
			o.Files = args
			if err := flags.Draft(c, o.Env, &o.Event); err != nil {
				return err
			}
			return Run(c.Context(), o)
		},
	}
	flags = tryout.Add(c, &o.Event)
	fl := c.Flags()
	fl.BoolVar(&o.JSON, "json", false, "print the explanation as JSON")
	return c
}

// takesFiles is the hint for the id of a rule in the place of a file.
const takesFiles = "the other arguments are rule files, and all of their rules are shown"

// Run prints the condition of every rule with its values for one event.
func Run(ctx context.Context, o Options) error {
	if o.Event.Issue != "" && o.Event.File != "" || o.Event == (delivery.Request{Name: o.Event.Name}) {
		why := errors.New("name one event: OWNER/REPO#N, --title with --body, or --event FILE")
		if len(o.Files) > 0 {
			why = fmt.Errorf("%w; %s", why, takesFiles)
		}
		return command.Usage(why)
	}
	cfg, err := rulefiles.LoadValid(ctx, o.Env, o.Files)
	if errors.Is(err, config.ErrNotFound) && len(o.Files) > 0 {
		return command.Usagef("%w; %s", err, takesFiles)
	}
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
	hint := ""
	if o.Event.File == "" {
		hint = draft.Hint(cfg.Rules, e)
	}
	return o.Env.Print(explanationText(e, list, hint, format.Painter{On: o.Env.Coloured()}))
}

func explanationText(e triage.Delivery, list []rules.RuleWhy, hint string, p format.Painter) string {
	var b strings.Builder
	var failed, unknown, missing []string
	fmt.Fprintf(&b, "%s on %s: %s\n", e.Key(), e.Ref(), sanitize.Log(e.Issue.Title))
	for _, r := range list {
		format.WriteRule(&b, r, p)
		switch {
		case r.Outcome == rules.Undecided:
			unknown = append(unknown, r.ID)
			missing = append(missing, r.Missing...)
		case r.Error != "":
			failed = append(failed, r.ID)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(missing)
		flags := draft.Supplies(slices.Compact(missing))
		fmt.Fprintf(&b, "\n%s: unknown here; to decide it: %s\n", strings.Join(unknown, ", "), sanitize.Line(flags))
	}
	if len(failed) > 0 {
		fmt.Fprintf(&b, "\n%s: failed, so it does nothing in a run.\n", strings.Join(failed, ", "))
	}
	if hint != "" {
		fmt.Fprintf(&b, "\n%s\n", sanitize.Line(hint))
	}
	return b.String()
}
