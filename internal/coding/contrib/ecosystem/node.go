package ecosystem

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
)

// nodeLockfiles are the lockfiles of the package managers for package.json.
var nodeLockfiles = []struct {
	manager string
	files   []string
}{
	{"npm", []string{"package-lock.json", "npm-shrinkwrap.json"}},
	{"pnpm", []string{"pnpm-lock.yaml"}},
	{"yarn", []string{"yarn.lock"}},
	{"bun", []string{"bun.lock", "bun.lockb"}},
}

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
	file, ok := s.has(dir, "package.json")
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
func nodeManager(s *source, dir string, p nodePackage) (manager string, l lock) {
	l.needed = p.dependencies || len(p.workspaces) > 0
	var found []string
	all := map[string][]string{}
	for _, of := range nodeLockfiles {
		for _, name := range of.files {
			if file, ok := s.has(dir, name); ok {
				all[of.manager] = append(all[of.manager], file)
			}
		}
		if len(all[of.manager]) > 0 {
			found = append(found, of.manager)
		}
	}
	name, _, _ := strings.Cut(p.declared, "@")
	i := slices.IndexFunc(nodeLockfiles, func(of struct {
		manager string
		files   []string
	}) bool {
		return of.manager == name
	})
	switch {
	case i >= 0:
		manager = name
	case len(found) > 0:
		manager = found[0]
	default:
		manager = "npm"
	}
	if p.declared != "" && i < 0 {
		s.warn("%s: packageManager %q is ignored: want npm, pnpm, yarn or bun", p.file, p.declared)
	}
	if i < 0 && len(found) > 1 {
		both := strings.Join(found, " and ")
		l.block = &Block{
			"There are lockfiles of " + both + ", and packageManager selects none of them.",
			"Ask the maintainers which of " + both + " counts; package.json can name it as packageManager.",
		}
	}
	l.files = all[manager]
	for _, of := range nodeLockfiles {
		if of.manager == manager {
			l.wanted = of.files[0]
		}
	}
	return manager, l
}

// node returns the unit of a package.json.
func node(s *source, o Options, dir string) (unit, bool) {
	p, ok := nodeManifest(s, dir)
	if !ok {
		return unit{}, false
	}
	root, rootPackage := nodeRoot(s, dir, p)
	manager, l := nodeManager(s, root, rootPackage)
	u := unit{manager: manager, setup: l.setup(o, root, nodeSetup(s, root, manager, rootPackage.declared))}
	run := map[string]string{"npm": "npm run ", "pnpm": "corepack pnpm run ", "yarn": "corepack yarn run ", "bun": "bun run "}[manager]
	if u.setup == nil && (manager == "pnpm" || manager == "yarn") {
		run = "npm run " // without a setup, corepack cannot download the manager
	}
	for i, name := range []string{"lint", "typecheck", "test", "build"} {
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
		u.commands = append(u.commands, step{phase(i), line})
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

// nodeSetup returns the command that installs the packages of a lockfile. It does not run their
// install scripts.
func nodeSetup(s *source, dir, manager, declared string) string {
	switch {
	case manager == "npm":
		return "npm ci --ignore-scripts"
	case manager == "yarn" && berry(s, dir, declared):
		return "corepack yarn install --immutable --mode=skip-build"
	case manager == "bun":
		return "bun install --frozen-lockfile --ignore-scripts"
	default:
		return "corepack " + manager + " install --frozen-lockfile --ignore-scripts"
	}
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
