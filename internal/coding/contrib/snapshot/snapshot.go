package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/text"
)

// The limits of a change. A larger change is usually a build folder or a disk image that was not
// ignored, not a contribution.
const (
	maxFiles = 5_000
	maxFile  = 20 << 20
	maxTotal = 50 << 20
)

// A Snapshot is the state of a workspace's files at one moment, with the base of the change.
// Taking it does not change the workspace or its index. The caller closes the snapshot.
type Snapshot struct {
	*Scratch
	Base string // the commit that the change starts from
	Head string // the checked-out commit
	Tree string // of a commit of all files
}

// Take takes a snapshot of the files that "git add --all" would add: tracked files and files that
// are not ignored. The base is the newest common ancestor of the workspace's HEAD and recorded,
// the commit of the base branch from which checkout made the workspace. Take does not use the
// clone's refs, because an editor of the workspace can move them. If the change is too large, the
// error is a [contract.Problem].
func Take(ctx context.Context, c Clone, recorded string) (*Snapshot, error) {
	head, err := c.Head(ctx)
	if err != nil {
		return nil, err
	}
	scratch, err := NewScratch(c)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{Scratch: scratch, Head: head}
	if s.Base, err = s.base(ctx, recorded); err == nil {
		s.Tree, err = s.tree(ctx)
	}
	if err != nil {
		s.Close()
		return nil, Problem(err)
	}
	return s, nil
}

// base returns the commit that the change starts from.
func (s *Snapshot) base(ctx context.Context, recorded string) (string, error) {
	if s.Head == recorded {
		return recorded, nil
	}
	out, err := s.Repo.Run(ctx, "merge-base", "--end-of-options", s.Head, recorded)
	if err != nil {
		return "", s.clone.Mismatch("%s has no commit in common with %.12s, from which it was made", s.clone.Name, recorded)
	}
	base := strings.TrimSpace(string(out))
	if before, err := s.Before(ctx, base, recorded); err != nil || !before {
		return "", cmp.Or(err, error(s.clone.Mismatch("%s does not start from a commit before %.12s", s.clone.Name, recorded)))
	}
	return base, nil
}

// tree returns the tree that a commit of all files would have.
func (s *Snapshot) tree(ctx context.Context) (string, error) {
	changed, hidden, err := s.changed(ctx)
	if err != nil {
		return "", s.clone.Unreadable(err)
	}
	if len(hidden) > 0 { // a validation would run on other files than a commit has
		return "", contract.Fail(contract.CodeWorkspaceMismatch, "the index of %s hides changes of %d file(s), such as %q", s.clone.Name, len(hidden), text.Quote(hidden[0])).
			With(contract.Instruct(contract.ActionEdit, "In "+s.clone.Name+" run for each file: git update-index --no-assume-unchanged FILE; git update-index --no-skip-worktree FILE"))
	}
	there, gone, err := s.sort(changed)
	if err != nil {
		return "", err
	}
	for _, step := range []struct {
		names []string
		args  []string
	}{
		{gone, []string{"update-index", "-z", "--force-remove", "--stdin"}},
		{there, []string{"update-index", "-z", "--add", "--remove", "--replace", "--stdin"}},
	} {
		if len(step.names) == 0 {
			continue
		}
		list := strings.NewReader(strings.Join(step.names, "\x00") + "\x00")
		if err := s.Files.Stream(ctx, git.Streams{In: list}, step.args...); err != nil {
			return "", s.irregular(there, err)
		}
	}
	out, err := s.Files.Run(ctx, "write-tree", "--missing-ok") // looking for all objects takes long
	return strings.TrimSpace(string(out)), err
}

// sort divides changed paths into existing and missing ones. A path behind a link counts as
// missing, because git update-index refuses it without --force-remove. sort also checks the sizes
// of files before git reads them.
func (s *Snapshot) sort(changed []string) (there, gone []string, err error) {
	if len(changed) > maxFiles {
		return nil, nil, s.tooLarge("%d files are changed or new, such as %q; a patch may have at most %d", len(changed), text.Quote(changed[0]), maxFiles)
	}
	root, err := os.OpenRoot(s.clone.Dir)
	if err != nil {
		return nil, nil, fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	folders := map[string]bool{".": true} // for each path, whether it is a folder and not a link
	total := int64(0)
	for _, name := range changed {
		if !isFolder(root, path.Dir(name), folders) {
			gone = append(gone, name)
			continue
		}
		info, err := root.Lstat(filepath.FromSlash(name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			gone = append(gone, name)
			continue
		case err != nil:
			return nil, nil, fmt.Errorf("look at %q: %w", text.Quote(name), err)
		case info.Mode().IsRegular():
			if err := s.add(&total, name, info.Size()); err != nil {
				return nil, nil, err
			}
		}
		there = append(there, name)
	}
	return there, gone, nil
}

// isFolder reports whether all parts of a path are folders, and no links.
func isFolder(root *os.Root, name string, known map[string]bool) bool {
	is, ok := known[name]
	if !ok {
		info, err := root.Lstat(filepath.FromSlash(name))
		is = isFolder(root, path.Dir(name), known) && err == nil && info.IsDir()
		known[name] = is
	}
	return is
}

// add adds the size of a file to the total, and returns a problem if a limit is exceeded.
func (s *Snapshot) add(total *int64, name string, size int64) error {
	if *total += size; size > maxFile {
		return s.tooLarge("%q has %d MB; a file of a patch may have at most %d MB", text.Quote(name), size>>20, maxFile>>20)
	}
	if *total > maxTotal {
		return s.tooLarge("the changed files have more than %d MB", maxTotal>>20)
	}
	return nil
}

// tooLarge returns the problem for a change that exceeds a limit.
func (s *Snapshot) tooLarge(format string, args ...any) *contract.Problem {
	return contract.Fail(contract.CodePatchTooLarge, "%s", fmt.Sprintf(format, args...)).
		With(contract.Instruct(contract.ActionEdit, "Remove or ignore files that do not belong to the contribution in "+s.clone.Name+", then run: contribflow diff --json"))
}

// irregular explains why git cannot add a changed path that is neither a file nor a link, such as
// a repository without a commit or a named pipe.
func (s *Snapshot) irregular(there []string, err error) error {
	for _, name := range there {
		info, errInfo := os.Lstat(filepath.Join(s.clone.Dir, filepath.FromSlash(name)))
		if errInfo == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 && mentions(err, name) {
			return contract.Fail(contract.CodeWorkspaceMismatch, "%q in the workspace is neither a file nor a link: %w", text.Quote(name), err).
				With(contract.Instruct(contract.ActionEdit, "Remove it from "+s.clone.Name+", then run: contribflow diff --json"))
		}
	}
	return err
}

// mentions reports whether an error of git is about a path.
func mentions(err error, name string) bool {
	return strings.Contains(err.Error(), strings.Join(strings.Fields(name), " "))
}
