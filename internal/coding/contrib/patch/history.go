package patch

import (
	"context"
	"maps"
	"slices"

	"github.com/org/foreman-action/internal/coding/contrib/snapshot"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/secret"
)

// maxHistory is the most bytes of committed files that are searched for credentials. Files beyond
// this limit count as sensitive.
const maxHistory = 32 << 20

// History returns paths, sorted, that a person has to review because a commit of the workspace
// changes them. This includes changes that a later commit reverts. Package publish does not
// publish these commits, but a person may push them, and the patch shows only their sum.
func History(ctx context.Context, s *snapshot.Snapshot, globs []string) ([]string, error) {
	changes, err := s.History(ctx)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	sizes, err := s.Sizes(ctx, changes)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	var read []string
	left := int64(maxHistory)
	for _, c := range changes {
		if isSensitive(c.Path, globs) || special(c) {
			found[c.Path] = true
		}
		size := sizes[c.Blob] + sizes[c.OldBlob]
		if left -= size; left < 0 {
			left += size
			found[c.Path] = true
			continue
		}
		read = append(read, blobsOf(c)...)
	}
	blobs, err := s.Objects(ctx, read)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if secret.HasForm(string(blobs[c.Blob])) && !secret.HasForm(string(blobs[c.OldBlob])) {
			found[c.Path] = true
		}
		if c.Mode == git.ModeLink && git.Leaves(c.Path, string(blobs[c.Blob])) {
			found[c.Path] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// blobsOf returns the hashes of a file before and after a change.
func blobsOf(c git.Raw) []string {
	var list []string
	if c.Mode != git.ModeSubmodule {
		list = append(list, c.Blob)
	}
	if c.OldMode != git.ModeSubmodule {
		list = append(list, c.OldBlob)
	}
	return list
}
