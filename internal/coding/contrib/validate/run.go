package validate

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/ecosystem"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/contrib/state"
	"github.com/org/foreman-action/internal/coding/sandbox"
	"github.com/org/foreman-action/internal/text"
)

// sandboxRoot is the path of the workspace in containers.
const sandboxRoot = "/workspace"

// maxPath is how many characters of a path the log has.
const maxPath = 200

// locks is the directory of the sandbox's locks, relative to the controller's root.
const locks = controller.Folder + "/sandbox"

// A runner runs the commands of a validation in the sandbox.
type runner struct {
	s        session.Session
	change   *change
	found    ecosystem.Detection
	document *document
	log      log
	done     int // number of finished commands
}

// run runs all commands, and completes the document. It returns an error if this machine failed or
// ctx ended.
func (r *runner) run(ctx context.Context) error {
	set := r.s.Config.Sandbox
	r.document.SandboxSettings = &contract.SandboxSettings{
		Network: set.Network, CPUs: set.CPUs, Memory: set.Memory, PIDs: set.PIDs,
		CommandTimeoutSeconds: set.CommandTimeoutSeconds, TotalTimeoutSeconds: set.TotalTimeoutSeconds,
	}
	r.document.LogPath = r.change.files.ValidationLog
	err := r.inSandbox(ctx)
	if ctx.Err() != nil {
		return fmt.Errorf("validate: %w", context.Cause(ctx))
	}
	if err != nil {
		return r.blocked(err)
	}
	r.document.finish()
	return nil
}

// inSandbox opens the sandbox, and runs the commands in it.
func (r *runner) inSandbox(ctx context.Context) (err error) {
	r.report("start the sandbox")
	set := r.s.Config.Sandbox
	box, err := sandbox.Open(ctx, sandbox.Options{
		Environ: r.s.Environ, Name: "contribflow", Locks: r.s.Controller.Abs(locks), Redact: r.log.redactor.redact, Now: r.s.Now,
		Settings: sandbox.Settings{
			Network: sandbox.Network(set.Network), CPUs: set.CPUs, Memory: set.Memory, PIDs: set.PIDs,
			CommandTimeout: set.CommandTimeout(), TotalTimeout: set.TotalTimeout(),
		},
	})
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := box.Close(); closeErr != nil {
			r.document.Warnings = append(r.document.Warnings, r.log.redactor.redact("Containers or volumes were not removed, and the next validation removes them: "+explain(closeErr, closeErr)))
		}
	}()
	all := append(slices.Clone(r.found.Setup), r.found.Commands...)
	load := sandbox.Workspace{Dir: r.change.workspace.Clone.Dir, Image: all[0].Image, Base: r.change.snapshot.Base, Environ: r.s.Environ}
	if err := box.Load(ctx, load); err != nil {
		return err
	}
	// The workspace must not have changed while it was copied, because the document contains the
	// earlier digest.
	if err := r.change.unchanged(ctx); err != nil {
		return err
	}
	for i, setup := range r.found.Setup {
		if err := r.command(ctx, box, setup, &r.document.SetupCommands[i]); err != nil {
			return err
		}
		if r.document.SetupCommands[i].Status != contract.Passed {
			r.document.rest(contract.Skipped, "Skipped, because the dependency setup failed.")
			return nil
		}
	}
	for i, command := range r.found.Commands {
		if command.Line == ecosystem.BuiltIn {
			if err := r.spread(ctx, box, command); err != nil {
				return err
			}
		}
		if err := r.command(ctx, box, command, &r.document.Commands[i]); err != nil {
			return err
		}
	}
	return nil
}

// spread makes the whole patch an uncommitted change of the copy in the sandbox, including commits
// and new files. "git diff --check" checks only uncommitted changes.
func (r *runner) spread(ctx context.Context, box *sandbox.Session, command ecosystem.Command) error {
	for _, args := range [][]string{{"git", "reset", "--quiet", r.change.snapshot.Base}, {"git", "add", "--intent-to-add", "--all"}} {
		result, err := box.Run(ctx, sandbox.Command{Args: args, Image: command.Image})
		if err != nil {
			return err
		}
		if !result.OK() {
			return fmt.Errorf("prepare the workspace in the sandbox: %s: %s", args[1], result.Stderr)
		}
	}
	return nil
}

// command runs one command and records its result.
func (r *runner) command(ctx context.Context, box *sandbox.Session, command ecosystem.Command, entry *contract.CommandRun) error {
	setup := r.done < len(r.found.Setup)
	r.report(command.Line)
	output := beginning{limit: maxCommandLog}
	result, err := box.Run(ctx, sandbox.Command{
		Line: command.Line, Image: command.Image, Dir: command.Dir, Network: setup, Env: command.Env, Output: &output,
	})
	r.log.add("$ %s  [%s, in %s]", command.Line, command.Image, text.Plain(path.Join(sandboxRoot, command.Dir), maxPath))
	r.log.output(&output)
	if err != nil {
		r.log.add("did not finish: %v\n", err)
		return fmt.Errorf("image %s, key %s: %w", command.Image, command.Ecosystem, err)
	}
	r.log.add("%s after %s\n", result.Reason, result.Duration.Round(time.Millisecond))
	record(entry, command, setup, result)
	r.done++
	return nil
}

// report reports the progress of the validation.
func (r *runner) report(what string) {
	r.s.Report(session.Progress{What: what, Done: r.done, Total: len(r.found.Setup) + len(r.found.Commands)})
}

// blocked completes a document whose commands could not be run. It returns errors that no document
// can describe.
func (r *runner) blocked(err error) error {
	d := r.document
	again := ", then run: " + state.CommandSandbox
	var what string
	var cause error
	var next contract.Next
	switch {
	case errors.Is(err, sandbox.ErrUnavailable):
		what, cause = "Docker is not available", sandbox.ErrUnavailable
		next = contract.Instruct(contract.ActionStartDocker, "Install or start Docker"+again)
	case errors.Is(err, sandbox.ErrImage):
		what, cause = "An image of the sandbox is not available", sandbox.ErrImage
		next = contract.Instruct(contract.ActionSandboxValidation, "Make the image available with docker pull, or name another one as sandbox.images in "+controller.ConfigPath+again)
	case errors.Is(err, sandbox.ErrTooLarge):
		what, cause = "The workspace does not fit into the sandbox", sandbox.ErrTooLarge
		next = contract.Instruct(contract.ActionSandboxValidation, "Remove or ignore the files in the workspace that do not belong to it"+again)
	case errors.Is(err, sandbox.ErrChanged):
		return stale()
	default:
		return err
	}
	reason := what + ": " + explain(err, cause)
	reason = r.log.redactor.redact(reason)
	r.log.add("%s", reason)
	if slices.ContainsFunc(d.SetupCommands, failed) || slices.ContainsFunc(d.Commands, failed) {
		d.rest(contract.Skipped, "Skipped. "+what+".")
		d.finish()
		return nil
	}
	d.rest(contract.Blocked, "Not run. "+what+".")
	d.block(reason+" PR creation remains blocked.", next)
	return nil
}

func failed(c contract.CommandRun) bool { return c.Status == contract.Failed }
