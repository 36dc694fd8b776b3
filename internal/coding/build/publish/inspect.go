package publish

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/coding/build"
	"github.com/org/foreman-action/internal/coding/build/config"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/handoff"
)

// maxFound is the most paths that an error names.
const maxFound = 20

// A change is the commits to publish.
type change struct {
	commits string    // BASE..HEAD
	touched []git.Raw // the paths that each commit touches, and the folders above them
}

func readChange(ctx context.Context, g git.Repo, r build.Report) (change, error) {
	c := change{commits: r.BaseSHA + ".." + r.HeadSHA}
	out, err := g.Run(ctx, "log", "--format=", "--raw", "-t", "-z", "--no-abbrev", "--no-renames", "-m", "--root", c.commits)
	if err == nil {
		c.touched, err = git.ParseRaw(out)
	}
	return c, err
}

// A policy is the section publish of the configuration of a commit.
type policy struct {
	of string // such as "the base commit"
	config.Publish
}

// inspect returns the forbidden parts of the change. It checks each commit for changes of paths that a
// policy protects, of handoff files and submodules, and for links that lead out of the tree. What it
// reads is compared with the hashes of the objects.
func (c change) inspect(ctx context.Context, g git.Repo, policies []policy, handoffs []string) ([]handoff.Problem, error) {
	commits, err := g.Run(ctx, "rev-list", "--parents", c.commits)
	if err != nil {
		return nil, err
	}
	var names []string
	for commit := range strings.FieldsSeq(string(commits)) {
		names = append(names, commit, commit+"^{tree}")
	}
	for _, t := range c.touched {
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
	for _, t := range c.touched {
		if t.OldMode == git.ModeFolder || t.Mode == git.ModeFolder {
			continue // its files follow
		}
		for _, p := range policies {
			if glob, ok := p.Protects(t.Path); ok {
				add(t.Path, "protected", fmt.Sprintf("a commit changes %s, which is protected (publish.protected of %s: %s)", t.Path, p.of, glob))
				break
			}
		}
		if isHandoff(t.Path, handoffs) {
			add(t.Path, "handoff_file", fmt.Sprintf("a commit changes %s, a handoff file of the agents", t.Path))
		}
		if t.OldMode == git.ModeSubmodule || t.Mode == git.ModeSubmodule || strings.EqualFold(t.Path, ".gitmodules") {
			if i := slices.IndexFunc(policies, func(p policy) bool { return !p.Submodules }); i >= 0 {
				add(t.Path, "submodule", fmt.Sprintf("a commit changes the submodule %s, which publish.submodules of %s forbids", t.Path, policies[i].of))
			}
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
