package ecosystem

import (
	"path"
	"strings"
)

// golang returns the unit of a Go module. Targets "lint" and "test" of its Makefile replace go vet
// and go test, because maintainers know the flags that their tests need.
func golang(s *source, o Options, dir string) (unit, bool) {
	e := row("go")
	m := e.managers[0]
	file, ok := s.has(dir, e.manifests...)
	if !ok {
		return unit{}, false
	}
	u := unit{manager: m.name}
	targets := makeTargets(s, dir)
	for _, c := range e.commands {
		if name := map[phase]string{lint: "lint", test: "test"}[c.phase]; targets[name] {
			c.line = "make " + name
		}
		u.commands = append(u.commands, c.step)
	}
	if s.any(dir, "vendor/modules.txt") {
		return u, true // the repository contains the modules
	}
	l := lock{wanted: m.locks[0], files: s.all(dir, m.locks...)}
	if len(l.files) == 0 {
		l.needed = requires(string(s.text(file, maxManifest)))
	}
	u.setup = l.setup(o, dir, m.setup)
	return u, true
}

// requires reports whether a go.mod names a module that go would download.
func requires(mod string) bool {
	local := map[string]bool{} // modules that a folder replaces
	var required []string
	block := ""
	for line := range strings.Lines(mod) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == ")":
			block = ""
		case len(words) == 2 && words[1] == "(":
			block = words[0]
		default:
			directive := block
			if block == "" {
				directive, words = words[0], words[1:]
			}
			if directive == "require" && len(words) > 0 {
				required = append(required, words[0])
			}
			if target := words[max(0, len(words)-1):]; directive == "replace" && len(words) > 2 {
				local[words[0]] = strings.HasPrefix(target[0], "./") || strings.HasPrefix(target[0], "../") || path.IsAbs(target[0])
			}
		}
	}
	for _, module := range required {
		if !local[module] {
			return true
		}
	}
	return false
}
