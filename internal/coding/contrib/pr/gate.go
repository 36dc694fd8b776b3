package pr

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/ecosystem"
	"github.com/org/foreman-action/internal/coding/contrib/publish"
	"github.com/org/foreman-action/internal/coding/contrib/state"
	"github.com/org/foreman-action/internal/handoff"
	"github.com/org/foreman-action/internal/sanitize"
)

// The names of the checks, in the order of the gate.
const (
	checkPatch      = "patch_artifact"
	checkSize       = "patch_size"
	checkSensitive  = "sensitive_files"
	checkDuplicate  = "duplicate_content"
	checkSubmodules = "submodules"
	checkValidation = "sandbox_validation"
	checkCommands   = "public_commands"
	checkDisclosure = "ai_disclosure"
	checkInspector  = "inspector_review"
	checkDryRun     = "pr_dry_run"
)

// acceptable are the checks that a person can accept although they failed.
var acceptable = []string{checkSensitive, checkDuplicate, checkSize}

// A review is the input of the gate. The gate depends only on these fields.
type review struct {
	config     controller.Config
	digest     string // digest of the current workspace
	patch      *contract.Patch
	validation *contract.Validation
	submodules contract.Submodules
	accepted   []string
	commands   []publish.Command
	refused    string // why there are no commands; empty if there are commands
	body       string
	inspector  *inspection // nil: no Inspector's result
	// invalid has the name of a check as key. The value is the reason why the document that this
	// check needs is ignored.
	invalid map[string]string
	// dryRun is the reason why there is no valid dry run; empty if there is one, or if this is the
	// dry run.
	dryRun string
}

// A verdict is the gate, with the next step that the first failed check recommends.
type verdict struct {
	gate contract.ReviewGate
	next contract.Next
}

// passed reports whether every check passed.
func (v verdict) passed() bool { return v.gate.State == string(contract.StateHumanReview) }

// failure returns the name and the reason of the first failed check.
func (v verdict) failure() string {
	for _, c := range v.gate.Checks {
		if c.Status == contract.Failed {
			return c.Name + ": " + c.Reason
		}
	}
	return ""
}

// A result is one check, with the next step if it failed.
type result struct {
	name, problem, fine string
	next                contract.Next
}

// judge returns the gate of a review.
func (r review) judge() verdict {
	results := []result{r.patchArtifact(), r.patchSize(), r.sensitiveFiles(), r.duplicateContent()}
	if r.submodules.Status != contract.SubmodulesNone {
		results = append(results, r.submodulesReady())
	}
	results = append(results, r.sandboxValidation(), r.publicCommands(), r.disclosure())
	if r.config.Pipeline {
		results = append(results, r.inspectorReview())
	}
	results = append(results, result{checkDryRun, r.dryRun, "Draft PR dry-run exists and performed no GitHub writes.",
		contract.Run(contract.ActionResolveBlockers, state.CommandDryRun)})
	v := verdict{gate: contract.ReviewGate{State: string(contract.StateHumanReview)}}
	for _, one := range results {
		check := contract.Check{Name: one.name, Status: contract.Passed, Reason: one.fine}
		if one.problem != "" {
			if v.passed() {
				v.next = one.next
				v.gate.State = contract.Blocked
			}
			check.Status, check.Reason = contract.Failed, one.problem
		}
		v.gate.Checks = append(v.gate.Checks, check)
	}
	return v
}

func (r review) patchArtifact() result {
	out := result{name: checkPatch, next: contract.Run(contract.ActionResolveBlockers, state.CommandDiff)}
	switch {
	case r.patch == nil:
		out.problem = cmp.Or(r.invalid[checkPatch], "There is no patch artifact.")
	case r.patch.PatchDigest != r.digest:
		out.problem = "The workspace changed after the patch artifact was made."
	case !r.patch.HasChanges:
		out.problem = "The patch artifact has no changes."
	default:
		out.fine = fmt.Sprintf("Patch artifact exists with %d changed file(s).", len(r.patch.ChangedFiles))
	}
	return out
}

// files returns the files of the patch.
func (r review) files() []contract.ChangedFile {
	if r.patch == nil {
		return nil
	}
	return r.patch.ChangedFiles
}

// accept turns a failed check into a passed one if a person accepted it.
func (r review) accept(out result) result {
	if out.problem != "" && slices.Contains(r.accepted, out.name) {
		out.fine, out.problem = "Accepted by a person: "+out.problem, ""
	}
	return out
}

func (r review) patchSize() result {
	lines := 0
	for _, f := range r.files() {
		lines += f.Additions + f.Deletions
	}
	size := fmt.Sprintf("%d/%d files and %d/%d lines.", len(r.files()), r.config.MaxChangedFiles, lines, r.config.MaxLinesChanged)
	out := result{
		name: checkSize, fine: "Patch size is within config limits: " + size,
		next: contract.Instruct(contract.ActionResolveBlockers, "Make the patch smaller, then run: "+state.CommandDiff),
	}
	if len(r.files()) > r.config.MaxChangedFiles || lines > r.config.MaxLinesChanged {
		out.problem = "Patch size is beyond config limits: " + size
	}
	return r.accept(out)
}

func (r review) sensitiveFiles() result {
	out := result{
		name: checkSensitive, fine: "Patch artifact reports no sensitive files.",
		next: contract.Instruct(contract.ActionResolveBlockers, "A person must review the sensitive files, then take them out or run: contribflow pr --draft --accept sensitive_files --json"),
	}
	if r.patch != nil && len(r.patch.RiskFlags.SensitiveFiles) > 0 {
		out.problem = fmt.Sprintf("Patch artifact reports %d sensitive file(s): %s.", len(r.patch.RiskFlags.SensitiveFiles), some(r.patch.RiskFlags.SensitiveFiles))
	}
	return r.accept(out)
}

// some lists at most five elements, and the number of the others.
func some(list []string) string {
	const most = 5
	if len(list) > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
	}
	return strings.Join(list, ", ")
}

func (r review) duplicateContent() result {
	out := result{
		name: checkDuplicate, fine: "Patch artifact reports no duplicate content warnings.",
		next: contract.Instruct(contract.ActionResolveBlockers, "Remove the lines that the repository has already, then run: "+state.CommandDiff),
	}
	if r.patch != nil && len(r.patch.RiskFlags.DuplicateContent) > 0 {
		var places []string
		for _, d := range r.patch.RiskFlags.DuplicateContent {
			places = append(places, d.Path)
		}
		places = slices.Compact(places)
		out.problem = fmt.Sprintf("Patch artifact reports %d duplicate content warning(s) in %s.", len(r.patch.RiskFlags.DuplicateContent), some(places))
	}
	if r.patch != nil && r.patch.RiskFlags.DuplicateSearchIncomplete != "" {
		const more = " The search is incomplete, so there may be more: "
		if out.problem != "" {
			out.problem += more + r.patch.RiskFlags.DuplicateSearchIncomplete + "."
		} else {
			out.fine = "No duplicate content was found." + more + r.patch.RiskFlags.DuplicateSearchIncomplete + "."
		}
	}
	return r.accept(out)
}

func (r review) submodulesReady() result {
	out := result{name: checkSubmodules, fine: "All declared submodules are initialized."}
	if r.submodules.Status == contract.SubmodulesMissing {
		out.problem = r.submodules.Reason
		out.next = contract.Instruct(contract.ActionResolveBlockers, "Initialize the submodules of the workspace.")
		if c := r.submodules.RecommendedCommand; c != nil {
			out.next = contract.Run(contract.ActionResolveBlockers, *c)
		}
	}
	return out
}

// validationStatus returns the status of the validation, if it is for the current patch.
func (r review) validationStatus() string {
	if r.validation == nil || r.validation.PatchDigest != r.digest {
		return contract.Missing
	}
	return r.validation.Status
}

func (r review) sandboxValidation() result {
	out := result{name: checkValidation, next: contract.Run(contract.ActionResolveBlockers, state.CommandSandbox)}
	switch status := r.validationStatus(); {
	case r.validation == nil:
		out.problem = cmp.Or(r.invalid[checkValidation], "The patch has not been validated.")
	case status == contract.Missing:
		out.problem = "The workspace changed after it was validated."
	case status != contract.Passed:
		out.problem = "Validation is " + status + ": " + r.validation.Reason
	case slices.ContainsFunc(r.validation.Commands, func(c contract.CommandRun) bool { return c.Sandbox != "docker" }):
		out.problem = "A validation command did not run in the Docker sandbox."
	default:
		out.fine = fmt.Sprintf("%d validation command(s) passed in the Docker sandbox.", len(r.validation.Commands))
		if ecosystem.OnlyBuiltIn(r.validation.Commands) {
			out.fine = "Only " + ecosystem.BuiltIn + " passed in the Docker sandbox: nothing but the whitespace of the change was checked."
		}
	}
	return out
}

func (r review) publicCommands() result {
	out := result{
		name: checkCommands, problem: r.refused,
		fine: fmt.Sprintf("%d planned command(s) are listed before public GitHub writes.", len(r.commands)),
		next: contract.Instruct(contract.ActionResolveBlockers, `Contribute from an account that can have a fork of the repository. "forkOwner" and "forkName" in `+controller.ConfigPath+" name it. Then run: "+state.CommandDryRun),
	}
	if out.problem == "" && len(r.commands) == 0 {
		out.problem = "No command is planned."
		if r.dryRun != "" {
			out.next = contract.Run(contract.ActionResolveBlockers, state.CommandDryRun)
		}
	}
	return out
}

func (r review) disclosure() result {
	out := result{
		name: checkDisclosure, fine: "PR body includes the ContribFlow AI disclosure.",
		next: contract.Instruct(contract.ActionResolveBlockers, `Set "aiDisclosure" to true in `+controller.ConfigPath+", then run: "+state.CommandDryRun),
	}
	if !disclosed(r.body) {
		out.problem = "PR body lacks the ContribFlow AI disclosure."
	}
	return out
}

func (r review) inspectorReview() result {
	out := result{
		name: checkInspector, fine: "The Inspector approved the patch.",
		next: contract.Instruct(contract.ActionResolveBlockers, "Make the changes that the Inspector asks for in the workspace, then run: "+state.CommandDiff),
	}
	again := contract.Instruct(contract.ActionResolveBlockers, "Let an Inspector judge the patch, then run: contribflow pr --draft --inspector-result FILE --json")
	switch {
	case r.inspector == nil:
		out.problem, out.next = "No Inspector has judged the patch.", again
	case r.inspector.Work == nil:
		out.problem = "The Inspector could not work."
		if r.inspector.Run.Error != nil {
			out.problem += " " + *r.inspector.Run.Error
		}
	case r.inspector.patchDigest != "" && r.inspector.patchDigest != r.digest:
		out.problem, out.next = fmt.Sprintf("The Inspector judged another patch: its result names %.12s.", sanitize.Line(r.inspector.patchDigest)), again
	case r.inspector.Work.Status != handoff.Approved:
		var asks []string
		for _, i := range r.inspector.Work.Issues {
			asks = append(asks, i.Description)
		}
		asks = append(asks, r.inspector.Work.NextTasks...)
		out.problem = "The Inspector requests changes: " + some(asks) + "."
	case r.inspector.patchDigest == "":
		out.problem, out.next = `The result of the Inspector does not name the patch that it judged: it needs "patch_digest", the patchDigest of the patch artifact.`, again
	}
	return out
}
