// Package wiring writes the files with which coding agents work as Builder and Inspector in a
// repository: instructions and skills in .foreman, and short files in each agent's own folder that
// refer to them.
package wiring

import (
	"bytes"
	"cmp"
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
	// older maps the folders of its files to those that earlier versions of the agent used.
	older map[string]string
}

// agents returns the agents by name.
func agents() []agent {
	return []agent{
		{name: "claude", folder: ".claude", files: "claude"},
		{name: "codex", folder: ".agents"},
		{name: "opencode", folder: ".opencode", files: "opencode", older: map[string]string{"agents": "agent", "skills": "skill", "tools": "tool"}},
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
		if f.older != "" {
			if _, err := root.Read(f.older, maxOlder); err == nil {
				done.Kept = append(done.Kept, f.older)
				continue
			}
		}
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

// maxOlder is the most bytes of a file that counts as one of an earlier version.
const maxOlder = 1 << 20

// A file is a file to write.
type file struct {
	name  string
	data  []byte
	older string // an earlier path of the file, which the agent reads too; empty: none
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
			list = append(list, file{name: path.Join(a.folder, s.name), data: s.data})
		}
		for i := range list {
			list[i].older = cmp.Or(list[i].older, a.olderPath(list[i].name))
		}
	}
	return list, nil
}

// olderPath returns the path that an earlier version of the agent used for a file; empty: none.
func (a agent) olderPath(name string) string {
	below, ok := strings.CutPrefix(name, a.folder+"/")
	folder, rest, _ := strings.Cut(below, "/")
	if older := a.older[folder]; ok && older != "" {
		return path.Join(a.folder, older, rest)
	}
	return ""
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
		list = append(list, file{name: path.Join(to, strings.TrimPrefix(name, "files/"+from+"/")), data: data})
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
