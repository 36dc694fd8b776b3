package contribflow

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/pr"
	"github.com/org/foreman-action/internal/coding/contrib/session"
)

func prVerb() verb {
	var o pr.Options
	var isDraft bool
	return verb{
		use:   "pr",
		short: "Prepare the draft pull request, and open it once a person approved",
		long: `Check the contribution and show the commands that would publish it: a dry run, which changes
neither GitHub nor the workspace. A person reads it. With --yes exactly these commands are run,
if the review gate still passes and the contribution did not change since.`,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&isDraft, "draft", true, "open a draft; other pull requests are not supported")
			f.BoolVar(&o.Yes, "yes", false, "run the commands of the last dry run; a person must have approved it")
			f.StringVar(&o.Title, "title", "", "title of the pull request")
			f.StringVar(&o.BodyFile, "body-file", "", "add this `file` to the body")
			f.StringVar(&o.Base, "base", "", "the `branch` to merge into; default: the one that was checked out")
			f.StringArrayVar(&o.Accept, "accept", nil, "accept a `check` that failed: sensitive_files, duplicate_content or patch_size; may be repeated")
			f.StringVar(&o.InspectorResult, "inspector-result", "", "the `file` with the Inspector's result")
		},
		values: map[string][]string{"accept": {"sensitive_files", "duplicate_content", "patch_size"}},
		check: func([]string) error {
			if !isDraft {
				return contract.Fail(contract.CodeUsage, "--draft=false: only draft pull requests are opened; a person marks them as ready on GitHub")
			}
			return o.Check()
		},
		writes:     true,
		configured: true,
		run: func(ctx context.Context, s session.Session, _ []string) (contract.Document, error) {
			return pr.Run(ctx, s, o)
		},
		show: shows(showPR),
	}
}

func showPR(w *screen, d contract.PullRequest) {
	w.status(d.Status, "%s: %s", d.Target, d.Title)
	for _, c := range d.ReviewGate.Checks {
		w.status(c.Status, "%s: %s", c.Name, c.Reason)
	}
	if d.Status == contract.DryRun {
		w.heading("Would run")
		for _, c := range d.WouldRun {
			w.line("  %s", c)
		}
		w.heading("Body")
		w.line("%s", d.BodyPreview)
	}
	showWarnings(w, d.Warnings)
	for _, s := range d.Steps {
		w.status(s.Status, "%s  %s", s.Command, s.Reason)
	}
	w.line("%s", d.Reason)
}
