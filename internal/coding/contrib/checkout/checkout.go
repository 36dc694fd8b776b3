// Package checkout clones the repository of an issue into a workspace.
package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/contrib/snapshot"
	"github.com/org/foreman-action/internal/coding/contrib/workspace"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/triage"
)

// Options are the flags of the command.
type Options struct {
	Issue string // the issue in any form that [controller.ParseIssue] accepts; empty: the active one
	Depth int    // how many commits to clone; 0: all
	Fresh bool   // replace a workspace without changes by a new clone
}

// Run returns the document of "checkout", and makes the issue the active one. It does not change
// an existing workspace, unless [Options.Fresh] replaces it.
func Run(ctx context.Context, s session.Session, o Options) (contract.Workspace, error) {
	if o.Depth < 0 {
		return contract.Workspace{}, contract.Fail(contract.CodeUsage, "--depth: want a number of commits, 1 or more, got %d", o.Depth)
	}
	issue, files, err := target(s, o.Issue)
	if err != nil {
		return contract.Workspace{}, err
	}
	if err := workspace.Tidy(s, files); err != nil {
		return contract.Workspace{}, err
	}
	w, err := workspace.Open(s, issue, files)
	missing := false
	if p, ok := errors.AsType[*contract.Problem](err); ok {
		missing = p.Code == contract.CodeNoWorkspace
	}
	if err != nil && !missing {
		return contract.Workspace{}, err
	}
	if w != nil && o.Fresh {
		if err := untouched(ctx, s, issue, files); err != nil {
			return contract.Workspace{}, err
		}
	}
	created := w == nil || o.Fresh
	if created {
		if w, err = clone(ctx, s, workspace.Source{Issue: issue, Files: files, Depth: o.Depth}); err != nil {
			return contract.Workspace{}, err
		}
	}
	return finish(ctx, s, w, created)
}

// target returns the issue and the names of its files.
func target(s session.Session, arg string) (triage.Ref, controller.Files, error) {
	if arg == "" {
		return s.Active()
	}
	issue, err := controller.ParseIssue(arg)
	if err != nil {
		return triage.Ref{}, controller.Files{}, &contract.Problem{Code: contract.CodeUsage, Err: err}
	}
	files, err := s.Files(issue)
	return issue, files, err
}

// untouched returns an error if the workspace contains work and so must not be replaced.
func untouched(ctx context.Context, s session.Session, issue triage.Ref, files controller.Files) error {
	facts, err := workspace.Inspect(ctx, s, issue, files)
	if err != nil {
		return err
	}
	if facts.Problem != nil {
		return facts.Problem
	}
	if facts.Changed {
		return contract.Fail(contract.CodeWorkspaceDirty, "%s has changes, which --fresh would lose; remove them first", files.Workspace).
			With(contract.Run(contract.ActionDiff, "contribflow diff --json"))
	}
	return nil
}

// clone makes the workspace. It writes the record before it moves the folder into place. Otherwise
// an interruption could leave a folder without a record.
func clone(ctx context.Context, s session.Session, o workspace.Source) (*workspace.Workspace, error) {
	if s.Offline {
		return nil, contract.Fail(contract.CodeUnreachable, "%s has no workspace, and --offline keeps it from being cloned", o.Issue).
			With(contract.Run(contract.ActionCheckout, "contribflow checkout "+o.Issue.String()+" --json"))
	}
	if _, err := os.Lstat(s.Controller.Abs(o.Files.Workspace)); err == nil {
		if found, err := s.Controller.Read(o.Files.WorkspaceState, new(contract.Workspace)); err != nil || !found {
			return nil, errors.Join(err, contract.Fail(contract.CodeWorkspaceMismatch, "%s was not made by checkout; rename it or move it elsewhere", o.Files.Workspace).
				With(contract.Instruct(contract.ActionCheckout, "Move "+o.Files.Workspace+" away, then run: contribflow checkout "+o.Issue.String()+" --json")))
		}
	}
	var log bytes.Buffer
	o.Log = &log
	record, err := workspace.Clone(ctx, s, o)
	if errLog := s.Controller.WriteFile(o.Files.CheckoutLog, []byte(readable(s, log.String()))); errLog != nil {
		return nil, errors.Join(err, errLog)
	}
	if err != nil {
		return nil, err
	}
	if err := s.Controller.Write(o.Files.WorkspaceState, complete(s, record)); err != nil {
		return nil, err
	}
	if err := workspace.Publish(s, o.Files); err != nil {
		return nil, err
	}
	return workspace.Open(s, o.Issue, o.Files)
}

// readable removes credentials from git's log. Git overwrites progress lines by carriage returns;
// readable keeps only the last version of a line.
func readable(s session.Session, log string) string {
	var b strings.Builder
	token, _ := s.Token(session.HostOf(s.Server()))
	for line := range strings.Lines(secret.RedactForms(secret.Redact(log, token))) {
		line = strings.TrimRight(line, "\r\n")
		b.WriteString(sanitize.Log(strings.TrimRight(line[strings.LastIndexByte(line, '\r')+1:], " ")) + "\n")
	}
	return b.String()
}

// lastCommand is the last command in the published protocol.
const lastCommand = "git status --porcelain"

// complete sets the fields of the document that the clone does not determine.
func complete(s session.Session, record contract.Workspace) contract.Workspace {
	record.ControllerPath, record.RunFrom = s.Controller.Root, s.Controller.Root
	record.LastCommand = lastCommand
	record.Next = contract.Run(contract.ActionEdit, "contribflow diff --json")
	record.Submodules = contract.Submodules{Status: contract.SubmodulesNone}
	return record
}

// finish inspects the workspace, records it and makes its issue the active one.
func finish(ctx context.Context, s session.Session, w *workspace.Workspace, created bool) (contract.Workspace, error) {
	if err := w.Verify(ctx); err != nil {
		return contract.Workspace{}, err
	}
	var warnings []string
	if !created && !s.Offline {
		if _, err := workspace.Refresh(ctx, s, w); err != nil {
			warnings = append(warnings, fmt.Sprintf("the base commit was not updated and is still %.12s: %v", w.Record.BaseSHA, err))
		}
	}
	clean, err := snapshot.Clean(ctx, w.Clone)
	if err != nil {
		return contract.Workspace{}, err
	}
	submodules, more, err := w.Submodules(ctx)
	if err != nil {
		return contract.Workspace{}, err
	}
	about, err := w.Warnings(ctx)
	if err != nil {
		return contract.Workspace{}, err
	}
	document := complete(s, w.Record)
	document.Created, document.Clean, document.Submodules = created, clean, submodules
	document.Warnings = append(append(warnings, more...), about...)
	if err := s.Controller.Write(w.Files.WorkspaceState, document); err != nil {
		return contract.Workspace{}, err
	}
	return document, s.Controller.Activate(document.Issue, s.Now())
}
