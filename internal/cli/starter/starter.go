// Package starter proposes the first files of a repository: rules in shadow mode with their
// tests, and a workflow that runs them.
//
// [Read] reads what a repository has: issue forms, a list of labels, and workflows with the
// configurations of other triage tools. [Propose] makes rules of it: those of the tools, those
// that give labels by the answers in issue forms, and those that give labels by words. A
// label that the repository does not have is not used, and a rule that comments is only
// proposed where [Options] asks for it or where a tool did so. "foreman init" writes the
// proposal, and the job summary of a workflow run without a configuration shows it.
package starter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/importer/joined"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
)

// A Proposal is the first files of a repository.
type Proposal struct {
	Rules    []byte // of config.DefaultPath
	Workflow []byte
	// Parts name the origins of the rules with their numbers of rules.
	Parts []string
	// Unmapped lists the parts of other tools' configurations without a counterpart.
	Unmapped yamlfile.Problems
}

// Minimal returns the proposal for a repository without any data.
func Minimal(ctx context.Context) (Proposal, error) {
	return Propose(ctx, Repository{}, Options{})
}

// Propose returns the first files of a repository. The rules load, and their tests pass. The
// error is a [yamlfile.Problems] when the configuration of a tool has mistakes, those of all
// tools. A label or a form that no rule can name has no rule.
func Propose(ctx context.Context, r Repository, o Options) (Proposal, error) {
	labels := r.usable()
	index := indexOf(labels)
	own, err := formRules(ctx, r.Forms, index)
	if err != nil {
		return Proposal{}, err
	}
	own = append(own, wordRules(index, o)...)
	imports, err := joined.Import(r.Tools, reserved(own))
	if err != nil {
		return Proposal{}, err
	}
	d := draft{labels: labels, imported: imports}
	if imports.Count > 0 {
		// Rules for labels that a tool's rules add would do the same job again.
		cfg, err := load(ctx, d.render())
		if err != nil {
			return Proposal{}, err
		}
		own = slices.DeleteFunc(own, func(p proposed) bool { return addsAny(cfg, p.labels) })
	}
	if own, err = d.loadable(ctx, own); err != nil {
		return Proposal{}, err
	}
	// A rule that does not fire on its example is left out, as for an option that people cannot
	// choose.
	for kept := len(own) + 1; kept > len(own); {
		kept = len(own)
		if len(own) == 0 && imports.Count == 0 {
			own = []proposed{minimalRule(o)}
			kept = 1
		}
		d.own, d.tests = own, nil
		cfg, err := load(ctx, d.render())
		if err != nil {
			return Proposal{}, err
		}
		if own, d.tests, err = tests(ctx, cfg, d); err != nil {
			return Proposal{}, err
		}
	}
	cfg, err := load(ctx, d.render())
	if err != nil {
		return Proposal{}, err
	}
	p := Proposal{Rules: []byte(d.render()), Workflow: workflow(cfg, o.Action), Parts: d.parts(), Unmapped: imports.Unmapped}
	return p, verify(ctx, string(p.Rules))
}

// loadable returns the rules of ours that load beside the imported ones and each other: they
// have the names of labels and forms, which may be ones that no rule file accepts.
func (d draft) loadable(ctx context.Context, own []proposed) ([]proposed, error) {
	d.own, d.tests = own, nil
	if _, err := load(ctx, d.render()); err == nil {
		return own, nil
	}
	d.own = nil
	for _, p := range own {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d.own = append(d.own, p)
		if _, err := load(ctx, d.render()); err != nil {
			d.own = d.own[:len(d.own)-1]
		}
	}
	return d.own, nil
}

// reserved returns the ids of rules.
func reserved(own []proposed) []string {
	var ids []string
	for _, p := range own {
		ids = append(ids, p.id)
	}
	return ids
}

// addsAny reports whether rules of a configuration add one of the labels.
func addsAny(cfg *config.Config, labels []string) bool {
	return slices.ContainsFunc(cfg.Rules.Labels(), func(u rules.LabelUse) bool {
		return u.Verb == rules.LabelAdded && !u.Glob && slices.ContainsFunc(labels, u.Matches)
	})
}

// load loads the text of a configuration with its tests.
func load(ctx context.Context, text string) (*config.Config, error) {
	cfg, err := config.Load(ctx, proposal(text), config.Spec{Path: config.DefaultPath, Tests: true})
	if err != nil {
		return nil, fmt.Errorf("load the proposed rules: %w", err)
	}
	return cfg, nil
}

// A proposal is a repository whose only file is the configuration.
type proposal string

func (p proposal) Read(_ context.Context, name string) ([]byte, error) {
	if name != config.DefaultPath {
		return nil, fs.ErrNotExist
	}
	return []byte(p), nil
}

func (p proposal) Glob(context.Context, string) ([]string, error) { return nil, nil }

// verify runs the tests of the proposed rules.
func verify(ctx context.Context, text string) error {
	cfg, err := load(ctx, text)
	if err != nil {
		return err
	}
	for _, t := range cfg.Tests {
		if r := run(cfg, t); !r.Passed() {
			return fmt.Errorf("test the proposed rules: %s does not pass: %v", t.Name, r.Mismatches)
		}
	}
	if len(cfg.Tests) == 0 {
		return errors.New("test the proposed rules: there are no tests")
	}
	return nil
}

// parts names the origins of the rules.
func (d draft) parts() []string {
	var list []string
	for _, s := range d.imported.Sources {
		list = append(list, fmt.Sprintf("%s from %s of %s", format.Count(s.Rules, "rule"), s.File, s.Action))
	}
	for _, from := range []string{fromForms, fromLabels, fromNothing} {
		n := 0
		for _, p := range d.own {
			if p.from == from {
				n++
			}
		}
		if n > 0 {
			list = append(list, format.Count(n, "rule")+" "+from)
		}
	}
	return list
}
