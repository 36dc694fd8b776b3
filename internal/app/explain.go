package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

const explainHelp = `Shows the condition of every rule part by part, each with its value, for one event:
why the rule fires, and why not. What stands in brackets was not reached. Nothing is
written anywhere; OWNER/REPO#N is read from GitHub (GITHUB_TOKEN), as is what rules
look up about it, and taken for a newly opened issue unless --event-name says
otherwise. With --event nothing is looked up: what would be is said to fail.

Exit codes: 0 done, 2 a mistake in arguments, event or files.`

func (a App) rulesExplainCommand() *cobra.Command {
	var f triageFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain (--event FILE | OWNER/REPO#N) [FILE…]",
		Short: "Show why each rule fires on an event, and why not",
		Long:  explainHelp,
		Example: "  foreman rules explain --event testdata/events/issues/opened.payload.json rules.yml\n" +
			"  foreman rules explain octo-org/hello#42",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && isIssue(args[0]) {
				f.issue, args = args[0], args[1:]
			}
			if (f.issue == "") == (f.event == "") {
				return usagef("name one event: --event FILE, or OWNER/REPO#N")
			}
			return a.explainRules(c.Context(), f, args, asJSON)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.event, "event", "", "`FILE` with the event's payload, \"-\" for standard input")
	fl.StringVar(&f.eventName, "event-name", "", "`NAME` of the event, such as issues or issues.edited (default: by the payload)")
	fl.BoolVar(&asJSON, "json", false, "print the explanation as JSON")
	return c
}

// isIssue tells an issue from a file by its form.
func isIssue(arg string) bool {
	repo, number, ok := strings.Cut(arg, "#")
	_, err := triage.ParseNumber(number)
	return ok && err == nil && strings.Count(repo, "/") == 1
}

func (a App) explainRules(ctx context.Context, f triageFlags, names []string, asJSON bool) error {
	cfg, problems, err := a.loadFiles(ctx, names)
	if err != nil {
		return err
	}
	if errs := problems.Errors(); len(errs) > 0 {
		return &usageError{errs}
	}
	o, e, err := a.deskEvent(ctx, f, cfg)
	if err != nil {
		return err
	}
	list, err := runner.Explain(ctx, o, e)
	if err != nil {
		return &usageError{err}
	}
	if asJSON {
		_, err = fmt.Fprintln(a.Stdout, encode(explanationOf(e, list), "  "))
	} else {
		_, err = fmt.Fprint(a.Stdout, explanationText(e, list, painter{a.Colour}))
	}
	return printed(err)
}

// deskEvent returns an event with what is looked up for it, if there is a token.
func (a App) deskEvent(ctx context.Context, f triageFlags, cfg *config.Config) (runner.Options, triage.Delivery, error) {
	o := runner.Options{Config: cfg, Clock: runner.Clock{Now: a.Now}}
	dir, err := a.workDir()
	if err != nil {
		return o, triage.Delivery{}, err
	}
	j := job{app: a, dir: dir, token: a.Getenv("GITHUB_TOKEN"), apiURL: a.Getenv("GITHUB_API_URL"), offline: f.issue == ""}
	e, err := a.triageEvent(ctx, f, j)
	if err != nil {
		return o, triage.Delivery{}, err
	}
	host, err := j.host()
	o.Host = hostOf(host, "")
	return o, e, err
}

func explanationText(e triage.Delivery, list []rules.RuleWhy, p painter) string {
	var b strings.Builder
	var failed []string
	fmt.Fprintf(&b, "%s on %s: %s\n", e.Key(), e.Ref(), sanitize.Log(e.Issue.Title))
	for _, r := range list {
		writeRule(&b, r, p)
		if r.Error != "" {
			failed = append(failed, r.ID)
		}
	}
	if len(failed) > 0 {
		fmt.Fprintf(&b, "\n%s fails, so in a run no rule acts.\n", strings.Join(failed, ", "))
	}
	return b.String()
}

// explanationJSON is what explain --json prints: one object, stable.
type explanationJSON struct {
	Version int           `json:"version"` // of this form
	Event   string        `json:"event"`
	Repo    string        `json:"repo"`
	Issue   int           `json:"issue"`
	Rules   []ruleWhyJSON `json:"rules"`
}

type ruleWhyJSON struct {
	ID      string        `json:"id"`
	Outcome rules.Outcome `json:"outcome"` // matched, event, condition, stopped, unreached; empty: it failed
	File    string        `json:"file"`
	Line    int           `json:"line"`
	Why     *partJSON     `json:"why"`   // null: it has no condition, or does not listen
	Error   string        `json:"error"` // of a rule that fails: then no rule acts
}

type partJSON struct {
	Text  string     `json:"text"`
	Value string     `json:"value"`
	Error string     `json:"error"`
	Idle  bool       `json:"idle"`
	Parts []partJSON `json:"parts"`
}

func explanationOf(e triage.Delivery, list []rules.RuleWhy) explanationJSON {
	out := explanationJSON{Version: 1, Event: e.Key(), Repo: e.FullRepo(), Issue: e.Number, Rules: []ruleWhyJSON{}}
	for _, r := range list {
		out.Rules = append(out.Rules, ruleWhyOf(r))
	}
	return out
}

func ruleWhyOf(r rules.RuleWhy) ruleWhyJSON {
	rule := ruleWhyJSON{ID: r.ID, Outcome: r.Outcome, File: r.File, Line: r.Line, Error: r.Error}
	if r.Why != nil {
		why := partOf(*r.Why)
		rule.Why = &why
	}
	return rule
}

func partOf(w rules.Why) partJSON {
	out := partJSON{w.Text, w.Value, w.Error, w.Idle, []partJSON{}}
	for _, p := range w.Parts {
		out.Parts = append(out.Parts, partOf(p))
	}
	return out
}
