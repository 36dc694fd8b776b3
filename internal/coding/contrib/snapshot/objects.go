package snapshot

import (
	"context"
	"errors"

	"github.com/org/foreman-action/internal/coding/git"
)

// Objects returns the contents of objects by their hashes. It skips hashes of zeros, which stand
// for a missing file. The caller must have checked the sizes of the files by [Snapshot.Patch] or
// [Snapshot.Sizes].
func (s *Scratch) Objects(ctx context.Context, hashes []string) (map[string][]byte, error) {
	objects := make(map[string][]byte, len(hashes))
	err := s.Repo.Objects(ctx, hashes, func(hash string, content []byte) { objects[hash] = content })
	return objects, s.forged(err)
}

// Before reports whether a commit is tip or one of its ancestors.
func (s *Scratch) Before(ctx context.Context, commit, tip string) (bool, error) {
	before, err := s.Repo.IsAncestor(ctx, commit, tip)
	if errors.Is(err, git.ErrForged) {
		return false, s.forged(err)
	}
	return before, ctx.Err() // the clone may not have the commit
}

// verify compares the objects that differ between the base and the tree of the change with their
// hashes.
func (s *Snapshot) verify(ctx context.Context) error {
	out, err := s.Repo.Run(ctx, "diff-tree", "-r", "-t", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none", s.Base, s.Tree, "--")
	if err != nil {
		return Problem(err)
	}
	changes, err := git.ParseRaw(out)
	if err != nil {
		return err
	}
	names := []string{s.Base, s.Base + "^{tree}", s.Tree}
	for _, c := range changes {
		for _, side := range [][2]string{{c.OldMode, c.OldBlob}, {c.Mode, c.Blob}} {
			if side[0] != git.ModeSubmodule {
				names = append(names, side[1])
			}
		}
	}
	return s.forged(s.Repo.Objects(ctx, names, func(string, []byte) {}))
}

// forged returns the problem of a clone with a forged object.
func (s *Scratch) forged(err error) error {
	if err == nil {
		return nil
	}
	return s.clone.Unreadable(err)
}
