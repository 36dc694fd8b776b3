package pr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/publish"
	"github.com/org/foreman-action/internal/coding/contrib/state"
	"github.com/org/foreman-action/internal/secret"
)

// approvalVariable is the environment variable with the digest that a person approved. It is for
// runs without a person at the keyboard.
const approvalVariable = "CONTRIBFLOW_APPROVED_DIGEST"

// publish runs the commands of the dry run, if the gate still passes and the dry run is still
// valid.
func (c *contribution) publish(ctx context.Context) (contract.PullRequest, error) {
	r, stale, err := c.recorded()
	if err != nil {
		return contract.PullRequest{}, err
	}
	c.review.dryRun = stale
	if stale == "" {
		c.review.dryRun = c.unapproved()
	}
	v := c.review.judge()
	if !v.passed() {
		out := c.document(r, v)
		out.Reason = "Nothing was published. " + out.Reason
		if c.record != nil {
			out.Digest = c.record.Digest
		}
		return out, nil
	}
	done, err := publish.Run(ctx, c.session, publish.Job{
		Request: r.Request, Clone: c.workspace.Clone, BaseSHA: c.workspace.Record.BaseSHA, Digest: c.review.digest, Body: r.body, Made: c.record.Commit,
		Record: func(commit string) error {
			c.record.Commit = commit
			return c.session.Controller.WriteSealed(c.files.PullRequest, *c.record)
		},
		CheckBase: func(ctx context.Context, token string) error {
			return c.workspace.CheckBase(ctx, c.session, token)
		},
	})
	if err != nil && done.Failed == "" { // no command was run
		return contract.PullRequest{}, err
	}
	out := c.document(r, v)
	out.Digest, out.Steps, out.FailedStep = c.record.Digest, done.Steps, done.Failed
	if logErr := c.session.Controller.WriteFile(c.files.PRLog, []byte(done.Log)); logErr != nil {
		err = errors.Join(err, logErr)
	}
	if err != nil {
		out.Status, out.BlocksPR = contract.Failed, true
		out.Reason = fmt.Sprintf("%s failed: %s", out.FailedStep, secret.RedactForms(err.Error()))
		out.Next = cmp.Or(done.Next, contract.Run(contract.ActionInspectFailure, state.CommandDryRun))
		if limited(err) {
			out.Blocked = &contract.Throttle{
				Kind: contract.SecondaryLimit, Scope: contract.ScopePR, FailingQuery: out.FailedStep, Message: out.Reason,
				RetryGuidance: "Wait until GitHub answers again, then run the dry run and approve it again. Completed steps are not repeated.",
			}
		}
		return out, c.session.Controller.WriteSealed(c.files.PullRequest, out)
	}
	out.Status, out.RequiresHumanApproval, out.PRURL = contract.Created, false, &done.URL
	out.Reason = "The draft pull request was opened."
	out.Next = contract.Next{Action: contract.ActionDone, Command: done.URL, Kind: contract.KindURL}
	return out, c.session.Controller.WriteSealed(c.files.PullRequest, out)
}

// limited reports whether GitHub refused a command because of a rate limit.
func limited(err error) bool {
	return strings.Contains(strings.ToLower(err.Error()), "rate limit")
}

// recorded returns the request that the dry run recorded. stale is the reason why it cannot be
// published; empty if it can.
func (c *contribution) recorded() (r request, stale string, err error) {
	r.Request = publish.Request{
		Issue: c.issue, Server: c.session.Server(), Branch: c.workspace.Record.Branch, Base: c.workspace.Record.BaseBranch,
		Title: "Address " + c.issue.String(), BodyFile: c.files.Body,
	}
	if c.record == nil {
		return r, cmp.Or(c.review.invalid[checkDryRun], "There is no dry run."), nil
	}
	d := *c.record
	r.Branch, r.Base, r.Title, r.body, r.inspector = d.Branch, d.Base, d.Title, d.BodyPreview, d.Inspector
	c.review.accepted, c.review.body = d.Accepted, d.BodyPreview
	if err := c.storedInspector(d.Inspector); err != nil {
		return r, "", err
	}
	r.Fork, r.SignOff = publish.Planned(d.WouldRun), publish.SignedOff(d.WouldRun)
	if r.Fork.Owner != "" && !strings.EqualFold(r.Fork.Owner, c.issue.Owner) {
		c.review.commands = r.Commands()
	}
	body, err := c.session.Controller.ReadFile(c.files.Body)
	if err != nil { // a missing file counts as an empty body
		body = nil
	}
	switch {
	case d.Status != contract.DryRun:
		return r, "The last dry run was blocked or already used: run it again.", nil
	case d.PatchDigest != c.review.digest:
		return r, "The workspace changed after the dry run: run it again.", nil
	case string(body) != d.BodyPreview:
		return r, "The body changed after the dry run: run it again.", nil
	case d.Digest != digest(d, d.BodyPreview) || strings.Join(publish.Lines(c.review.commands), "\n") != strings.Join(d.WouldRun, "\n"):
		return r, "The record of the dry run was modified: run the dry run again.", nil
	}
	return r, "", nil
}

// unapproved returns the reason why the dry run is not approved; empty if it is. In CI, the
// variable must contain the approved digest. Outside CI it is optional, because a person runs the
// command.
func (c *contribution) unapproved() string {
	person := slices.Contains([]string{"", "0", "false", "no"}, strings.ToLower(c.session.Getenv("CI")))
	switch approved := c.session.Getenv(approvalVariable); {
	case approved == c.record.Digest, approved == "" && person:
		return ""
	case approved == "":
		return "In CI, " + approvalVariable + " must contain the digest of the dry run that a person approved."
	default:
		return approvalVariable + " is the digest of another dry run."
	}
}
