// Package status reports the progress of a contribution.
package status

import (
	"context"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/gh"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/contrib/state"
	"github.com/org/foreman-action/internal/coding/contrib/workspace"
	"github.com/org/foreman-action/triage"
)

// Run returns the document of "status". It writes nothing.
func Run(ctx context.Context, s session.Session) (contract.Status, error) {
	out := contract.Status{ConfigPath: controller.ConfigPath, Cwd: s.Controller.Root, AuthSource: source(ctx, s)}
	out.GHAuthenticated = out.AuthSource != "none"
	facts, err := Facts(ctx, s, out.GHAuthenticated)
	if err != nil {
		return contract.Status{}, err
	}
	out.ConfigExists = facts.ConfigExists
	if facts.Issue != "" {
		out.ActiveIssue = &facts.Issue
	}
	at := state.Derive(facts)
	out.State, out.Next, out.RequiresHumanApproval, out.Reason = at.State, at.Next, at.Human, at.Reason
	return out, nil
}

// Recommend returns the document of "next".
func Recommend(f state.Facts) contract.Recommendation {
	at := state.Derive(f)
	return contract.Recommendation{State: at.State, Next: at.Next, RequiresHumanApproval: at.Human, Reason: at.Reason}
}

// source returns the source of access to GitHub: "gh" if gh has a working account, "env" if the
// environment contains a token, else "none".
func source(ctx context.Context, s session.Session) string {
	host := session.HostOf(s.Server())
	if (gh.CLI{Dir: s.Controller.Root, Environ: s.Environ, Host: host, Offline: s.Offline}).SignedIn(ctx) {
		return "gh"
	}
	if token, _ := s.Token(host); token != "" {
		return "env"
	}
	return "none"
}

// Facts collects the input of [state.Derive].
func Facts(ctx context.Context, s session.Session, authenticated bool) (state.Facts, error) {
	f := state.Facts{Authenticated: authenticated}
	_, f.ConfigExists, f.ConfigError = s.Controller.Config()
	if f.ConfigError != nil || !f.ConfigExists {
		return f, nil //nolint:nilerr // the mistake is a fact
	}
	st, err := s.Controller.State()
	if err = note(&f, err); err != nil || st.ActiveIssue == nil {
		return f, err
	}
	f.Issue = *st.ActiveIssue
	if !authenticated {
		return f, nil
	}
	issue, files, err := s.Active()
	if err != nil {
		return f, err
	}
	err = look(ctx, s, issue, files, &f)
	return f, err
}

// note stores the problem of an unreadable document in f. It returns any other error.
func note(f *state.Facts, err error) error {
	if p, ok := controller.Invalid(err); ok {
		f.Invalid = p
		return nil
	}
	return err
}

// look adds the facts of an issue's workspace and documents.
func look(ctx context.Context, s session.Session, issue triage.Ref, files controller.Files, f *state.Facts) error {
	var record contract.PullRequest
	found, err := s.Controller.ReadSealed(files.PullRequest, &record)
	if err := note(f, err); err != nil {
		return err
	}
	if found {
		f.PR, f.PRDigest, f.PRReason, f.PRNext = record.Status, record.PatchDigest, record.Reason, record.Next
		f.GateOpen = record.ReviewGate.State == string(contract.StateHumanReview)
		if record.PRURL != nil {
			f.PRURL = *record.PRURL
		}
	}
	if f.PR == contract.Created {
		return nil
	}
	tree, err := workspace.Inspect(ctx, s, issue, files)
	if err != nil {
		return err
	}
	f.Checkout, f.Changed, f.Digest, f.WorkspaceProblem = tree.Exists, tree.Changed, tree.Digest, tree.Problem
	var patch contract.Patch
	_, err = s.Controller.Read(files.Patch, &patch)
	if err := note(f, err); err != nil {
		return err
	}
	f.PatchDigest = patch.PatchDigest
	var validation contract.Validation
	_, err = s.Controller.ReadSealed(files.Validation, &validation)
	if err := note(f, err); err != nil {
		return err
	}
	f.Validation, f.ValidationDigest, f.ValidationReason, f.ValidationNext = validation.Status, validation.PatchDigest, validation.Reason, validation.Next
	return nil
}
