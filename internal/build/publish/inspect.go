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

// The modes of git's trees.
const (
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// maxFound is how many paths of a change are named.
const maxFound = 20

// A touch is a path that a commit changes.
type touch struct {
	before, after string // modes
	blob          string // after
	path          string
}

// inspect returns what must not be published of a change: what any of its commits does to
// protected paths, files of the handoff, links that lead out of the tree, submodules.
func inspect(ctx context.Context, g git.Repo, r build.Report, c config.Config) ([]handoff.Problem, error) {
	out, err := g.Run(ctx, "log", "--format=", "--raw", "-z", "--no-abbrev", "--no-renames", "-m", "--root", r.BaseSHA+".."+r.HeadSHA)
	if err != nil {
		return nil, err
	}
	touches, err := parseRaw(string(out))
	if err != nil {
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
		if glob, ok := c.Publish.Protects(t.path); ok {
			add(t.path, "protected", fmt.Sprintf("a commit changes %s, which publish.protected names (%s)", t.path, glob))
		}
		if isHandoff(t.path, build.HandoffFiles(c)) {
			add(t.path, "handoff_file", fmt.Sprintf("a commit changes %s, by which agents hand over", t.path))
		}
		if !c.Publish.Submodules && (t.before == modeSubmodule || t.after == modeSubmodule || strings.EqualFold(t.path, ".gitmodules")) {
			add(t.path, "submodule", fmt.Sprintf("a commit changes the submodule %s; publish: {submodules: true} allows it", t.path))
		}
		if t.after == modeLink {
			target, err := g.Run(ctx, "cat-file", "blob", t.blob)
			if err != nil {
				return nil, err
			}
			if leaves(t.path, string(target)) {
				add(t.path, "symlink", fmt.Sprintf("a commit makes %s a link that leads out of the tree", t.path))
			}
		}
	}
	return found, nil
}

// parseRaw reads the changes of commits as git log --raw -z prints them.
func parseRaw(out string) ([]touch, error) {
	const fields = 5 // :before after blob blob status
	var all []touch
	tokens := strings.Split(out, "\x00")
	for i := 0; i < len(tokens); i++ {
		about := strings.TrimLeft(tokens[i], "\n")
		if about == "" {
			continue
		}
		parts := strings.Fields(strings.TrimPrefix(about, ":"))
		if !strings.HasPrefix(about, ":") || len(parts) != fields || i+1 == len(tokens) {
			return nil, fmt.Errorf("read the changes of the commits: %q is not a line of git log", about)
		}
		i++
		all = append(all, touch{before: parts[0], after: parts[1], blob: parts[3], path: tokens[i]})
	}
	return all, nil
}

// isHandoff reports whether a path is that of a file of the handoff or lies below one.
func isHandoff(name string, files []string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(append(files, ".foreman/runs"), func(file string) bool {
		file = strings.ToLower(path.Clean(file))
		return name == file || strings.HasPrefix(name, file+"/")
	})
}

// leaves reports whether the target of a link at a path of the tree is outside of the tree,
// or may be: behind another link, ".." leads anywhere.
func leaves(name, target string) bool {
	if target == "" || strings.HasPrefix(target, "/") || strings.ContainsAny(target, "\\\x00") || len(target) > 1 && target[1] == ':' {
		return true
	}
	up, down := 0, false
	for part := range strings.SplitSeq(target, "/") {
		switch {
		case part == "" || part == ".":
		case part == ".." && down, strings.EqualFold(part, ".git"):
			return true
		case part == "..":
			up++
		default:
			down = true
		}
	}
	return up > strings.Count(name, "/")
}
