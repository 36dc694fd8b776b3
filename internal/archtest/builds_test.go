package archtest

import (
	"bytes"
	"go/build"
	"io"
	"path"
	"slices"
)

// builds returns the build configurations in which packages are measured. There are several,
// because files that exclude each other by build tags define the same names.
func builds() []build.Context {
	configs := []struct {
		system, machine string
		tags            []string
	}{
		{system: "linux", machine: "amd64"},
		{system: "darwin", machine: "arm64"},
		{system: "windows", machine: "amd64"},
		{system: "js", machine: "wasm"},
	}
	var list []build.Context
	for _, c := range configs {
		b := build.Default
		b.GOOS, b.GOARCH, b.BuildTags, b.CgoEnabled = c.system, c.machine, c.tags, false
		list = append(list, b)
	}
	return list
}

// selections returns the files of a folder that each build selects; equal selections are returned
// once. unused are the files that no build selects.
func selections(files []*source) (list [][]*source, unused []*source, err error) {
	used := map[*source]bool{}
	for _, b := range builds() {
		var chosen []*source
		for _, f := range files {
			b.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.text)), nil }
			ok, err := b.MatchFile(f.dir, path.Base(f.path))
			if err != nil {
				return nil, nil, err
			}
			if ok {
				chosen = append(chosen, f)
				used[f] = true
			}
		}
		known := slices.ContainsFunc(list, func(l []*source) bool { return slices.Equal(l, chosen) })
		if len(chosen) > 0 && !known {
			list = append(list, chosen)
		}
	}
	unused = slices.DeleteFunc(slices.Clone(files), func(f *source) bool { return used[f] })
	return list, unused, nil
}
