package state_test

import (
	"errors"
	"testing"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/state"
)

// TestDerive tests the rows of the table of states, from the last to the first. Each row uses the
// facts of the following row and undoes the one fact on which the row depends.
func TestDerive(t *testing.T) {
	t.Parallel()
	ready := state.Facts{
		ConfigExists: true, Authenticated: true, Issue: "o/r#1", Checkout: true, Changed: true, Digest: "d", PatchDigest: "d",
		Validation: contract.Passed, ValidationDigest: "d", PR: contract.DryRun, PRDigest: "d", GateOpen: true,
	}
	with := func(change func(*state.Facts)) state.Facts {
		f := ready
		change(&f)
		return f
	}
	tests := []struct {
		name    string
		facts   state.Facts
		state   contract.State
		action  contract.Action
		command string
		human   bool
	}{
		{"all done", ready, contract.StateHumanReview, contract.ActionHumanReview, "contribflow pr --draft --yes --json", true},
		{"gate closed", with(func(f *state.Facts) { f.GateOpen = false }), contract.StateReviewBlocked, contract.ActionResolveBlockers, "contribflow pr --draft --json", true},
		{"gate closed, with a recommendation", with(func(f *state.Facts) {
			f.GateOpen, f.PRNext = false, contract.Instruct(contract.ActionEdit, "Make the patch smaller.")
		}), contract.StateReviewBlocked, contract.ActionResolveBlockers, "Make the patch smaller.", true},
		{"dry run of another patch", with(func(f *state.Facts) { f.PRDigest = "e" }), contract.StateReadyForDryRun, contract.ActionDraftPR, "contribflow pr --draft --json", false},
		{"no dry run", with(func(f *state.Facts) { f.PR = "" }), contract.StateReadyForDryRun, contract.ActionDraftPR, "contribflow pr --draft --json", false},
		{"validation failed", with(func(f *state.Facts) { f.Validation = contract.Failed }), contract.StateValidationFailed, contract.ActionFixValidation, state.InstructionRepair, false},
		{"validation blocked", with(func(f *state.Facts) { f.Validation = contract.Blocked }), contract.StateValidationStops, contract.ActionSandboxValidation, state.CommandSandbox, false},
		{"no docker", with(func(f *state.Facts) {
			f.Validation, f.ValidationNext = contract.Blocked, contract.Instruct(contract.ActionStartDocker, "Start Docker.")
		}), contract.StateValidationStops, contract.ActionStartDocker, "Start Docker.", true},
		{"validation of another patch", with(func(f *state.Facts) { f.ValidationDigest = "e" }), contract.StateNeedsValidation, contract.ActionValidate, "contribflow validate --json", false},
		{"edited after diff", with(func(f *state.Facts) { f.Digest = "e" }), contract.StateReadyForDiff, contract.ActionDiff, "contribflow diff --json", false},
		{"no artifact", with(func(f *state.Facts) { f.PatchDigest = "" }), contract.StateReadyForDiff, contract.ActionDiff, "contribflow diff --json", false},
		{"no digest", with(func(f *state.Facts) { f.Digest, f.PatchDigest = "", "" }), contract.StateReadyForDiff, contract.ActionDiff, "contribflow diff --json", false},
		{"unchanged", with(func(f *state.Facts) { f.Changed = false }), contract.StateNeedsChanges, contract.ActionEdit, "contribflow diff --json", false},
		{"creation failed", with(func(f *state.Facts) { f.PR = contract.Failed }), contract.StatePRFailed, contract.ActionInspectFailure, "contribflow pr --draft --json", true},
		{"creation failed, edited since", with(func(f *state.Facts) { f.PR, f.Digest = contract.Failed, "e" }), contract.StateReadyForDiff, contract.ActionDiff, "contribflow diff --json", false},
		{"no workspace", with(func(f *state.Facts) { f.Checkout = false }), contract.StateNeedsCheckout, contract.ActionCheckout, "contribflow checkout o/r#1 --json", false},
		{"created", with(func(f *state.Facts) { f.PR, f.PRURL, f.Checkout = contract.Created, "https://x/1", false }), contract.StateDone, contract.ActionDone, "https://x/1", false},
		{"no issue", with(func(f *state.Facts) { f.Issue = "" }), contract.StateDiscovery, contract.ActionDiscover, "contribflow discover --json", false},
		{"no access", with(func(f *state.Facts) { f.Authenticated = false }), contract.StateNeedsAuth, contract.ActionAuthenticate, "gh auth login", true},
		{"no configuration", with(func(f *state.Facts) { f.ConfigExists = false }), contract.StateNeedsInit, contract.ActionInit, "contribflow init --json", false},
	}
	seen := map[contract.State]bool{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := state.Derive(tt.facts)
			if got.State != tt.state || got.Next.Action != tt.action || got.Next.Command != tt.command || got.Human != tt.human || got.Reason == "" {
				t.Errorf("got %+v", got)
			}
		})
		seen[tt.state] = true
	}
	for _, s := range contract.States() {
		if !seen[s] {
			t.Errorf("no row leads to %s", s)
		}
	}
	bad := state.Derive(with(func(f *state.Facts) { f.ConfigError = errors.New("3:1: what") }))
	if bad.State != contract.StateNeedsInit || !bad.Human || bad.Next.Kind != contract.KindInstruction {
		t.Errorf("invalid configuration: got %+v", bad)
	}
}
