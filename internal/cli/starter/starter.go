// Package starter proposes the first files of a repository: rules in shadow mode with their tests,
// and a workflow that runs them.
//
// [Read] reads a repository's issue forms, its list of labels, and its workflows with the
// configurations of other triage tools. [Propose] makes rules from them: rules that add labels by the
// answers in issue forms, rules that add labels by words, and the rules that [Options.Import] makes of
// those tools. No rule uses a label that the repository does not have. A rule that comments is only
// proposed if [Options] requests it or if a tool did so. "foreman init" writes the proposal. The job
// summary of a workflow run without a configuration shows a proposal without imported rules, because
// the importer is too large for the action's image. The purposes of labels, with their words, are the
// rows of kinds.
package starter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/grants"
	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/triage"
)

// A Proposal is the first files of a repository.
type Proposal struct {
	Rules    []byte // content of config.DefaultPath
	Workflow []byte
	// Parts name the origins of the rules with their numbers of rules.
	Parts []string
	// Try are the flags of "foreman triage" that describe an event of the rules.
	Try string
	// Writes are the permissions of the workflow, such as "issues: write", that mode: apply needs.
	Writes []string
	// Unmapped lists the parts of other tools' configurations without a counterpart.
	Unmapped yamlfile.Problems
	// LeftOut names the entries of other tools' configurations that have no rule.
	LeftOut []string
}

// Minimal returns the proposal for a repository without any data.
func Minimal(ctx context.Context) (Proposal, error) {
	return Propose(ctx, Repository{}, Options{})
}

// Propose returns the first files of a repository. The rules load, and their tests pass. If
// configurations of other tools have mistakes, the error is a [yamlfile.Problems] with all of them.
// A label or form that rule files cannot name gets no rule.
func Propose(ctx context.Context, r Repository, o Options) (Proposal, error) {
	labels := r.usable()
	index := indexOf(labels)
	own, err := formRules(ctx, r.Forms, index)
	if err != nil {
		return Proposal{}, err
	}
	from := fromLabels
	if r.Labels == nil {
		from = fromAdded
	}
	own = append(own, wordRules(index, from, o)...)
	var imports othertools.Rules
	if o.Import != nil {
		if imports, err = o.Import(r.Tools, reserved(own)); err != nil {
			return Proposal{}, err
		}
	}
	d := draft{schema: schemaLine(o.Action), labels: labels, imported: imports}
	if imports.Count > 0 {
		// Skip our rules for labels that imported rules already add.
		cfg, err := load(ctx, d.render())
		if err != nil {
			return Proposal{}, err
		}
		own = slices.DeleteFunc(own, func(p proposed) bool { return addsAny(cfg, p.labels) })
	}
	if d.own, err = d.usable(ctx, own); err != nil {
		return Proposal{}, err
	}
	if len(d.own) == 0 && imports.Count == 0 {
		d.own = []proposed{minimalRule(o)}
	}
	cfg, err := load(ctx, d.render())
	if err != nil {
		return Proposal{}, err
	}
	if d.tests, err = tests(ctx, cfg, d); err != nil {
		return Proposal{}, err
	}
	p := Proposal{Rules: []byte(d.render()), Workflow: workflow(cfg, o, crons(imports.Crons)), Parts: d.parts(), Try: tryOut(cfg.Rules), Writes: grants.Writes(cfg), Unmapped: imports.Unmapped, LeftOut: imports.LeftOut}
	return p, verify(ctx, string(p.Rules))
}

// schemaLine is the first line of a rule file: it names the file's JSON Schema to editors. The schema is in the
// repository of the action, where the version of the workflow has it.
func schemaLine(action string) string {
	return "# yaml-language-server: $schema=https://raw.githubusercontent.com/" + cmp.Or(action, defaultAction) +
		"/v1/docs/schemastore/src/schemas/json/foreman-action.json"
}

// FromRules returns the first files of a repository for finished rules with tests: the rules in
// shadow mode, and a workflow with their events. The text begins with "version: 1".
func FromRules(ctx context.Context, text string, o Options) (Proposal, error) {
	text = schemaLine(o.Action) + "\n" + strings.Replace(text, "version: 1\n", "version: 1\n"+shadowLine+"\n", 1)
	cfg, err := load(ctx, text)
	if err != nil {
		return Proposal{}, err
	}
	p := Proposal{Rules: []byte(text), Workflow: workflow(cfg, o, nil), Try: tryOut(cfg.Rules), Writes: grants.Writes(cfg)}
	var labels []string
	for _, u := range (*ruleset.Set)(cfg.Rules).Rules().Labels() {
		if u.Verb == ruleset.LabelAdded && !slices.Contains(labels, u.Label) {
			labels = append(labels, u.Label)
		}
	}
	if len(labels) > 0 {
		p.Parts = append(p.Parts, "labels that the rules add: "+strings.Join(labels, ", "))
	}
	return p, verify(ctx, text)
}

// tryOut returns the flags that describe an event of the rules: a new issue or pull request, or else an
// event of the first rule.
func tryOut(set *rules.Set) string {
	const issue = `--title "It crashes"`
	var on string
	if list := rules.Infos(set); len(list) > 0 {
		on = list[0].On[0]
	}
	event, activity, _ := strings.Cut(on, ".")
	switch {
	case set.Listens(triage.EventIssues, "opened"):
		return issue + ` --body "panic at boot"`
	case set.Listens(triage.EventPullRequest, "opened"):
		return `--pr --title "Fix the crash" --file src/main.go`
	case event == triage.EventIssueComment:
		return `--comment "It still crashes"`
	case strings.HasSuffix(activity, "labeled"):
		return "--event-name " + on + " " + issue + " --label bug"
	case event == triage.EventSchedule, event == triage.EventPullRequest && activity == "closed":
		return "--event-name " + on + " " + issue
	}
	return issue
}

// Failing returns the names of the tests of a rule file that do not pass.
func Failing(ctx context.Context, text string) ([]string, error) {
	cfg, err := load(ctx, text)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range cfg.Tests {
		if !run(ctx, cfg, t).Passed() {
			names = append(names, t.Name)
		}
	}
	return names, nil
}

// usable returns those of our rules that load together with the imported ones and fire on their
// examples. Rules contain names of labels and forms, and a rule file does not accept every name. A
// rule for an option that reads as Markdown, such as "* a", does not fire on the text of an issue.
func (d draft) usable(ctx context.Context, own []proposed) ([]proposed, error) {
	d.own = own
	cfg, err := load(ctx, d.render())
	if err != nil {
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
		if cfg, err = load(ctx, d.render()); err != nil {
			return nil, err
		}
	}
	var out []proposed
	for _, p := range d.own {
		e := p.example()
		if err := e.settle(ctx, cfg); err != nil {
			return nil, err
		}
		if slices.Contains(e.fired, p.id) {
			out = append(out, p)
		}
	}
	return out, ctx.Err()
}

// reserved returns the ids of the proposed rules.
func reserved(own []proposed) []string {
	var ids []string
	for _, p := range own {
		ids = append(ids, p.id)
	}
	return ids
}

// addsAny reports whether rules of a configuration add one of the labels.
func addsAny(cfg *config.Config, labels []string) bool {
	return slices.ContainsFunc((*ruleset.Set)(cfg.Rules).Rules().Labels(), func(u ruleset.LabelUse) bool {
		return u.Verb == ruleset.LabelAdded && !u.Glob && slices.ContainsFunc(labels, u.Matches)
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

// A proposal is the text of a configuration, as a repository with this single file.
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
		if r := run(ctx, cfg, t); !r.Passed() {
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
	for _, from := range []string{fromForms, fromLabels, fromAdded, fromNothing} {
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
