// Package ecosystem detects how a repository is set up and checked. It finds package managers,
// lockfiles, and the commands that install dependencies and validate a change. It also warns the
// contributor about files of the repository.
//
// The repository may be hostile. So command lines contain no text of the repository. A manifest
// that cannot be read causes only a warning.
//
// A new ecosystem is a row of the table in table.go. If it needs more than the names of files and a
// pattern, it also has a file with a function that units calls.
package ecosystem

import (
	"cmp"
	"maps"
	"slices"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
)

// A Detection is the result of [Detect].
type Detection struct {
	Context contract.RepositoryContext
	// Setup are the commands that install dependencies. Commands are those that validate. Both lists
	// have the order of execution: first the root, then nested packages. In each package, lint comes
	// first, then type checks, tests and builds. There is always at least one validating command.
	Setup, Commands []Command
	Warnings        []string // sentences about files that are ignored, and scripts that are skipped
}

// Lines returns the command lines of the root package, for a plan.
func (d Detection) Lines() []string {
	var lines []string
	for _, c := range d.Commands {
		if c.Dir == "" {
			lines = append(lines, c.Line)
		}
	}
	return lines
}

// BuiltIn is the command for repositories in which no command is detected. It checks the
// whitespace of a patch, and nothing else.
const BuiltIn = "git diff --check"

// OnlyBuiltIn reports whether the commands of a validation check nothing but the whitespace of a
// patch.
func OnlyBuiltIn(commands []contract.CommandRun) bool {
	return len(commands) > 0 && !slices.ContainsFunc(commands, func(c contract.CommandRun) bool { return c.Command != BuiltIn })
}

// Detect detects the commands of a tree. The error is an error of [Tree.Read] that is not about a
// single file.
func Detect(tree Tree, o Options) (Detection, error) {
	s := newSource(tree)
	var d Detection
	for _, dir := range append([]string{""}, owners(s, o.Changed)...) {
		d.add(s, o, dir)
	}
	if len(d.Commands) == 0 {
		image, key := o.image("git")
		d.Commands = []Command{{Line: BuiltIn, Image: image, Ecosystem: key}}
		s.warn("No command was found that builds, lints or tests the repository. %s checks nothing but the whitespace of a change.", BuiltIn)
	}
	d.Context.GuidanceFiles = guidanceFiles(s)
	d.Context.TestLayouts = testLayouts(s)
	d.Context.GeneratedFileRules = generatedRules(s)
	d.Context.PackageScripts = scripts(s)
	d.Warnings = s.warnings
	return d, s.failed
}

// units returns the ecosystems of a folder, in the order of the table.
func units(s *source, o Options, dir string) []unit {
	var found []unit
	add := func(u unit, ok bool) {
		if ok {
			found = append(found, u)
		}
	}
	special := map[string]func(*source, Options, string) (unit, bool){
		"node": node, "go": golang, "rust": rust, "python": python, "maven": maven, "gradle": gradle, "make": makefile,
	}
	for _, e := range ecosystems {
		detect := special[e.name]
		if detect == nil {
			detect = e.detect
		}
		switch {
		case e.name == "make" && len(found) > 0:
		case e.alone && slices.ContainsFunc(found, func(u unit) bool { return u.manager != "make" || len(u.commands) > 0 }):
		default:
			add(detect(s, o, dir))
		}
	}
	return found
}

// add adds the commands of a folder, and the setups that they need.
func (d *Detection) add(s *source, o Options, dir string) {
	type ordered struct {
		Command
		phase phase
	}
	var commands []ordered
	for _, u := range units(s, o, dir) {
		if dir == "" && d.Context.PackageManager == nil {
			d.Context.PackageManager = &u.manager
		}
		image, key := o.image(u.manager)
		for _, of := range u.commands {
			commands = append(commands, ordered{Command{Line: of.line, Dir: dir, Image: image, Ecosystem: key, Env: u.env}, of.phase})
		}
		if u.setup == nil || len(u.commands) == 0 {
			continue
		}
		u.setup.Image, u.setup.Ecosystem = image, key
		if !slices.ContainsFunc(d.Setup, func(c Command) bool { return c.Line == u.setup.Line && c.Dir == u.setup.Dir }) {
			d.Setup = append(d.Setup, *u.setup)
		}
	}
	slices.SortStableFunc(commands, func(a, b ordered) int { return cmp.Compare(a.phase, b.phase) })
	for _, c := range commands {
		d.Commands = append(d.Commands, c.Command)
	}
}

// owners returns the nested packages that contain a changed file, sorted. A file belongs to the
// nearest folder above it that has a manifest.
func owners(s *source, changed []string) []string {
	const limit = 50
	found := map[string]bool{}
	names := manifests()
	for _, file := range changed {
		for dir := parent(file); dir != ""; dir = parent(dir) {
			if s.any(dir, names...) && !foreign(dir) {
				found[dir] = true
				break
			}
		}
	}
	dirs := slices.Sorted(maps.Keys(found))
	if len(dirs) > limit {
		s.warn("the patch changes files of %d nested packages; only %d of them are validated", len(dirs), limit)
	}
	return dirs[:min(len(dirs), limit)]
}

// scripts returns the names of the root's scripts, or of its targets for make.
func scripts(s *source) []string {
	const limit = 200
	var names []string
	if p, ok := nodeManifest(s, ""); ok {
		names = scriptNames(p)
	} else {
		names = slices.Sorted(maps.Keys(makeTargets(s, "")))
	}
	names = names[:min(len(names), limit)]
	for i, name := range names {
		names[i] = plain(name)
	}
	return names
}
