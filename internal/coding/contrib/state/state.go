// Package state derives the progress of a contribution from its files, their digests and the
// workspace. The progress is derived on every call and never stored. So an edit of the workspace
// automatically resets the steps that depended on its content.
package state

import (
	"cmp"
	"fmt"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
)

// Facts are the input of [Derive]. If a document is missing, the fields after it are ignored and
// may be empty.
type Facts struct {
	ConfigExists  bool
	ConfigError   error // why the configuration is invalid
	Authenticated bool
	Issue         string // the active one; empty: none

	Checkout bool // the workspace exists
	Changed  bool // the workspace has changes or commits beyond its base
	// Digest is the digest of the current workspace. Documents with another digest are stale.
	Digest string
	// WorkspaceProblem is the reason why the workspace cannot be compared with its base; nil
	// if it can be compared.
	WorkspaceProblem *contract.Problem

	PatchDigest string // digest in the patch artifact; empty: no artifact

	Validation       string // the status of the validation; empty: none
	ValidationDigest string
	ValidationReason string        // why it was blocked
	ValidationNext   contract.Next // next step that a blocked validation recommends

	// Invalid is the problem of a document that cannot be read and so counts as missing; nil: none.
	Invalid *contract.Problem

	PR       string // status in the pull request's record; empty: no record
	PRDigest string
	PRURL    string
	PRReason string
	PRNext   contract.Next // next step that a blocked dry run recommends
	GateOpen bool          // all checks of the gate passed
}

// A Position is a state and the next action in it.
type Position struct {
	State contract.State
	Next  contract.Next
	Human bool // a person must act or approve
	// Reason explains the state, in a sentence.
	Reason string
}

// The commands that states recommend.
const (
	CommandInit       = "contribflow init --json"
	CommandAuth       = "gh auth login"
	CommandDiscover   = "contribflow discover --json"
	CommandDiff       = "contribflow diff --json"
	CommandValidate   = "contribflow validate --json"
	CommandSandbox    = "contribflow validate --run --sandbox docker --json"
	CommandDryRun     = "contribflow pr --draft --json"
	CommandCreate     = "contribflow pr --draft --yes --json"
	InstructionRepair = "Fix validation failures and rerun: " + CommandSandbox
)

// CommandCheckout returns the command that checks an issue out.
func CommandCheckout(issue string) string { return "contribflow checkout " + issue + " --json" }

// Derive returns the progress of a contribution: the first row of a table of states whose
// condition is true. If a document is invalid, the position also mentions this document.
func Derive(f Facts) Position {
	p := derive(f)
	if f.Invalid == nil {
		return p
	}
	p.Reason = f.Invalid.Error() + ". " + p.Reason
	if f.Invalid.Next.Kind != contract.KindCommand { // no command rewrites it
		p.Next, p.Human = f.Invalid.Next, true
	}
	return p
}

func derive(f Facts) Position {
	fresh := func(digest string) bool { return digest != "" && digest == f.Digest }
	run := contract.Run
	switch {
	case f.ConfigError != nil:
		return Position{contract.StateNeedsInit, contract.Instruct(contract.ActionInit, "Correct .contribflow/config.json, or replace it with: contribflow init --force --json"), true,
			"The configuration cannot be used: " + f.ConfigError.Error()}
	case !f.ConfigExists:
		return Position{contract.StateNeedsInit, run(contract.ActionInit, CommandInit), false, "There is no .contribflow/config.json."}
	case !f.Authenticated:
		return Position{contract.StateNeedsAuth, run(contract.ActionAuthenticate, CommandAuth), true,
			"GitHub access is missing: gh is not signed in, and neither GH_TOKEN nor GITHUB_TOKEN is set."}
	case f.Issue == "":
		return Position{contract.StateDiscovery, run(contract.ActionDiscover, CommandDiscover), false, "No active contribution task exists."}
	case f.PR == contract.Created:
		return Position{contract.StateDone, contract.Next{Action: contract.ActionDone, Command: f.PRURL, Kind: contract.KindURL}, false,
			fmt.Sprintf("The draft pull request for %s is open.", f.Issue)}
	case !f.Checkout:
		return Position{contract.StateNeedsCheckout, run(contract.ActionCheckout, CommandCheckout(f.Issue)), false,
			fmt.Sprintf("%s is active and has no workspace.", f.Issue)}
	case f.WorkspaceProblem != nil:
		return Position{contract.StateReadyForDiff, f.WorkspaceProblem.Next, true, f.WorkspaceProblem.Error()}
	case f.PR == contract.Failed && fresh(f.PRDigest):
		return Position{contract.StatePRFailed, run(contract.ActionInspectFailure, CommandDryRun), true, cmp.Or(f.PRReason, "Creating the draft pull request failed.")}
	case !f.Changed:
		return Position{contract.StateNeedsChanges, run(contract.ActionEdit, CommandDiff), false, "The workspace has no changes."}
	case !fresh(f.PatchDigest):
		return Position{contract.StateReadyForDiff, run(contract.ActionDiff, CommandDiff), false, "The workspace has changes that no patch artifact contains."}
	case f.Validation == "" || !fresh(f.ValidationDigest):
		return Position{contract.StateNeedsValidation, run(contract.ActionValidate, CommandValidate), false, "The patch has not been validated."}
	case f.Validation == contract.Blocked:
		next := f.ValidationNext
		if next.Command == "" {
			next = run(contract.ActionSandboxValidation, CommandSandbox)
		}
		return Position{contract.StateValidationStops, next, next.Kind != contract.KindCommand, cmp.Or(f.ValidationReason, "Validation commands have not run in the sandbox.")}
	case f.Validation != contract.Passed:
		return Position{contract.StateValidationFailed, contract.Instruct(contract.ActionFixValidation, InstructionRepair), false,
			"One or more validation commands failed in the Docker sandbox."}
	case f.PR == "" || !fresh(f.PRDigest):
		return Position{contract.StateReadyForDryRun, run(contract.ActionDraftPR, CommandDryRun), false, "The patch is validated; the pull request has no dry run."}
	case !f.GateOpen:
		next := f.PRNext
		if next.Command == "" {
			next = run(contract.ActionResolveBlockers, CommandDryRun)
		}
		next.Action = contract.ActionResolveBlockers
		return Position{contract.StateReviewBlocked, next, true, cmp.Or(f.PRReason, "The review gate has a check that failed.")}
	default:
		return Position{contract.StateHumanReview, run(contract.ActionHumanReview, CommandCreate), true,
			"The dry run passed the review gate. A person must review it before anything is published."}
	}
}
