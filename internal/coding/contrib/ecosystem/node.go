package ecosystem

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
)

// A nodePackage is the content of a package.json.
type nodePackage struct {
	file         string
	declared     string // value of packageManager, unchanged
	scripts      map[string]string
	dependencies bool
	workspaces   []string
}

// nodeManifest reads the package.json of a folder. found is false if there is none, or if it
// cannot be read.
func nodeManifest(s *source, dir string) (p nodePackage, found bool) {
	file, ok := s.has(dir, row("node").manifests...)
	if !ok {
		return nodePackage{}, false
	}
	members, ok := s.json(file)
	if !ok {
		return nodePackage{}, false
	}
	p = nodePackage{file: file, declared: member[string](s, file, members, "packageManager"), scripts: map[string]string{}}
	for name, raw := range member[map[string]json.RawMessage](s, file, members, "scripts") {
		var body string
		if json.Unmarshal(raw, &body) == nil {
			p.scripts[name] = body
		}
	}
	for _, key := range []string{"dependencies", "devDependencies", "optionalDependencies", "peerDependencies"} {
		if len(member[map[string]json.RawMessage](s, file, members, key)) > 0 {
			p.dependencies = true
		}
	}
	if raw := members["workspaces"]; len(raw) > 0 && raw[0] == '{' {
		p.workspaces = member[struct{ Packages []string }](s, file, members, "workspaces").Packages
	} else {
		p.workspaces = member[[]string](s, file, members, "workspaces")
	}
	if globs, ok := s.has(dir, "pnpm-workspace.yaml"); ok {
		p.workspaces = append(p.workspaces, s.yamlList(globs, "packages")...)
	}
	return p, true
}

// nodeManager returns the package manager of a folder and its lock.
func nodeManager(s *source, dir string, p nodePackage) (m manager, l lock) {
	l.needed = p.dependencies || len(p.workspaces) > 0
	e := row("node")
	var found []string
	for _, m := range e.managers {
		if s.any(dir, m.locks...) {
			found = append(found, m.name)
		}
	}
	name, _, _ := strings.Cut(p.declared, "@")
	m, declared := e.manager(name)
	switch {
	case declared:
	case len(found) > 0:
		m, _ = e.manager(found[0])
	default:
		m = e.managers[0]
	}
	if p.declared != "" && !declared {
		s.warn("%s: packageManager %q is ignored: want npm, pnpm, yarn or bun", p.file, p.declared)
	}
	if !declared && len(found) > 1 {
		both := strings.Join(found, " and ")
		l.block = &Block{
			"There are lockfiles of " + both + ", and packageManager selects none of them.",
			"Ask the maintainers which of " + both + " counts; package.json can name it as packageManager.",
		}
	}
	l.files, l.wanted = s.all(dir, m.locks...), m.locks[0]
	return m, l
}

// node returns the unit of a package.json.
func node(s *source, o Options, dir string) (unit, bool) {
	p, ok := nodeManifest(s, dir)
	if !ok {
		return unit{}, false
	}
	root, rootPackage := nodeRoot(s, dir, p)
	m, l := nodeManager(s, root, rootPackage)
	install := m.setup
	if m.name == "yarn" && berry(s, root, rootPackage.declared) {
		install = m.otherSetup
	}
	u := unit{manager: m.name, setup: l.setup(o, root, install)}
	e := row("node")
	run := m.run
	if u.setup == nil && strings.HasPrefix(run, "corepack ") {
		run = e.managers[0].run // without a setup, corepack cannot download the manager
	}
	for _, c := range e.commands {
		name := c.line
		body, ok := p.scripts[name]
		if !ok {
			continue
		}
		if why := pointless(body); why != "" {
			s.warn("%s: the script %q is skipped: %s", p.file, name, why)
			continue
		}
		line := run + name
		if line == "npm run test" {
			line = "npm test"
		}
		u.commands = append(u.commands, step{c.phase, line})
	}
	return u, true
}

// nodeRoot returns the folder whose workspaces contain a package; otherwise the folder of the
// package.
func nodeRoot(s *source, dir string, p nodePackage) (string, nodePackage) {
	for at := dir; at != ""; {
		at = parent(at)
		root, ok := nodeManifest(s, at)
		if ok && members(root.workspaces, strings.TrimPrefix(strings.TrimPrefix(dir, at), "/")) {
			return at, root
		}
	}
	return dir, p
}

// berry reports whether a package uses Yarn 2 or newer.
func berry(s *source, dir, declared string) bool {
	data := s.text(path.Join(dir, "yarn.lock"), maxLockfile)
	if data == nil {
		version, ok := strings.CutPrefix(declared, "yarn@")
		return ok && !strings.HasPrefix(version, "1.") && version != "1"
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "__metadata:") {
			return true
		}
	}
	return false
}

// pointless returns why running a script is useless: it checks nothing or never ends. Empty: the
// script is useful.
func pointless(script string) string {
	if strings.Contains(script, "no test specified") {
		return "it is npm's placeholder"
	}
	never := []string{"watch", "dev", "start", "serve", "deploy", "publish", "release"}
	for _, command := range strings.FieldsFunc(script, func(r rune) bool { return strings.ContainsRune("&|;\n", r) }) {
		words := strings.Fields(command)
		for i, word := range words {
			if word == "--watch" || word == "--watchAll" || word == "--watch=true" {
				return "it watches files"
			}
			// This matches "vite dev" and "npm run start:all", but not "eslint --ext .ts src dev".
			name, _, _ := strings.Cut(word, ":")
			if i > 0 && (i == 1 || words[i-1] == "run") && slices.Contains(never, name) {
				return "it is for " + name
			}
		}
	}
	return ""
}

// scriptNames returns the names of scripts, sorted.
func scriptNames(p nodePackage) []string { return slices.Sorted(maps.Keys(p.scripts)) }
