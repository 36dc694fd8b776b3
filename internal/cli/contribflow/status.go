package contribflow

import (
	"context"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/contrib/status"
)

func statusVerb() verb {
	return verb{
		use:   "status",
		short: "Show the state of the contribution and the next step",
		run: func(ctx context.Context, s session.Session, _ []string) (contract.Document, error) {
			return status.Run(ctx, s)
		},
		show: shows(func(w *screen, d contract.Status) {
			w.heading("%s", d.State)
			if d.ActiveIssue != nil {
				w.line("issue: %s", *d.ActiveIssue)
			}
			w.line("%s", d.Reason)
		}),
	}
}

func nextVerb() verb {
	return verb{
		use:   "next",
		short: "Show the next step",
		run: func(ctx context.Context, s session.Session, _ []string) (contract.Document, error) {
			d, err := status.Run(ctx, s)
			if err != nil {
				return nil, err
			}
			return contract.Recommendation{State: d.State, Next: d.Next, RequiresHumanApproval: d.RequiresHumanApproval, Reason: d.Reason}, nil
		},
		show: shows(func(w *screen, d contract.Recommendation) { w.line("%s", d.Reason) }),
	}
}
