package ecosystem

import (
	"path"
	"slices"
	"strings"
)

// maven returns the unit of a pom.xml. The pom.xml itself pins the versions, so a person has to
// accept a patch that changes it. If a project above lists the folder as a module, that project
// builds it, and the unit has no commands.
func maven(s *source, o Options, dir string) (unit, bool) {
	e := row("maven")
	m := e.managers[0]
	file, ok := s.has(dir, e.manifests...)
	if !ok {
		return unit{}, false
	}
	u := unit{manager: m.name}
	if mavenModule(s, dir) {
		return u, true
	}
	u.setup = lock{files: []string{file}}.setup(o, dir, m.setup)
	u.commands = []step{e.commands[0].step}
	return u, true
}

// mavenModule reports whether a project above a folder has it as a module.
func mavenModule(s *source, dir string) bool {
	for at := dir; at != ""; {
		at = parent(at)
		file, ok := s.has(at, row("maven").manifests...)
		if !ok {
			continue
		}
		var project struct {
			Modules []string `xml:"modules>module"`
		}
		s.xml(file, &project)
		for _, module := range project.Modules {
			if path.Join(at, strings.TrimSpace(module)) == dir {
				return true
			}
		}
	}
	return false
}

// gradle returns the unit of a Gradle build. The build files pin the versions, as in Maven. A
// folder below one with a settings file is a subproject, which has no commands.
func gradle(s *source, o Options, dir string) (unit, bool) {
	e := row("gradle")
	m := e.managers[0]
	if !s.any(dir, e.manifests...) {
		return unit{}, false
	}
	u := unit{manager: m.name}
	if e.member(s, dir) {
		return u, true
	}
	l := lock{files: s.all(dir, slices.Concat(e.manifests, m.locks, e.pins)...)}
	u.setup = l.setup(o, dir, m.setup)
	u.commands = []step{e.commands[0].step}
	return u, true
}
