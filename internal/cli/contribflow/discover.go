package contribflow

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/discover"
	"github.com/org/foreman-action/internal/coding/contrib/plan"
	"github.com/org/foreman-action/internal/coding/contrib/score"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/triage"
)

func discoverVerb() verb {
	var o discover.Options
	return verb{
		use:   "discover",
		short: "Find open issues that suit you",
		long: `Search GitHub for open issues that suit the profile of the configuration, score them and list
the best. A flag replaces that part of the profile; an empty one, such as --topic '', drops it.
One run makes one search, and at most three reads for each candidate.`,
		values: map[string][]string{"type": controller.Types()},
		flags: func(f *pflag.FlagSet) {
			f.StringArrayVar(&o.Languages, "lang", nil, "look in repositories in this `language`; may be repeated")
			f.StringArrayVar(&o.Topics, "topic", nil, "look for issues about this `topic`; may be repeated")
			f.StringArrayVar(&o.Types, "type", nil, "look for this `kind` of contribution; may be repeated")
			f.IntVar(&o.Limit, "limit", discover.DefaultLimit, "list at most this `number` of issues")
			f.BoolVar(&o.IncludeSuppressed, "include-suppressed", false, "list stale, assigned, taken, automated and security issues too")
			f.StringVar(&o.Query, "query", "", "search with this query in GitHub's `syntax`, not with the profile's")
		},
		check: func([]string) error {
			if err := o.Check(); err != nil {
				return command.Usage(err)
			}
			return nil
		},
		writes:     true,
		configured: true,
		run: func(ctx context.Context, s session.Session, _ []string) (contract.Document, error) {
			return discover.Run(ctx, s, o)
		},
		show: shows(showDiscovery),
	}
}

func showDiscovery(w *screen, d contract.Discovery) {
	w.line("%s", d.Query)
	if d.Blocked != nil {
		showThrottle(w, *d.Blocked, d.Reason)
		return
	}
	rows := [][]string{{"SCORE", "ISSUE", "TITLE", "LANGUAGE", "STARS", "RISK", "HOURS"}}
	for _, c := range d.Candidates {
		language := "-"
		if c.Language != nil {
			language = *c.Language
		}
		rows = append(rows, []string{
			fmt.Sprint(c.Score), fmt.Sprintf("%s#%d", c.FullName, c.Number), c.Title, language, fmt.Sprint(c.Stars), string(c.RiskLevel), fmt.Sprint(c.EstimatedEffortHours),
		})
	}
	w.table(rows...)
	w.line("%s", d.Reason)
	showWarnings(w, d.Warnings)
	for _, command := range d.SuggestedCommands {
		w.line("try: %s", strings.TrimSuffix(command, " --json"))
	}
}

// issueArg parses the argument of a verb that works on one issue.
func issueArg(args []string) (triage.Ref, error) {
	ref, err := controller.ParseIssue(args[0])
	if err != nil {
		return triage.Ref{}, command.Usage(err)
	}
	return ref, nil
}

// checkIssue checks the argument of a verb that works on one issue.
func checkIssue(args []string) error {
	_, err := issueArg(args)
	return err
}

func scoreVerb() verb {
	var o score.Options
	return verb{
		use:   "score ISSUE",
		short: "Rate how well an issue suits you, and explain it",
		long: `Read an issue and its repository, look for signs that it is taken or solved, and score it.
ISSUE is OWNER/REPO#NUMBER or its address on GitHub. "contribflow rules" prints the rules.`,
		args: cobra.ExactArgs(1),
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&o.NoDuplicates, "no-duplicates", false, "skip the search for work on the issue and for existing text")
		},
		check:      checkIssue,
		writes:     true,
		configured: true,
		run: func(ctx context.Context, s session.Session, args []string) (contract.Document, error) {
			var err error
			if o.Issue, err = issueArg(args); err != nil {
				return nil, err
			}
			return score.Run(ctx, s, o)
		},
		show: shows(func(w *screen, d contract.Score) {
			w.heading("%s#%d  %s", d.Candidate.FullName, d.Candidate.Number, d.Candidate.Title)
			w.line("%d, %s; risk %s; about %d h", d.Score, d.ScoreBand, d.RiskLevel, d.EstimatedEffortHours)
			rows := [][]string{{"RULE", "IMPACT", "WHY"}}
			for _, e := range d.Explanation {
				rows = append(rows, []string{e.Rule, fmt.Sprintf("%+d", e.Impact), e.Message})
			}
			w.table(rows...)
			for _, e := range d.DuplicateEvidence {
				w.line("%s: %s  %s", e.Confidence, e.Reason, e.URL)
			}
			showWarnings(w, d.Warnings)
		}),
	}
}

func planVerb() verb {
	return verb{
		use:   "plan ISSUE",
		short: "Plan the smallest change for an issue, and make it the active one",
		long: `Read an issue and its repository and plan the smallest change: the files that it may touch, the
commands that validate it, and when to stop. ISSUE is OWNER/REPO#NUMBER or its address on GitHub.`,
		args:       cobra.ExactArgs(1),
		check:      checkIssue,
		writes:     true,
		configured: true,
		run: func(ctx context.Context, s session.Session, args []string) (contract.Document, error) {
			ref, err := issueArg(args)
			if err != nil {
				return nil, err
			}
			return plan.Run(ctx, s, plan.Options{Issue: ref})
		},
		show: shows(func(w *screen, d contract.Plan) {
			w.heading("%s  %s", d.Issue, d.Title)
			w.line("%s", d.Summary)
			w.line("%d, %s. %s", d.Score, d.ScoreBand, d.RiskAssessment)
			w.line("%s", d.ProposedFix)
			list := func(head string, items []string) {
				if len(items) > 0 {
					w.heading("%s", head)
				}
				for _, item := range items {
					w.line("  %s", item)
				}
			}
			list("Files", d.LikelyFiles)
			list("Guidance", d.RepositoryContext.GuidanceFiles)
			list("Validation", d.ValidationCommands)
			list("Stop", d.StopConditions)
			list("Assumptions", d.Assumptions)
			list("Questions", d.Questions)
			showWarnings(w, d.Warnings)
			if d.RequiresHumanApproval {
				w.line("A person has to approve before this goes on.")
			}
		}),
	}
}
