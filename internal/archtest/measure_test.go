package archtest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// measures returns the names of the measures; testdata/rooms.txt explains them.
func measures() []string {
	return []string{"files", "lines", "circle", "knot", "methods", "type", "spread"}
}

// figures contains the findings of a package folder by measure, the largest first.
type figures map[string][]finding

// A finding is one measured size.
type finding struct {
	size    int
	place   string   // folder, or file and line
	text    string   // description of the measured thing, for messages
	members []string // members of a circle
}

// measure returns the figures of a folder, and the files that no build selects. For each measure
// it takes the build with the largest figures. Files and lines are counted in the whole folder.
func measure(m *module, files []*source) (figures, []*source, error) {
	list, unused, err := selections(files)
	if err != nil {
		return nil, nil, err
	}
	dir, lines := files[0].dir, 0
	for _, f := range files {
		lines += f.lines
	}
	largest := figures{
		"files": {{size: len(files), place: dir, text: fmt.Sprintf("the folder has %d files", len(files))}},
		"lines": {{size: lines, place: dir, text: fmt.Sprintf("the folder has %d lines", lines)}},
	}
	for _, selected := range list {
		p := resolve(m, selected)
		largest.raise(circleFigures(dir, p))
		largest.raise(typeFigures(p))
	}
	return largest, unused, nil
}

// raise replaces the findings of each measure for which other has larger ones.
func (f figures) raise(other figures) {
	for name, list := range other {
		slices.SortStableFunc(list, func(a, b finding) int { return cmp.Compare(b.size, a.size) })
		if slices.Compare(sizes(list), sizes(f[name])) > 0 {
			f[name] = list
		}
	}
}

// beyond returns the findings that are larger than a limit.
func (f figures) beyond(name string, limit int) []finding {
	return slices.DeleteFunc(slices.Clone(f[name]), func(f finding) bool { return f.size <= limit })
}

func sizes(list []finding) []int {
	var out []int
	for _, f := range list {
		out = append(out, f.size)
	}
	return out
}

// circleFigures measures the circles of files and of declarations.
func circleFigures(dir string, p pkg) figures {
	found := figures{}
	for _, c := range p.files.circles() {
		text := fmt.Sprintf("%d files use each other in a circle", len(c))
		found["circle"] = append(found["circle"], finding{len(c), dir, text, c})
	}
	for _, c := range p.uses.circles() {
		lines := 0
		for _, name := range c {
			lines += p.decls[name].lines
		}
		text := fmt.Sprintf("declarations of %d lines use each other in a circle", lines)
		found["knot"] = append(found["knot"], finding{lines, dir, text, c})
	}
	return found
}

// typeFigures measures the types with their methods.
func typeFigures(p pkg) figures {
	found := figures{}
	add := func(measure, place string, size int, text string) {
		found[measure] = append(found[measure], finding{size: size, place: place, text: text})
	}
	for _, name := range slices.Sorted(maps.Keys(p.decls)) {
		d := p.decls[name]
		if d.place == "" {
			continue
		}
		add("methods", d.place, d.methods, fmt.Sprintf("type %s has %d methods", name, d.methods))
		add("type", d.place, d.lines, fmt.Sprintf("type %s has %d lines with its methods", name, d.lines))
		add("spread", d.place, len(d.files), fmt.Sprintf("type %s has methods in %d files", name, len(d.files)))
	}
	return found
}
