package ecosystem

import (
	"path"
	"strings"
)

// maven returns the unit of a pom.xml. The pom.xml itself pins the versions, so a person has to
// accept a patch that changes it. If a project above lists the folder as a module, that project
// builds it, and the unit has no commands.
func maven(s *source, o Options, dir string) (unit, bool) {
	file, ok := s.has(dir, "pom.xml")
	if !ok {
		return unit{}, false
	}
	u := unit{manager: "maven"}
	if mavenModule(s, dir) {
		return u, true
	}
	u.setup = lock{files: []string{file}}.setup(o, dir, "mvn -B -ntp dependency:go-offline")
	u.commands = []step{{test, "mvn -B -o test"}}
	return u, true
}

// mavenModule reports whether a project above a folder has it as a module.
func mavenModule(s *source, dir string) bool {
	for at := dir; at != ""; {
		at = parent(at)
		file, ok := s.has(at, "pom.xml")
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
	scripts := []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"}
	if !s.any(dir, scripts...) {
		return unit{}, false
	}
	u := unit{manager: "gradle"}
	if !s.any(dir, "settings.gradle", "settings.gradle.kts") {
		for at := dir; at != ""; {
			at = parent(at)
			if s.any(at, "settings.gradle", "settings.gradle.kts") {
				return u, true
			}
		}
	}
	var l lock
	for _, name := range append(scripts, "gradle.lockfile", "gradle.properties", "gradle/libs.versions.toml", "gradle/verification-metadata.xml") {
		if file, ok := s.has(dir, name); ok {
			l.files = append(l.files, file)
		}
	}
	u.setup = l.setup(o, dir, "gradle --no-daemon testClasses")
	u.commands = []step{{test, "gradle --no-daemon --offline test"}}
	return u, true
}
