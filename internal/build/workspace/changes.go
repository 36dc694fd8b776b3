package workspace

import (
	"context"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/git"
)

// Changes are files that differ between two commits.
type Changes []git.Raw

// ChangesBetween returns the files that differ between two commits of a repository and whose paths
// match. A renamed file is a removed and a new one.
func ChangesBetween(ctx context.Context, r *Repository, from, to string, match func(path string) bool) (Changes, error) {
	out, err := r.git.Run(ctx, "diff", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", from, to, "--")
	if err != nil {
		return nil, err
	}
	all, err := git.ParseRaw(out)
	return slices.DeleteFunc(all, func(c git.Raw) bool { return !match(c.Path) }), err
}

// Paths returns the paths of the files.
func (c Changes) Paths() []string {
	var paths []string
	for _, change := range c {
		paths = append(paths, change.Path)
	}
	return paths
}

// Undo sets the files back to their state in the commit that they differ from, in a worktree and its
// index. HEAD and the branch stay.
func (c Changes) Undo(ctx context.Context, w *Worktree, from string) error {
	var added, others strings.Builder
	for _, change := range c {
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
		return g.Stream(ctx, git.Streams{In: strings.NewReader(others.String())}, "checkout", "--quiet", from, "--pathspec-from-file=-", "--pathspec-file-nul")
	}
	return nil
}
