package publish

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/org/foreman-action/handoff"
	"github.com/org/foreman-action/internal/build"
	"github.com/org/foreman-action/internal/build/config"
	"github.com/org/foreman-action/internal/git"
)

// maxFound is the most paths that an error names.
const maxFound = 20

// inspect returns the forbidden parts of a change. It checks each commit for changes of protected
// paths, handoff files and submodules, and for links that lead out of the tree. What it reads is
// compared with the hashes of the objects.
func inspect(ctx context.Context, g git.Repo, r build.Report, c config.Config) ([]handoff.Problem, error) {
	out, err := g.Run(ctx, "log", "--format=", "--raw", "-t", "-z", "--no-abbrev", "--no-renames", "-m", "--root", r.BaseSHA+".."+r.HeadSHA)
	if err != nil {
		return nil, err
	}
	touches, err := git.ParseRaw(out)
	if err != nil {
		return nil, err
	}
	commits, err := g.Run(ctx, "rev-list", "--parents", r.BaseSHA+".."+r.HeadSHA)
	if err != nil {
		return nil, err
	}
	var names []string
	for commit := range strings.FieldsSeq(string(commits)) {
		names = append(names, commit, commit+"^{tree}")
	}
	for _, t := range touches {
		if t.OldMode == git.ModeFolder {
			names = append(names, t.OldBlob)
		}
		if t.Mode == git.ModeFolder || t.Mode == git.ModeLink {
			names = append(names, t.Blob)
		}
	}
	links := map[string]string{} // targets by their hashes
	if err := g.Objects(ctx, names, func(hash string, content []byte) { links[hash] = string(content) }); err != nil {
		return nil, err
	}
	var found []handoff.Problem
	add := func(name, code, message string) {
		p := handoff.Problem{Path: name, Code: code, Message: message}
		if len(found) < maxFound && !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	for _, t := range touches {
		if t.OldMode == git.ModeFolder || t.Mode == git.ModeFolder {
			continue // its files follow
		}
		if glob, ok := c.Publish.Protects(t.Path); ok {
			add(t.Path, "protected", fmt.Sprintf("a commit changes %s, which is protected (publish.protected: %s)", t.Path, glob))
		}
		if isHandoff(t.Path, build.HandoffFiles(c)) {
			add(t.Path, "handoff_file", fmt.Sprintf("a commit changes %s, a handoff file of the agents", t.Path))
		}
		if !c.Publish.Submodules && (t.OldMode == git.ModeSubmodule || t.Mode == git.ModeSubmodule || strings.EqualFold(t.Path, ".gitmodules")) {
			add(t.Path, "submodule", fmt.Sprintf("a commit changes the submodule %s; publish: {submodules: true} allows it", t.Path))
		}
		if t.Mode == git.ModeLink {
			if git.Leaves(t.Path, links[t.Blob]) {
				add(t.Path, "symlink", fmt.Sprintf("a commit makes %s a symbolic link to a path outside the repository", t.Path))
			}
		}
	}
	return found, nil
}

// isHandoff reports whether a path is a handoff file, or is inside a handoff folder.
func isHandoff(name string, files []string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(append(files, ".foreman/runs"), func(file string) bool {
		file = strings.ToLower(path.Clean(file))
		return name == file || strings.HasPrefix(name, file+"/")
	})
}
