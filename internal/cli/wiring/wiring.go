// Package wiring writes the files with which coding agents work as Builder and Inspector in a
// repository: instructions and skills in .foreman, and short files in each agent's own folder that
// refer to them.
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

// An agent is a coding agent for which files can be written.
type agent struct {
	name   string
	folder string // the folder of the agent's files in a repository
	files  string // the folder of its files in this package; empty: the agent has only skills
}

// agents returns the agents by name.
func agents() []agent {
	return []agent{
		{"claude", ".claude", "claude"},
		{"codex", ".agents", ""},
		{"opencode", ".opencode", "opencode"},
	}
}

// Names returns the names of the agents for which files can be written.
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
	Kept []string // existed before, and unchanged
}

// Write writes the files for agents, which must be in [Names], below the root of a repository. It
// does not change existing files. After an error, the files written so far remain.
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

// A file is a file to write.
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

// tree returns the files below a folder of this package, with their paths in a repository.
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

// pointers returns, for each skill in .foreman, a short skill that refers to it, because agents
// search for skills only in their own folders.
func pointers() ([]file, error) {
	list, err := tree("foreman/skills", "skills", strings.NewReplacer())
	for i, s := range list {
		head, _, _ := bytes.Cut(s.data, []byte("\n---\n"))
		list[i].data = fmt.Appendf(nil, "%s\n---\n\nRead `.foreman/%s` and follow it.\n", head, s.name)
	}
	return list, err
}
