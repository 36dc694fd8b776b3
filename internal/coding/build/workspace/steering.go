package workspace

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/coding/steering"
)

// A Steering contains the files of a change from which coding agents take instructions, tools or
// commands. The zero value has none.
type Steering struct {
	base    string
	changed []git.Raw // differences from the base commit; nil: none
}

// Steering finds the files that steer agents and differ between two commits. If a file of the base is a
// link, its target steers agents, too.
func (r *Repository) Steering(ctx context.Context, base, head string) (Steering, error) {
	s := Steering{base: base}
	targets, err := r.targets(ctx, base)
	if err != nil {
		return s, err
	}
	out, err := r.git.Run(ctx, "diff", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", base, head, "--")
	if err != nil {
		return s, err
	}
	all, err := git.ParseRaw(out)
	s.changed = slices.DeleteFunc(all, func(c git.Raw) bool {
		isTarget := slices.ContainsFunc(targets, func(target string) bool { return c.Path == target || strings.HasPrefix(c.Path, target+"/") })
		return !steering.Matches(c.Path) && !isTarget
	})
	return s, err
}

// targets returns the paths to which links lead that steer agents in a commit. A link to a link is
// followed.
func (r *Repository) targets(ctx context.Context, commit string) ([]string, error) {
	out, err := r.git.Run(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	links := map[string]string{} // blobs with the targets, by path
	var next []string
	for entry := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		if fields := strings.Fields(about); len(fields) == 3 && fields[0] == git.ModeLink {
			links[name] = fields[2]
			if steering.Matches(name) {
				next = append(next, name)
			}
		}
	}
	found := map[string]bool{}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		target, err := r.git.Run(ctx, "cat-file", "blob", links[name])
		if err != nil {
			return nil, err
		}
		to := path.Join(path.Dir(name), string(target))
		if path.IsAbs(string(target)) || found[to] {
			continue
		}
		found[to] = true
		if links[to] != "" {
			next = append(next, to)
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// Paths returns the paths of the files.
func (s Steering) Paths() []string {
	var paths []string
	for _, change := range s.changed {
		paths = append(paths, change.Path)
	}
	return paths
}

// undo sets the files back to the base commit, in a new clone and its index. HEAD and the branch stay.
func (s Steering) undo(ctx context.Context, g git.Repo) error {
	var added, others []string
	for _, change := range s.changed {
		if change.Status == "A" {
			added = append(added, change.Path)
		} else {
			others = append(others, change.Path)
		}
	}
	g.Vars = append(slices.Clip(g.Vars), "GIT_LITERAL_PATHSPECS=1")
	from := []string{"--pathspec-from-file=-", "--pathspec-file-nul"}
	if len(added) > 0 { // first, because a removed folder may be a file now
		if err := g.Stream(ctx, git.Streams{In: lines(added)}, append([]string{"rm", "--quiet", "--force"}, from...)...); err != nil {
			return err
		}
	}
	if len(others) > 0 {
		return g.Stream(ctx, git.Streams{In: lines(others)}, append([]string{"checkout", "--quiet", s.base}, from...)...)
	}
	return nil
}

// RemoveSteering removes files that steer agents and that were not cloned, such as ignored files that a
// command has made.
func (c *Clone) RemoveSteering(ctx context.Context) error {
	out, err := c.git.Run(ctx, "ls-files", "-z")
	if err != nil {
		return err
	}
	tracked := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		tracked[name] = true
	}
	root, err := c.open()
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case name == ".git":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err != nil:
			return err
		case TooDeep(name):
			if err := removeAll(root, name); err != nil {
				return err
			}
			return fs.SkipDir
		case d.IsDir(): // a command may have hidden a folder; its files can be read by name
			unlock(root, name)
			return nil
		case tracked[name] || !steering.Matches(name):
			return nil
		}
		return root.Remove(name)
	})
}
