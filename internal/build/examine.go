package build

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/org/foreman-action/handoff"
	"github.com/org/foreman-action/internal/build/config"
	"github.com/org/foreman-action/internal/build/workspace"
)

// A Judgement is the pipeline's verdict on a result in a folder.
type Judgement struct {
	OK       bool              `json:"ok"`
	State    handoff.State     `json:"state"`
	Errors   []handoff.Problem `json:"errors"`
	Warnings []handoff.Problem `json:"warnings"`
}

// Judge judges the result of a role in a folder.
func Judge(role handoff.Role, dir string) Judgement {
	data, unreadable := readResult(dir, role.ResultFile())
	var gate handoff.Gate
	if role == handoff.Builder {
		_, gate = handoff.GateBuilder(data)
	} else {
		_, gate = handoff.GateInspector(data)
	}
	j := Judgement{OK: gate.State == handoff.StateValid, State: gate.State, Errors: []handoff.Problem{}, Warnings: []handoff.Problem{}}
	j.Errors = append(j.Errors, gate.Problems...)
	j.Warnings = append(j.Warnings, gate.Warnings...)
	if unreadable != nil {
		j.State, j.Errors = handoff.StateInvalid, append(j.Errors, *unreadable)
	}
	return j
}

// ExitCode returns the exit code of a program that judged a result.
func (j Judgement) ExitCode() int {
	switch {
	case j.OK:
		return exitApproved
	case j.State == handoff.StateFailed:
		return exitAgent
	default:
		return exitHandoff
	}
}

// A Finding is one requirement of a run, with the result of checking it.
type Finding struct {
	What   string
	OK     bool
	Detail string // the finding, or what to do
}

// Examine checks the requirements of a run and returns one Finding for each.
func Examine(ctx context.Context, o Options) []Finding {
	var all []Finding
	add := func(what string, err error, detail string) bool {
		if err != nil {
			detail = err.Error()
		}
		all = append(all, Finding{what, err == nil, detail})
		return err == nil
	}
	repo, err := workspace.Open(ctx, o.Dir, o.Environ)
	if !add("repository", err, "") {
		return all
	}
	all[0].Detail = repo.Root
	base, branch, err := repo.Base(ctx, o.Base)
	if branch == "" {
		branch = "no branch"
	}
	if !add("base", err, base+" ("+branch+")") {
		return all
	}
	r := &run{o: o, repo: repo, rec: record{Base: base}}
	if add("configuration", r.configure(ctx), config.Name) {
		for _, role := range []handoff.Role{handoff.Builder, handoff.Inspector} {
			c := r.agentConfig(role)
			if c.Script != "" {
				add(string(role), nil, "the script "+c.Script)
				continue
			}
			if r.config.Sandbox == config.Docker {
				add(string(role), nil, c.Command[0]+" of the image "+r.config.Image) // only a run opens it
				continue
			}
			path, err := exec.LookPath(c.Command[0])
			add(string(role), err, path)
		}
		if r.config.Sandbox == config.Docker {
			err := r.openSandbox(ctx)
			if err == nil {
				err = r.sandbox.Close()
			}
			add("sandbox", err, "docker")
		}
		for _, name := range r.config.Env {
			if !hasVariable(o.Environ, name) {
				all = append(all, Finding{"variable", false, name + " is listed under env and is not set"})
			}
		}
	}
	err = os.MkdirAll(o.Worktrees, 0o750)
	if err == nil {
		name := filepath.Join(o.Worktrees, ".probe")
		if err = os.WriteFile(name, nil, 0o600); err == nil {
			err = os.Remove(name)
		}
	}
	add("folder for worktrees", err, o.Worktrees)
	return all
}

func hasVariable(environ []string, name string) bool {
	for _, variable := range environ {
		if strings.HasPrefix(variable, name+"=") {
			return true
		}
	}
	return false
}
