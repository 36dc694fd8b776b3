package ecosystem

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// requirementFiles are the names of pip's requirements files. Existing ones are installed in this
// order.
var requirementFiles = []string{
	"requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "requirements-test.txt", "test-requirements.txt",
	"requirements/dev.txt", "requirements/test.txt",
}

// python returns the unit of a Python project.
func python(s *source, o Options, dir string) (unit, bool) {
	if !s.any(dir, row("python").files()...) {
		return unit{}, false
	}
	var project map[string]any
	if file, ok := s.has(dir, "pyproject.toml"); ok {
		project = s.toml(file)
	}
	root := dir
	if !s.any(dir, "uv.lock", "poetry.lock") {
		root = uvRoot(s, dir)
	}
	u := unit{manager: pythonManager(s, root, project)}
	l, line := pythonLock(s, root, u.manager)
	l.needed = l.needed || pythonDependencies(s, dir, project)
	if strings.HasPrefix(line, "pip ") {
		u.manager = "pip"
	}
	if u.setup = l.setup(o, root, line); u.setup != nil {
		u.env = pythonEnv(o, root, u.manager)
		u.setup.Env = u.env
	}
	if s.dirs[path.Join(dir, "src")] {
		// Only dependencies are installed, not the package itself. PYTHONPATH makes a package in src
		// importable.
		u.env = append(slices.Clip(u.env), variable("PYTHONPATH", o.in(dir, "src")))
	}
	u.commands = pythonCommands(s, dir, project, l.files)
	return u, true
}

// uvRoot returns the folder of the uv workspace that contains a project; otherwise the folder of
// the project.
func uvRoot(s *source, dir string) string {
	for at := dir; at != ""; {
		at = parent(at)
		file, ok := s.has(at, "pyproject.toml")
		if !ok {
			continue
		}
		workspace := table(s.toml(file), "tool", "uv", "workspace")
		below := strings.TrimPrefix(strings.TrimPrefix(dir, at), "/")
		if members(list(workspace["members"]), below) && !members(list(workspace["exclude"]), below) {
			return at
		}
	}
	return dir
}

// pythonManager returns uv, poetry or pip. A manager with a lockfile has priority; otherwise the
// project's configuration decides.
func pythonManager(s *source, dir string, project map[string]any) string {
	uv, poetry := s.any(dir, "uv.lock"), s.any(dir, "poetry.lock")
	if uv == poetry {
		uv, poetry = table(project, "tool", "uv") != nil, table(project, "tool", "poetry") != nil
	}
	switch {
	case uv && !poetry:
		return "uv"
	case poetry && !uv:
		return "poetry"
	default:
		return "pip"
	}
}

// pythonLock returns the lockfile of a project, and the command that installs its
// dependencies.
func pythonLock(s *source, dir, manager string) (l lock, line string) {
	e := row("python")
	m, _ := e.manager(manager)
	uv, poetry := s.any(dir, "uv.lock"), s.any(dir, "poetry.lock")
	if manager == "pip" && uv && poetry {
		l.block = &Block{
			"There are lockfiles of uv and poetry, and pyproject.toml configures neither tool.",
			"Ask the maintainers which of uv.lock and poetry.lock counts; the other one has to be removed.",
		}
		return l, e.managers[0].setup
	}
	if l.files = s.all(dir, m.locks...); len(l.files) > 0 {
		l.wanted, line = m.locks[0], m.setup
		if file, ok := s.has(dir, "pyproject.toml"); ok && manager == "uv" && table(s.toml(file), "tool", "uv", "workspace") != nil {
			line = m.otherSetup
		}
		return l, line
	}
	r := requirements{s: s, seen: map[string]bool{}}
	pip, _ := e.manager("pip")
	line = pip.setup
	for _, name := range requirementFiles {
		if file, ok := s.has(dir, name); ok {
			r.read(file, 0)
			line += " -r " + name
		}
	}
	switch {
	case len(r.files) > 0 && r.unpinned == "":
		l.files = r.files
		return l, line
	case len(r.files) > 0 && r.needed:
		l.files = r.files
		l.block = &Block{
			clean(r.unpinned) + " does not pin every version with \"==\". Nothing is installed without a lockfile.",
			"Ask the maintainers for pinned requirements, uv.lock or poetry.lock, or add one to the patch and have a person accept it.",
		}
		return l, line
	}
	if manager == "pip" {
		l.wanted = "pinned requirements.txt"
		return l, pip.setup + " -r requirements.txt"
	}
	l.wanted = m.locks[0]
	return l, m.setup
}

// requirements are the requirements files of a folder, and the files that they include.
type requirements struct {
	s        *source
	seen     map[string]bool
	files    []string
	unpinned string // the first file with a requirement that is not pinned
	needed   bool   // there is at least one requirement
}

// pinned matches a requirement with exactly one version, and its options.
var pinned = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9._, -]*\])?\s*===?\s*[A-Za-z0-9][A-Za-z0-9.!+_-]*\s*(;[^\\]*)?(--hash=\S+\s*)*$`)

func (r *requirements) read(file string, depth int) {
	const limit = 10 // the most files that include each other
	if r.seen[file] {
		return
	}
	r.seen[file] = true
	r.files = append(r.files, file)
	data := r.s.text(file, maxManifest)
	if data == nil || depth > limit {
		r.open(file)
		return
	}
	for line := range strings.Lines(strings.ReplaceAll(string(data), "\\\n", " ")) {
		if i := strings.Index(" "+line, " #"); i >= 0 {
			line = line[:i]
		}
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if included, ok := include(line); ok {
			if name := path.Join(parent(file), included); r.s.files[name] {
				r.read(name, depth+1)
				continue
			}
		}
		if !pinned.MatchString(line) {
			r.open(file)
		}
		r.needed = true
	}
}

// open records that a file contains a requirement that is not pinned.
func (r *requirements) open(file string) {
	r.needed = true
	if r.unpinned == "" {
		r.unpinned = file
	}
}

// include returns the file that a line of requirements includes.
func include(line string) (string, bool) {
	for _, option := range []string{"-r", "--requirement", "-c", "--constraint"} {
		if rest, ok := strings.CutPrefix(line, option); ok && rest != "" && strings.ContainsAny(rest[:1], " =\t") {
			return strings.TrimSpace(rest[1:]), true
		}
	}
	return "", false
}

// pythonDependencies reports whether a project declares dependencies.
func pythonDependencies(s *source, dir string, project map[string]any) bool {
	of := table(project, "project")
	if len(list(of["dependencies"])) > 0 || len(table(of, "optional-dependencies")) > 0 || len(table(project, "dependency-groups")) > 0 ||
		len(list(table(project, "tool", "uv")["dev-dependencies"])) > 0 || len(table(project, "tool", "poetry", "group")) > 0 {
		return true
	}
	if slices.Contains(list(of["dynamic"]), "dependencies") {
		return true
	}
	for name := range table(project, "tool", "poetry", "dependencies") {
		if name != "python" {
			return true
		}
	}
	for _, name := range []string{"setup.py", "setup.cfg"} {
		if file, ok := s.has(dir, name); ok && strings.Contains(string(s.text(file, maxManifest)), "install_requires") {
			return true
		}
	}
	return false
}

// pythonEnv returns the variables with which installed programs are found. Each manager installs
// into .venv in the project, because the rest of the container is read-only.
func pythonEnv(o Options, dir, manager string) []string {
	venv := o.in(dir, ".venv")
	env := []string{variable("PATH", venv+"/bin", "/usr/local/bin", "/usr/local/sbin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")}
	switch manager {
	case "pip":
		return append(env, variable("PYTHONUSERBASE", venv))
	case "poetry":
		return append(env, variable("POETRY_VIRTUALENVS_IN_PROJECT", "1"))
	default:
		return append(env, variable("VIRTUAL_ENV", venv))
	}
}

// pythonCommands returns the checks that a project is configured for. locks are the files that its
// setup reads.
func pythonCommands(s *source, dir string, project map[string]any, locks []string) []step {
	var steps []step
	for _, c := range row("python").commands {
		configured := table(project, "tool", c.tool) != nil || s.any(dir, c.files...)
		switch c.tool {
		case "mypy":
			if file, ok := s.has(dir, "setup.cfg"); ok && !configured {
				configured = strings.Contains(string(s.text(file, maxManifest)), "[mypy]")
			}
		case "pytest":
			configured = configured || namesPytest(s, dir, locks)
		case "unittest":
			tests := pythonTests(s, dir)
			configured = tests != "" && !slices.ContainsFunc(steps, func(s step) bool { return s.phase == test })
			if tests == "tests" && !s.any(dir, "tests/__init__.py") {
				c.line += " discover -s tests"
			}
		}
		if configured {
			steps = append(steps, c.step)
		}
	}
	return steps
}

// namesPytest reports whether a manifest or a requirements file mentions pytest. The lockfiles of
// uv and poetry are not read for this: they may be large, and the manifest names pytest as well.
func namesPytest(s *source, dir string, locks []string) bool {
	for _, name := range append([]string{"pyproject.toml", "setup.py", "setup.cfg", "tox.ini"}, requirementFiles...) {
		if file, ok := s.has(dir, name); ok && bytes.Contains(s.text(file, maxManifest), []byte("pytest")) {
			return true
		}
	}
	return slices.ContainsFunc(locks, func(file string) bool { return bytes.Contains(s.texts[file], []byte("pytest")) })
}

// pythonTests returns the folder with tests, relative to a project: "tests", or "." if tests are
// elsewhere; empty if there are none.
func pythonTests(s *source, dir string) string {
	found := ""
	for file := range s.files {
		below, ok := strings.CutPrefix(file, dir+"/")
		if dir == "" {
			below, ok = file, true
		}
		name := path.Base(file)
		if !ok || !strings.HasSuffix(name, ".py") || !strings.HasPrefix(name, "test") {
			continue
		}
		if strings.HasPrefix(below, "tests/") {
			return "tests"
		}
		found = "."
	}
	return found
}
