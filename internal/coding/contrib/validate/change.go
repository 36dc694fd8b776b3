package validate

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/ecosystem"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/contrib/snapshot"
	"github.com/org/foreman-action/internal/coding/contrib/state"
	"github.com/org/foreman-action/internal/coding/contrib/workspace"
	"github.com/org/foreman-action/internal/coding/git"
)

// A change is the patch of the active issue. The patch artifact and the workspace contain the same
// patch.
type change struct {
	workspace *workspace.Workspace
	files     controller.Files
	snapshot  *snapshot.Snapshot
	digest    string
	paths     []string // changed paths, including old names of renamed files
}

// openChange returns the change of the active issue. If the patch artifact does not match the
// current workspace, the error is a [contract.Problem] with [contract.CodeNoPatch].
func openChange(ctx context.Context, s session.Session) (*change, error) {
	issue, files, err := s.Active()
	if err != nil {
		return nil, err
	}
	w, err := workspace.Open(s, issue, files)
	if err != nil {
		return nil, err
	}
	var artifact contract.Patch
	found, err := s.Controller.Read(files.Patch, &artifact)
	if err != nil {
		return nil, err
	}
	taken, err := snapshot.Take(ctx, w.Clone, w.Record.BaseSHA)
	if err != nil {
		return nil, err
	}
	c := &change{workspace: w, files: files, snapshot: taken}
	if err := c.compare(ctx, artifact, found); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// compare returns a problem if the artifact does not match the workspace.
func (c *change) compare(ctx context.Context, artifact contract.Patch, found bool) error {
	patch, changes, err := c.snapshot.Patch(ctx)
	if err != nil {
		return err
	}
	c.digest = c.snapshot.Digest(patch)
	for _, change := range changes {
		c.paths = append(c.paths, change.Path)
		if change.From != "" {
			c.paths = append(c.paths, change.From)
		}
	}
	again := contract.Run(contract.ActionDiff, state.CommandDiff)
	switch {
	case !found:
		return contract.Fail(contract.CodeNoPatch, "there is no patch artifact to validate; make it with: contribflow diff").With(again)
	case artifact.PatchDigest != c.digest:
		return stale()
	case !artifact.HasChanges:
		return contract.Fail(contract.CodeNoPatch, "the workspace has no changes to validate; make some, then run: contribflow diff").
			With(contract.Run(contract.ActionEdit, state.CommandDiff))
	}
	return nil
}

// stale is the problem of a workspace that differs from the patch artifact.
func stale() *contract.Problem {
	return contract.Fail(contract.CodeNoPatch, "the workspace has changed since the patch artifact was made; make it again with: contribflow diff").
		With(contract.Run(contract.ActionDiff, state.CommandDiff))
}

// unchanged returns a problem if the workspace has changed since openChange.
func (c *change) unchanged(ctx context.Context) error {
	now, err := snapshot.Take(ctx, c.workspace.Clone, c.workspace.Record.BaseSHA)
	if err != nil {
		return err
	}
	defer now.Close()
	if now.Base != c.snapshot.Base || now.Tree != c.snapshot.Tree {
		return stale()
	}
	return nil
}

func (c *change) close() { c.snapshot.Close() }

// tree returns the files that a commit of the workspace would contain. It omits ignored files,
// which the sandbox does not contain either, and links.
func (c *change) tree(ctx context.Context) (ecosystem.Tree, error) {
	out, err := c.snapshot.Repo.Run(ctx, "ls-tree", "-r", "-z", "--long", "--full-tree", c.snapshot.Tree)
	if err != nil {
		return ecosystem.Tree{}, fmt.Errorf("list the files of the workspace: %w", err)
	}
	type blob struct {
		hash string
		size int64
	}
	blobs := map[string]blob{}
	var tree ecosystem.Tree
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		fields, name, _ := strings.Cut(string(entry), "\t")
		parts := strings.Fields(fields) // mode, type, hash, size
		if len(parts) != 4 || parts[0] == git.ModeLink || parts[1] != "blob" {
			continue
		}
		size, err := strconv.ParseInt(parts[3], 10, 64)
		if err != nil {
			return ecosystem.Tree{}, fmt.Errorf("list the files of the workspace: the size of %q is %q", name, parts[3])
		}
		tree.Files = append(tree.Files, name)
		blobs[name] = blob{parts[2], size}
	}
	tree.Read = func(name string, limit int64) ([]byte, error) {
		b, ok := blobs[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		if b.size > limit {
			return nil, fmt.Errorf("%w: it has more than %d bytes", ecosystem.ErrUnreadable, limit)
		}
		contents, err := c.snapshot.Objects(ctx, []string{b.hash})
		return contents[b.hash], err
	}
	return tree, nil
}
