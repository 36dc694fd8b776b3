package config

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
)

// Load reads the configuration file, the files that it includes and extends, and further rule
// files. The repository can only tighten an extended file: a value that would loosen it is ignored
// with a warning.
//
// All files may have the same sections, so that a rule file can be complete by itself. But only
// rules and tests may occur in several files. The mistakes of all files are reported together, as
// [rules.Problems]. A nil Config without an error means that the file is optional and does not
// exist.
func Load(ctx context.Context, files Files, spec Spec) (*Config, error) {
	additions, err := spec.Own.Source()
	if err != nil {
		return nil, err
	}
	own, err := readOwn(ctx, files, spec)
	if err != nil || len(own.names) == 0 {
		return nil, err
	}
	mine := join(own.files)
	extended, err := readExtended(ctx, mine, spec)
	if err != nil {
		return nil, err
	}
	_, extends := mine.at["extends"]
	unread := extends && len(extended.files) == 0
	both, all := sides{mine: mine, theirs: join(extended.files)}, own.and(extended)
	both.additions = additions
	c, err := compile(settle(both, variables(spec.Getenv)), both, spec.Tests && !unread, issueForms(ctx, spec.IssueForms, all))
	if err != nil {
		return nil, err
	}
	mistakes, warnings := all.problems(unread)
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	c.Files, c.Globs, c.Warnings = all.names, all.globs, warnings
	return &c, nil
}

// Parse is [Load] for a single file in memory.
func Parse(name string, src []byte, getenv func(string) string) (*Config, error) {
	return Load(context.Background(), single{name, src}, Spec{Path: name, Getenv: getenv})
}

// single is one file in memory.
type single struct {
	name string
	src  []byte
}

func (s single) Read(_ context.Context, path string) ([]byte, error) {
	if path != s.name {
		return nil, fs.ErrNotExist
	}
	return s.src, nil
}

func (s single) Glob(context.Context, string) ([]string, error) { return nil, nil }

// compile compiles the rules of both sides into the configuration. If tests is true it also parses
// the tests of the repository's own files, which may name inherited rules. Mistakes are recorded in
// the files.
func compile(c Config, b sides, tests bool, forms []rulesource.IssueForm) (Config, error) {
	parts := b.sources()
	if len(parts) > 0 {
		parts[0].IssueForms = forms
	}
	sources := []rules.Source{b.additions}
	for _, p := range parts {
		sources = append(sources, rules.Source(rulesource.New(p)))
	}
	if at := b.agentKey("when"); at.n != nil {
		place := rules.Source(rulesource.New(rulesource.Parts{File: at.f, Condition: at.n}))
		c.Agent.When, _ = rules.CompileCondition(at.n.Value, append(slices.Clone(sources), place)...)
	}
	set, err := rules.Compile(sources...)
	if _, ok := errors.AsType[rules.Problems](err); err != nil && !ok {
		return Config{}, err
	}
	b.checkEarn(c)
	if tests {
		c.Tests, _ = ruletest.Parse(sources...)
	}
	if slices.ContainsFunc(parts, func(p rulesource.Parts) bool { return p.Rules != nil }) {
		c.Rules = set
	}
	if (*ruleset.Set)(c.Rules).Rules().UndoesByMemory() && c.Memory.Store == "off" {
		for _, s := range []side{b.mine, b.theirs} {
			if at := s.at["memory"].child("store"); at.n != nil {
				at.f.Warnf(at.n, "memory.store is off, so rules with else_undo cannot revert anything on issues; choose artifact, cache or file")
			}
		}
	}
	return c, nil
}

// problems returns the mistakes and the warnings of all files. If unread is true the extended file
// could not be read. Then undeclared names count as warnings, because that file may declare them.
func (in input) problems(unread bool) (mistakes, warnings rules.Problems) {
	files := make([]*yamlfile.File, 0, len(in.files))
	var undeclared rules.Problems
	for _, d := range in.files {
		files, undeclared = append(files, d.file), append(undeclared, d.file.Undeclared()...)
	}
	all, _ := errors.AsType[rules.Problems](yamlfile.Err(files...))
	for _, p := range slices.Concat(all, in.broken) {
		if unread && slices.Contains(undeclared, p) {
			p.Warning = true
			p.Message += "; the file that is extended may declare it"
			warnings = append(warnings, p)
			continue
		}
		mistakes = append(mistakes, p)
	}
	for _, f := range files {
		warnings = append(warnings, f.Warnings()...)
	}
	if unread {
		yamlfile.Sort(warnings) // so that the new warnings are not simply first
	}
	yamlfile.Sort(mistakes)
	return mistakes, warnings
}

const (
	issueFormFolder = ".github/ISSUE_TEMPLATE"
	maxIssueForms   = 100
)

// issueForms reads the repository's issue forms if a file declares names for their fields. Forms that
// cannot be read are not known; foreman rules check reports them.
func issueForms(ctx context.Context, files Files, in input) []rulesource.IssueForm {
	declared := slices.ContainsFunc(in.files, func(d sourceFile) bool { return d.sections.Forms != nil })
	if files == nil || !declared {
		return nil
	}
	names, err := files.Glob(ctx, issueFormFolder+"/*")
	if err != nil {
		return nil
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasSuffix(name, ".yml") && !strings.HasSuffix(name, ".yaml")
	})
	forms := []rulesource.IssueForm{}
	for _, name := range names[:min(len(names), maxIssueForms)] {
		if src, err := files.Read(ctx, name); err == nil {
			forms = append(forms, rulesource.IssueForm{Name: name, Data: src})
		}
	}
	return forms
}
