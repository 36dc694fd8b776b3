package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
)

// DefaultPath is where a repository keeps its configuration.
const DefaultPath = ".github/foreman.yml"

// Files is where configuration is read: a folder, or a repository's default branch.
type Files interface {
	// Read returns a file. The error matches fs.ErrNotExist when there is none.
	Read(ctx context.Context, path string) ([]byte, error)
	// Glob returns the files that match, sorted; none is no error. Only the last
	// element of the pattern may hold wildcards.
	Glob(ctx context.Context, pattern string) ([]string, error)
}

// A Spec says which files make up a configuration.
type Spec struct {
	Path string // the configuration file, usually DefaultPath; empty: there is none
	// Optional says that the configuration file may be missing.
	Optional bool
	// Rules are globs of more rule files; each must match.
	Rules []string
	// Tests says that the tests beside the rules are read too. A run has no use for them,
	// and is not stopped by a mistake in them.
	Tests bool
	// Getenv resolves ${VAR} in values outside the rules; nil: none is set.
	Getenv func(string) string
	// Split takes out of the configuration file, before it is decoded, what is not a
	// Runner's: a server's own settings stand in the same file. It decodes them from the
	// root, records its problems in f, and returns the mapping that is left. Nil: nothing is.
	Split func(f *strictyaml.File, root *yaml.Node) *yaml.Node
	// Remote reads the file that is extended. The error matches fs.ErrNotExist when
	// there is none, and ErrNeedsHost when nothing can be read; nil: nothing can.
	Remote func(context.Context, RemoteFile) ([]byte, error)
	// Partial says that a file which cannot be read is left out with a warning, and
	// that what only it can tell is a warning as well. That is for checks: a run would
	// do without the limits of that file.
	Partial bool
}

// ErrNotFound says that the configuration file does not exist and had to.
var ErrNotFound = errors.New("no such configuration file")

// Load reads the configuration file, what it includes and extends, and more rule
// files. What is extended can only be tightened: a value that would loosen it does not
// count, and is among the warnings.
//
// All files share one schema, so that a rule file may be complete by itself; but
// each section other than rules stands in one file only. The mistakes of all files
// are reported together, as strictyaml.Problems. A nil Config without an error
// means that there is none, and that none had to be.
func Load(ctx context.Context, files Files, spec Spec) (*Config, error) {
	l := loader{files: files, tests: spec.Tests, getenv: spec.Getenv, split: spec.Split, ours: side{at: map[string]place{}}}
	if l.getenv == nil {
		l.getenv = func(string) string { return "" }
	}
	if err := l.first(ctx, spec); err != nil {
		return nil, err
	}
	for _, glob := range spec.Rules {
		if err := l.glob(ctx, glob); err != nil {
			return nil, err
		}
	}
	if len(l.parsed) == 0 && l.broken == nil {
		return nil, nil
	}
	if err := l.extend(ctx, spec); err != nil {
		return nil, err
	}
	return l.finish()
}

// first reads the configuration file.
func (l *loader) first(ctx context.Context, spec Spec) error {
	if spec.Path == "" {
		return nil
	}
	err := l.file(ctx, spec.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && spec.Optional:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", spec.Path, ErrNotFound)
	}
	return err
}

// Parse is Load for a single file that is at hand.
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

// A loader collects files and their problems.
type loader struct {
	files  Files
	tests  bool
	getenv func(string) string
	split  func(*strictyaml.File, *yaml.Node) *yaml.Node // of the next file; nil: nothing is taken out
	config Config
	parsed []*strictyaml.File
	broken strictyaml.Problems // of files that could not be parsed at all
	seen   []string
	ours   side
	theirs *side // nil: nothing is extended
	unread bool  // there is something to extend, which could not be read
}

// file reads one file and what it includes, once.
func (l *loader) file(ctx context.Context, name string) error {
	name = path.Clean(name)
	if slices.Contains(l.seen, name) {
		return nil
	}
	src, err := l.files.Read(ctx, name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	l.seen = append(l.seen, name)
	f, err := strictyaml.Parse(name, src)
	if ps, ok := errors.AsType[strictyaml.Problems](err); ok {
		l.broken = append(l.broken, ps...)
		return nil
	}
	if err != nil {
		return err
	}
	l.parsed = append(l.parsed, f)
	return l.sections(ctx, f)
}

// glob reads the files that match, and wants at least one.
func (l *loader) glob(ctx context.Context, glob string) error {
	if _, err := path.Match(glob, ""); err != nil || glob == "" {
		return fmt.Errorf("rule files %q: %w", glob, path.ErrBadPattern)
	}
	glob = path.Clean(glob)
	if !strings.ContainsAny(glob, "*?[") {
		err := l.file(ctx, glob)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("rule file %s: %w", glob, ErrNotFound)
		}
		return err
	}
	names, err := l.files.Glob(ctx, glob)
	if err != nil {
		return fmt.Errorf("find rule files %s: %w", glob, err)
	}
	if len(names) == 0 {
		return fmt.Errorf("rule files %s: %w", glob, ErrNotFound)
	}
	for _, name := range names {
		if err := l.file(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// sections decodes one of the repository's own files.
func (l *loader) sections(ctx context.Context, f *strictyaml.File) error {
	var s sections
	root := f.Root()
	if split := l.split; split != nil {
		l.split = nil // the files that it includes are a Runner's alone
		root = split(f, root)
	}
	f.Decode(root, &s)
	checkVersion(f, s.Version)
	l.ours.take(f, s)
	return l.include(ctx, f, s.Include)
}

func checkVersion(f *strictyaml.File, n *yaml.Node) {
	switch {
	case n == nil:
		f.Problemf(nil, "version is missing: begin the file with version: 1")
	case n.Kind != yaml.ScalarNode || n.Value != "1":
		f.Problemf(n, "version: want 1, got %s", strictyaml.Kind(n))
	}
}

// expand resolves ${VAR} in a value. A file that is extended reads no variables: others
// write it, and with an address the value would go to them.
func (l *loader) expand(at place) string {
	if at.n == nil {
		return ""
	}
	if l.inherited(at) {
		if strings.Contains(at.n.Value, "${") {
			at.f.Problemf(at.n, "a file that is extended reads no variables; write the value out, or set it in the repository's own file")
		}
		return at.n.Value
	}
	out, err := strictyaml.Expand(at.n.Value, func(name string) string {
		if reserved(name) {
			at.f.Problemf(at.n, "the variable %s may hold a secret of Foreman's own; a configuration must not read it", name)
			return "reserved"
		}
		return l.getenv(name)
	})
	if err != nil {
		at.f.Problemf(at.n, "%v", err)
	}
	return out
}

// reserved reports whether a variable is one through which Foreman itself gets its
// secrets. What a configuration reads may end up with an agent or in a log.
func reserved(name string) bool {
	name = strings.ToUpper(name)
	switch name {
	case "GITHUB_TOKEN", "GH_TOKEN", "FOREMAN_AGENT_TOKEN", "FOREMAN_LLM_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY":
		return true
	}
	return strings.HasPrefix(name, "INPUT_") || strings.HasPrefix(name, "ACTIONS_")
}

// include reads the files that a file names; a glob may match none.
func (l *loader) include(ctx context.Context, f *strictyaml.File, in *includeSection) error {
	if in == nil {
		return nil
	}
	for _, glob := range in.Globs {
		err := l.glob(ctx, glob)
		switch {
		case errors.Is(err, ErrNotFound) && strings.ContainsAny(glob, "*?["):
		case errors.Is(err, ErrNotFound):
			f.Problemf(in.node, "include: there is no file %s", glob)
		case err != nil:
			return err
		}
	}
	return nil
}

// finish compiles the rules and reports the problems of all files at once.
func (l *loader) finish() (*Config, error) {
	l.settle()
	sources := l.sources()
	if at := l.agentKey("when"); at.n != nil {
		// Its mistakes are recorded in the file.
		l.config.Agent.When, _ = rules.CompileCondition(at.f, at.n, sources...)
	}
	// Compile records its mistakes in the files too.
	set, err := rules.Compile(sources...)
	if _, ok := errors.AsType[strictyaml.Problems](err); err != nil && !ok {
		return nil, err
	}
	if l.tests && !l.unread { // those of the repository's own files, which may name inherited rules
		l.config.Tests = ruletest.Parse(sources...)
	}
	if err := l.problems(); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(sources, func(s rules.Source) bool { return s.Node != nil }) {
		l.config.Rules, l.config.AsksMemory = set, asksMemory(sources)
	}
	if set.Undoes() && l.config.Memory.Store == "off" {
		for _, f := range l.parsed {
			if at := strictyaml.Child(f.Root(), "memory", "store"); at != nil {
				f.Warnf(at, "memory.store is off, and rules with else_undo take back only what is remembered: nothing; choose artifact, cache or file")
			}
		}
	}
	l.config.Files = l.seen
	for _, f := range l.parsed {
		l.config.Warnings = append(l.config.Warnings, f.Warnings()...)
	}
	if l.unread {
		inOrder(l.config.Warnings) // those of excuse stand before the others
	}
	return &l.config, nil
}

func (l *loader) problems() error {
	err := strictyaml.Err(l.parsed...)
	all, _ := errors.AsType[strictyaml.Problems](err)
	all = append(all, l.broken...)
	if l.unread {
		all = l.excuse(all)
	}
	if len(all) == 0 {
		return nil
	}
	inOrder(all)
	return all
}

// inOrder sorts problems by file and place.
func inOrder(ps strictyaml.Problems) {
	slices.SortStableFunc(ps, func(a, b strictyaml.Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// excuse makes warnings of the mistakes that the file which could not be read may
// resolve: names that it may declare.
func (l *loader) excuse(all strictyaml.Problems) strictyaml.Problems {
	var kept strictyaml.Problems
	for _, p := range all {
		if !strings.HasPrefix(p.Msg, "form has no field ") && !strings.HasPrefix(p.Msg, "tables has no ") {
			kept = append(kept, p)
			continue
		}
		p.Warning = true
		p.Msg += "; the file that is extended may declare it"
		l.config.Warnings = append(l.config.Warnings, p)
	}
	return kept
}
