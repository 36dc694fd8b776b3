package archtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// checkRooms compares the figures of every package folder with rooms.txt.
func checkRooms(m *module, tab table) []string {
	var out []string
	folders := m.folders()
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		found, unused, err := measure(m, folders[dir])
		if err != nil {
			out = append(out, fmt.Sprintf("%s: %v", dir, err))
			continue
		}
		for _, f := range unused {
			out = append(out, f.path+": no measured build contains the file")
		}
		out = append(out, tab.rooms.problems(dir, found)...)
	}
	listed := slices.Concat(slices.Collect(maps.Keys(tab.rooms.except)), slices.Collect(maps.Keys(tab.rooms.ceilings)))
	slices.Sort(listed)
	for _, dir := range slices.Compact(listed) {
		if folders[dir] == nil {
			out = append(out, dir+": is in rooms.txt, and there is no such package")
		}
	}
	return out
}

// problems returns the sizes beyond a limit or ceiling, and the unnecessary lines of rooms.txt.
func (r rooms) problems(dir string, found figures) []string {
	var out []string
	for _, name := range measures() {
		over := found.beyond(name, r.limits[name])
		if slices.Contains(r.except[dir], name) {
			if len(over) == 0 {
				out = append(out, fmt.Sprintf("%s: %s is within the limit: remove the exception from rooms.txt", dir, name))
			}
			continue
		}
		for i, f := range over {
			allowed := r.limits[name]
			if list := r.ceilings[dir][name]; i < len(list) {
				allowed = list[i]
			}
			if f.size > allowed {
				out = append(out, f.problem(allowed))
			}
		}
	}
	now := r.lowered(dir, found)
	switch {
	case maps.EqualFunc(now, r.ceilings[dir], slices.Equal):
	case len(now) == 0:
		out = append(out, dir+": is within the limits: remove it from rooms.txt (-update does)")
	default:
		out = append(out, fmt.Sprintf("%s: is better than rooms.txt: write %q (-update does)", dir, now.line(dir)))
	}
	return out
}

func (f finding) problem(allowed int) string {
	text := fmt.Sprintf("%s: %s, more than %d", f.place, f.text, allowed)
	if len(f.members) > 0 {
		text += ": " + strings.Join(f.members, " ")
	}
	return text
}

// lowered returns the ceilings of a package, each lowered to the measured size. No ceiling
// is raised, and none is added. Nil: the package has no ceilings.
func (r rooms) lowered(dir string, found figures) ceilings {
	if r.ceilings[dir] == nil {
		return nil
	}
	now := ceilings{}
	for name, list := range r.ceilings[dir] {
		if slices.Contains(r.except[dir], name) {
			continue
		}
		over := sizes(found.beyond(name, r.limits[name]))
		for i := range min(len(list), len(over)) {
			now[name] = append(now[name], min(list[i], over[i]))
		}
	}
	return now
}

// lowerAll returns the lowered ceilings of every package in m that has ceilings.
func (r rooms) lowerAll(m *module) (map[string]ceilings, error) {
	now := map[string]ceilings{}
	for dir, files := range m.folders() {
		if r.ceilings[dir] == nil {
			continue
		}
		found, _, err := measure(m, files)
		if err != nil {
			return nil, err
		}
		if list := r.lowered(dir, found); len(list) > 0 {
			now[dir] = list
		}
	}
	return now, nil
}
