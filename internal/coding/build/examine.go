package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/org/foreman-action/internal/coding/build/config"
	"github.com/org/foreman-action/internal/coding/build/workspace"
	"github.com/org/foreman-action/internal/coding/sandbox"
	"github.com/org/foreman-action/internal/handoff"
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
	checkout, err := workspace.Open(ctx, o.Dir, o.Environ)
	if !add("repository", err, "") {
		return all
	}
	all[0].Detail = checkout.Root
	base, branch, err := checkout.Base(ctx, o.Base)
	if branch == "" {
		branch = "no branch"
	}
	if !add("base", err, base+" ("+branch+")") {
		return all
	}
	r := &run{o: o, checkout: checkout, rec: record{Base: base}}
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
			session, err := sandbox.Open(ctx, r.sandboxOptions())
			if err == nil {
				err = session.Close()
			}
			add("sandbox", err, "docker")
		}
		for _, name := range r.config.Env {
			if !hasVariable(o.Environ, name) {
				all = append(all, Finding{"variable", false, name + " is listed under env and is not set"})
			}
		}
	}
	err = os.MkdirAll(o.State, 0o700)
	if err == nil {
		var file *os.File
		if file, err = os.CreateTemp(o.State, ".probe-"); err == nil {
			err = errors.Join(file.Close(), os.Remove(file.Name()))
		}
	}
	add("folder for clones", err, o.State)
	return append(all, stored(checkout.Root, o.State)...)
}

// stored returns what runs that are not in progress have left in the folder of their repositories and
// clones.
func stored(root, state string) []Finding {
	folders, err := os.ReadDir(state)
	if err != nil {
		return nil // reported as missing
	}
	var all []Finding
	for _, folder := range folders {
		id := folder.Name()
		dir := filepath.Join(state, id)
		if !folder.IsDir() || CheckTaskID(id) != nil || locked(filepath.Join(root, runsFolder, id)) {
			continue
		}
		todo := "to remove it, run: foreman build clean --task-id " + id
		if _, err := os.Stat(filepath.Join(root, runsFolder, id)); errors.Is(err, fs.ErrNotExist) {
			todo = "the run is not in this checkout; remove the folder"
		}
		all = append(all, Finding{"stored run", true, fmt.Sprintf("%s has %.1f MB in %s; %s", id, float64(workspace.Size(dir))/1e6, dir, todo)})
	}
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
