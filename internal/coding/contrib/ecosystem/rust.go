package ecosystem

import "strings"

// rust returns the unit of a Cargo.toml.
func rust(s *source, o Options, dir string) (unit, bool) {
	e := row("rust")
	m := e.managers[0]
	file, ok := s.has(dir, e.manifests...)
	if !ok {
		return unit{}, false
	}
	manifest := s.toml(file)
	root := dir
	if table(manifest, "workspace") == nil {
		root = cargoRoot(s, dir)
	}
	l := lock{wanted: m.locks[0], needed: cargoDependencies(manifest), files: s.all(root, m.locks...)}
	u := unit{manager: m.name, setup: l.setup(o, root, m.setup)}
	for _, c := range e.commands {
		if len(l.files) == 0 {
			c.line = strings.Replace(c.line, " --locked", "", 1)
		}
		u.commands = append(u.commands, c.step)
	}
	return u, true
}

// cargoRoot returns the folder of the Cargo workspace that contains a crate; otherwise the folder
// of the crate.
func cargoRoot(s *source, dir string) string {
	for at := dir; at != ""; {
		at = parent(at)
		file, ok := s.has(at, row("rust").manifests...)
		if !ok {
			continue
		}
		workspace := table(s.toml(file), "workspace")
		if workspace != nil && !members(list(workspace["exclude"]), strings.TrimPrefix(strings.TrimPrefix(dir, at), "/")) {
			return at
		}
	}
	return dir
}

// cargoDependencies reports whether a crate, or its workspace, declares dependencies.
func cargoDependencies(manifest map[string]any) bool {
	kinds := []string{"dependencies", "dev-dependencies", "build-dependencies"}
	tables := []map[string]any{manifest, table(manifest, "workspace")}
	for _, of := range table(manifest, "target") {
		if target, ok := of.(map[string]any); ok {
			tables = append(tables, target)
		}
	}
	for _, of := range tables {
		for _, kind := range kinds {
			if len(table(of, kind)) > 0 {
				return true
			}
		}
	}
	// The manifests of the members are not read, so a workspace with members counts as having
	// dependencies.
	return len(list(table(manifest, "workspace")["members"])) > 0
}
