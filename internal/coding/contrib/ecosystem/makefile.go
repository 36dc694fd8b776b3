package ecosystem

import "strings"

// makefile returns the unit of a Makefile. It is used only if a folder has no other ecosystem.
func makefile(s *source, _ Options, dir string) (unit, bool) {
	targets := makeTargets(s, dir)
	if targets == nil {
		return unit{}, false
	}
	u := unit{manager: "make"}
	for _, c := range row("make").commands {
		if targets[c.line] {
			u.commands = append(u.commands, step{c.phase, "make " + c.line})
		}
	}
	return u, true
}

// makeTargets returns the targets of the Makefile that make would read, without patterns and
// special ones; nil where there is none.
func makeTargets(s *source, dir string) map[string]bool {
	file, ok := s.has(dir, row("make").files()...)
	if !ok {
		return nil
	}
	targets := map[string]bool{}
	defining := false
	content := strings.ReplaceAll(string(s.text(file, maxManifest)), "\\\n", " ")
	for line := range strings.Lines(content) {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "\t") || len(words) == 0:
			continue
		case words[0] == "define":
			defining = true
		case words[0] == "endef":
			defining = false
		}
		line, _, _ = strings.Cut(line, "#")
		names, rest, isRule := strings.Cut(line, ":")
		if defining || !isRule || strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, ":=") || strings.ContainsAny(names, "=$%(") {
			continue
		}
		for name := range strings.FieldsSeq(names) {
			if !strings.HasPrefix(name, ".") {
				targets[name] = true
			}
		}
	}
	return targets
}
