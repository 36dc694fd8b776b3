package workspace

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/git"
	"github.com/org/foreman-action/internal/steering"
)

// A Steering contains the files of a change from which coding agents take instructions, tools or
// commands.
type Steering struct {
	base    string
	changed []git.Raw // differences from the base commit
}

// SteeringOf finds the files that steer agents and differ between two commits of a repository. If a
// file of the base is a link, its target steers agents, too.
func SteeringOf(ctx context.Context, r *Repository, base, head string) (Steering, error) {
	s := Steering{base: base}
	targets, err := targetsOf(ctx, r, base)
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

// targetsOf returns the paths to which links lead that steer agents in a commit. A link to a link is
// followed.
func targetsOf(ctx context.Context, r *Repository, commit string) ([]string, error) {
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

// Undo sets the files back to the base commit, in a worktree and its index. It removes files that
// steer agents and are not in the index, such as ignored ones. HEAD and the branch stay.
func (s Steering) Undo(ctx context.Context, w *Worktree) error {
	var added, others strings.Builder
	for _, change := range s.changed {
		paths := &others
		if change.Status == "A" {
			paths = &added
		}
		paths.WriteString(change.Path + "\x00")
	}
	g := w.git
	g.Vars = append(slices.Clip(g.Vars), "GIT_LITERAL_PATHSPECS=1")
	if added.Len() > 0 { // first, because a removed folder may be a file now
		if err := g.Stream(ctx, git.Streams{In: strings.NewReader(added.String())}, "rm", "--quiet", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
			return err
		}
	}
	if others.Len() > 0 {
		if err := g.Stream(ctx, git.Streams{In: strings.NewReader(others.String())}, "checkout", "--quiet", s.base, "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
			return err
		}
	}
	out, err := w.git.Run(ctx, "ls-files", "-z")
	if err != nil {
		return err
	}
	tracked := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		tracked[name] = true
	}
	root, err := os.OpenRoot(w.Dir)
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
		case err != nil: // a folder without permissions, which agents cannot read either
			return fs.SkipDir
		case d.IsDir() || tracked[name] || !steering.Matches(name):
			return nil
		}
		return root.Remove(name)
	})
}
