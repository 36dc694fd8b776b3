package validate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/ecosystem"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/contrib/state"
	"github.com/org/foreman-action/internal/coding/sandbox"
	"github.com/org/foreman-action/internal/text"
)

// Sentences that several documents contain.
const (
	setupDetected   = "Dependency setup detected but not run. Use --run --sandbox docker to execute setup in an isolated sandbox before validation."
	commandDetected = "Command detected but not run. Use --run --sandbox docker to execute validation in an isolated sandbox."
)

// A document is the result of a validation in progress.
type document struct {
	contract.Validation
	found  ecosystem.Detection
	partly bool // only some of the commands were selected
}

// newDocument returns the document of a validation in which nothing has run.
func newDocument(s session.Session, c *change, found ecosystem.Detection) *document {
	d := &document{found: found, Validation: contract.Validation{
		WorkspacePath: c.files.Workspace, Issue: c.workspace.Record.Issue, PatchDigest: c.digest, BlocksPR: true,
		CreatedAt: contract.Time(s.Now()), Warnings: found.Warnings, Accepted: []string{},
	}}
	for _, setup := range found.Setup {
		entry := contract.CommandRun{Command: setup.Line, WorkingDirectory: setup.Dir, Status: contract.Blocked, Reason: setupDetected}
		if setup.Block != nil {
			entry.Reason = setup.Block.Reason
		}
		d.SetupCommands = append(d.SetupCommands, entry)
	}
	for _, command := range found.Commands {
		d.Commands = append(d.Commands, contract.CommandRun{
			Command: command.Line, WorkingDirectory: command.Dir, Status: contract.Blocked, Reason: commandDetected,
		})
	}
	return d
}

// detected completes the document of a validation that only detected commands.
func (d *document) detected() {
	d.Status, d.partly = contract.Blocked, true
	d.Reason = "Validation commands were detected but not run. PR creation remains blocked."
	d.Next = contract.Run(contract.ActionSandboxValidation, state.CommandSandbox)
}

// block completes the document of a validation that needs a person to act.
func (d *document) block(reason string, next contract.Next) {
	d.Status, d.Reason, d.Next, d.RequiresHumanApproval = contract.Blocked, reason, next, true
}

// blockSetup completes the document of a validation whose dependencies must not be installed.
func (d *document) blockSetup(b ecosystem.Block, asked bool) {
	d.block(b.Reason+" PR creation remains blocked.", contract.Instruct(contract.ActionSandboxValidation, b.Remedy))
	d.partly = !asked
	if !asked {
		return
	}
	for i := range d.SetupCommands {
		if d.found.Setup[i].Block == nil {
			d.SetupCommands[i].Reason = "Not run, because another dependency setup is blocked."
		}
	}
	for i := range d.Commands {
		d.Commands[i].Reason = "Not run, because the dependency setup is blocked."
	}
}

// partial completes the document of a validation of one command that did not fail.
func (d *document) partial(only string) {
	d.partly, d.BlocksPR = true, true
	if d.Status == contract.Passed {
		d.Status = contract.Blocked
		d.Reason = fmt.Sprintf("Only %q ran. PR creation remains blocked until all commands pass.", only)
		d.Next = contract.Run(contract.ActionSandboxValidation, state.CommandSandbox)
	}
}

// rest sets the status and the reason of all commands that have not run.
func (d *document) rest(status, reason string) {
	for _, list := range [][]contract.CommandRun{d.SetupCommands, d.Commands} {
		for i := range list {
			if list[i].Status == contract.Blocked && list[i].Sandbox == "" {
				list[i].Status, list[i].Reason = status, reason
			}
		}
	}
}

// finish completes the document after all commands were run or skipped.
func (d *document) finish() {
	switch {
	case slices.ContainsFunc(d.SetupCommands, failed):
		d.fail("Dependency setup failed in the Docker sandbox.")
	case slices.ContainsFunc(d.Commands, failed):
		d.fail("One or more validation commands failed in the Docker sandbox.")
	default:
		d.Status, d.BlocksPR = contract.Passed, false
		d.Reason = "All validation commands passed in the Docker sandbox."
		if ecosystem.OnlyBuiltIn(d.Commands) {
			d.Reason = "Only " + ecosystem.BuiltIn + " passed in the Docker sandbox: nothing but the whitespace of the change was checked."
		}
		d.Next = contract.Run(contract.ActionDraftPR, state.CommandDryRun)
	}
}

func (d *document) fail(reason string) {
	d.Status, d.Reason = contract.Failed, reason
	d.Next = contract.Instruct(contract.ActionFixValidation, state.InstructionRepair)
}

// record stores the result of a command in its entry.
func record(entry *contract.CommandRun, command ecosystem.Command, setup bool, r sandbox.Result) {
	what := "Validation"
	if setup {
		what = "Dependency setup"
	}
	duration := r.Duration.Round(time.Millisecond).Milliseconds()
	entry.Sandbox, entry.SandboxImage, entry.DurationMS = Docker, command.Image, &duration
	entry.ExitCode, entry.Stdout, entry.Stderr = &r.ExitCode, &r.Stdout, &r.Stderr
	if r.OK() {
		entry.Status, entry.Reason = contract.Passed, what+" passed in the Docker sandbox."
		return
	}
	entry.Status, entry.Reason = contract.Failed, what+" failed in the Docker sandbox."
	const killed = 128 + 9
	if r.TimedOut || r.ExitCode == killed {
		entry.Reason = what + " failed in the Docker sandbox: " + r.Reason + "."
	}
	output := r.Stderr + "\n" + r.Stdout
	entry.SystemPackages = systemPackages(output)
	if len(entry.SystemPackages) > 0 {
		entry.Reason += " Likely missing system packages: " + strings.Join(entry.SystemPackages, ", ") + "."
	} else if program := missingProgram(output); program != "" {
		entry.Reason += fmt.Sprintf(" The image %s does not contain %s; set sandbox.images.%s in .contribflow/config.json to one that does.",
			command.Image, program, command.Ecosystem)
	}
}

// save writes the document. A blocked validation does not replace a passed one of the same patch.
// A blocked validation of selected commands does not replace a failed one either.
func (d *document) save(s session.Session, path string) error {
	var old contract.Validation
	if _, err := s.Controller.ReadSealed(path, &old); err == nil && d.Status == contract.Blocked && old.PatchDigest == d.PatchDigest &&
		(old.Status == contract.Passed || d.partly && old.Status == contract.Failed) {
		return nil
	}
	return s.Controller.WriteSealed(path, d.Validation)
}

// explain returns the part of an error's text after the text of its cause, as a sentence.
func explain(err, cause error) string {
	const longest = 500
	message := strings.Join(strings.Fields(err.Error()), " ")
	if i := strings.LastIndex(message, cause.Error()+": "); i >= 0 {
		message = message[i+len(cause.Error())+2:]
	}
	message = text.Shorten(text.Plain(message, longest), longest)
	if !strings.HasSuffix(message, ".") && !strings.HasSuffix(message, "?") && !strings.HasSuffix(message, "!") {
		message += "."
	}
	return message
}
