// Package wiring writes the files by which coding agents work as Builder and Inspector in a
// repository: their instructions and skills in .foreman, and short files in the folder of each
// agent that refer to them.
package wiring

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/workdir"
)

//go:embed files
var files embed.FS

// An agent is a coding agent that can be wired.
type agent struct {
	name   string
	folder string // where its own files lie
	files  string // the folder of its files here; empty: it has skills only
}

// agents returns the agents by name.
func agents() []agent {
	return []agent{
		{"claude", ".claude", "claude"},
		{"codex", ".agents", ""},
		{"opencode", ".opencode", "opencode"},
	}
}

// Names returns the names of the agents that can be wired.
func Names() []string {
	var names []string
	for _, a := range agents() {
		names = append(names, a.name)
	}
	return names
}

// A Written lists the written and the existing files of a repository.
type Written struct {
	New  []string // written
	Kept []string // there before, and left alone
}

// Write writes the files for agents, which must be of [Names], below the root of a repository.
// Existing files stay. After an error the files that were written stay too.
func Write(root workdir.Dir, names []string) (Written, error) {
	var done Written
	list, err := plan(names)
	if err != nil {
		return done, err
	}
	for _, f := range list {
		err := root.Create(f.name, f.data)
		switch {
		case errors.Is(err, fs.ErrExist):
			done.Kept = append(done.Kept, f.name)
		case err != nil:
			return done, fmt.Errorf("write %s: %w", f.name, err)
		default:
			done.New = append(done.New, f.name)
		}
	}
	return done, nil
}

// A file is one to write.
type file struct {
	name string
	data []byte
}

// plan returns the files for agents.
func plan(names []string) ([]file, error) {
	list, err := tree("foreman", ".foreman", strings.NewReplacer("PRESET", names[0]))
	if err != nil {
		return nil, err
	}
	skills, err := pointers()
	if err != nil {
		return nil, err
	}
	for _, a := range agents() {
		if !slices.Contains(names, a.name) {
			continue
		}
		if a.files != "" {
			own, err := tree(a.files, a.folder, strings.NewReplacer())
			if err != nil {
				return nil, err
			}
			list = append(list, own...)
		}
		for _, s := range skills {
			list = append(list, file{path.Join(a.folder, s.name), s.data})
		}
	}
	return list, nil
}

// tree returns the files below a folder of ours, as files below a folder of a repository.
func tree(from, to string, replace *strings.Replacer) ([]file, error) {
	var list []file
	err := fs.WalkDir(files, path.Join("files", from), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".yml" {
			data = []byte(replace.Replace(string(data)))
		}
		list = append(list, file{path.Join(to, strings.TrimPrefix(name, "files/"+from+"/")), data})
		return nil
	})
	return list, err
}

// pointers returns, for each skill in .foreman, a skill that leads there: agents look for
// skills in their own folders.
func pointers() ([]file, error) {
	list, err := tree("foreman/skills", "skills", strings.NewReplacer())
	for i, s := range list {
		head, _, _ := bytes.Cut(s.data, []byte("\n---\n"))
		list[i].data = fmt.Appendf(nil, "%s\n---\n\nRead `.foreman/%s` and follow it.\n", head, s.name)
	}
	return list, err
}
