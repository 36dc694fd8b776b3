package contribflow

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/org/foreman-action/internal/coding/contrib/checkout"
	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/diff"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
)

func checkoutVerb() verb {
	var o checkout.Options
	depthGiven := func() bool { return false }
	return verb{
		use:   "checkout [ISSUE]",
		short: "Clone the repository of an issue into a workspace",
		long: `Clone the repository of an issue, or of the active one, into a folder below .contribflow, on
a branch of its own, and make the issue the active one. No code of the repository is run: no
hooks, no filters, no submodules. An existing workspace is kept as it is.`,
		args:       cobra.MaximumNArgs(1),
		writes:     true,
		configured: true,
		flags: func(f *pflag.FlagSet) {
			f.IntVar(&o.Depth, "depth", 0, "clone only the newest `N` commits")
			f.BoolVar(&o.Fresh, "fresh", false, "replace a workspace without changes by a new clone")
			depthGiven = func() bool { return f.Changed("depth") }
		},
		check: func(args []string) error {
			if depthGiven() && o.Depth < 1 {
				return command.Usagef("--depth: want a number of commits, 1 or more, got %d", o.Depth)
			}
			if len(args) == 0 {
				return nil
			}
			if _, err := controller.ParseIssue(args[0]); err != nil {
				return command.Usage(err)
			}
			return nil
		},
		run: func(ctx context.Context, s session.Session, args []string) (contract.Document, error) {
			if len(args) > 0 {
				o.Issue = args[0]
			}
			return checkout.Run(ctx, s, o)
		},
		show: shows(func(w *screen, d contract.Workspace) {
			verb := "kept"
			if d.Created {
				verb = "cloned"
			}
			w.heading("%s: %s", verb, d.WorkspacePath)
			w.line("branch: %s, from %s at %.12s", d.Branch, sanitize.Line(d.BaseBranch), d.BaseSHA)
			if !d.Clean {
				w.line("it has changes that are not committed")
			}
			if d.Submodules.RecommendedCommand != nil {
				w.line("%s Run: %s", d.Submodules.Reason, *d.Submodules.RecommendedCommand)
			}
			for _, warning := range d.Warnings {
				w.line("warning: %s", sanitize.Line(warning))
			}
		}),
	}
}

func diffVerb() verb {
	var builderResult string
	return verb{
		use:   "diff",
		short: "Record the change in the workspace as a patch for review",
		long: `Record the change in the workspace of the active issue as a patch: commits, staged and
unstaged changes and new files alike. It lists files that a person should review, and added
lines that the repository has already. The workspace and its index are not changed.`,
		writes:     true,
		configured: true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&builderResult, "builder-result", "", "the `file` with the Builder's result")
		},
		run: func(ctx context.Context, s session.Session, _ []string) (contract.Document, error) {
			if err := diff.AcceptBuilder(s, builderResult); err != nil {
				return nil, err
			}
			return diff.Run(ctx, s)
		},
		show: shows(func(w *screen, d contract.Patch) {
			w.heading("%s", d.Summary)
			for _, f := range d.ChangedFiles {
				name := sanitize.Line(f.Path)
				if f.OldPath != "" {
					name = sanitize.Line(f.OldPath) + " -> " + name
				}
				if f.Binary {
					w.line("  %s  %s (binary)", f.Status, name)
				} else {
					w.line("  %s  %s  +%d -%d", f.Status, name, f.Additions, f.Deletions)
				}
			}
			for _, name := range d.RiskFlags.SensitiveFiles {
				w.line("sensitive: %s", sanitize.Line(name))
			}
			for _, c := range d.RiskFlags.DuplicateContent {
				w.line("duplicate (%s): %s adds %q, which is at %s", c.Confidence, sanitize.Line(c.Path), c.AddedText, sanitize.Line(c.ExistingLocation))
			}
			for _, warning := range d.Warnings {
				w.line("warning: %s", sanitize.Line(warning))
			}
			if d.HasChanges {
				w.line("recorded in %s", d.ArtifactPath)
			}
		}),
	}
}
