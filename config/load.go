package config

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
)

// Load reads the configuration file, the files that it includes and extends, and more rule
// files. A file that is extended can only be tightened: a value that would loosen it does not
// count, and gets a warning.
//
// All files have the same sections, so that a rule file may be complete by itself; but each
// section except for rules and tests may be in one file only. The mistakes of all files are
// reported together, as yamlfile.Problems. A nil Config without an error means that there
// is none, and that it was optional.
func Load(ctx context.Context, files Files, spec Spec) (*Config, error) {
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
	c, err := compile(settle(both, variables(spec.Getenv)), both, spec.Tests && !unread)
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

// compile returns the configuration with the rules of both sides, and with their tests on
// request: those of the repository's own files, which may name inherited rules. Mistakes are
// recorded in the files.
func compile(c Config, b sides, tests bool) (Config, error) {
	sources := b.sources()
	if at := b.agentKey("when"); at.n != nil {
		c.Agent.When, _ = rules.CompileCondition(at.f, at.n, sources...)
	}
	set, err := rules.Compile(sources...)
	if _, ok := errors.AsType[yamlfile.Problems](err); err != nil && !ok {
		return Config{}, err
	}
	if tests {
		c.Tests = ruletest.Parse(sources...)
	}
	if slices.ContainsFunc(sources, func(s rules.Source) bool { return s.Node != nil }) {
		c.Rules = set
	}
	if c.Rules.UndoesByMemory() && c.Memory.Store == "off" {
		for _, s := range []side{b.mine, b.theirs} {
			if at := s.at["memory"].child("store"); at.n != nil {
				at.f.Warnf(at.n, "memory.store is off, and rules with else_undo can revert nothing on issues; choose artifact, cache or file")
			}
		}
	}
	return c, nil
}

// problems returns the mistakes and the warnings of all files. If the file that is extended
// could not be read, mistakes that it may resolve count as warnings.
func (in input) problems(unread bool) (mistakes, warnings yamlfile.Problems) {
	files := make([]*yamlfile.File, 0, len(in.files))
	for _, d := range in.files {
		files = append(files, d.file)
	}
	all, _ := errors.AsType[yamlfile.Problems](yamlfile.Err(files...))
	for _, p := range slices.Concat(all, in.broken) {
		if unread && p.Undeclared {
			p.Warning = true
			p.Msg += "; the file that is extended may declare it"
			warnings = append(warnings, p)
			continue
		}
		mistakes = append(mistakes, p)
	}
	for _, f := range files {
		warnings = append(warnings, f.Warnings()...)
	}
	if unread {
		warnings.Sort() // those of the loop above come first
	}
	mistakes.Sort()
	return mistakes, warnings
}
