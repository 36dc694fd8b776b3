package workspace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/git"
)

// place returns the paths of a worktree, with all links in them resolved.
func (w *Worktree) place() (place, error) {
	p := place{root: w.repo.Root, own: w.repo.own, common: w.repo.common, dir: w.Dir, admin: w.admin, branch: w.Branch, git: w.repo.git}
	above, err := filepath.EvalSymlinks(filepath.Dir(p.dir))
	if err != nil {
		return p, err
	}
	p.dir = filepath.Join(above, filepath.Base(p.dir))
	for _, dir := range []*string{&p.root, &p.own, &p.common} {
		if *dir, err = filepath.EvalSymlinks(*dir); err != nil {
			return p, err
		}
	}
	return p, nil
}

// reset puts the branch, the index and the files of the worktree back to a commit.
func (p place) reset(ctx context.Context, commit string) error {
	if err := p.settle(ctx, commit); err != nil {
		return err
	}
	g := p.worktree()
	if _, err := g.Run(ctx, "reset", "--quiet", "--hard", commit); err != nil {
		return err
	}
	_, err := g.Run(ctx, "clean", "--quiet", "-d", "--force", "--force")
	return err
}

// maxGit is how long a command of git may take in a worktree. An agent can put a named pipe into
// it, from which git would read without end.
const maxGit = 10 * time.Minute

func (p place) worktree() git.Repo {
	g := p.git
	g.Dir, g.Limit = p.dir, maxGit
	return g
}

// settle makes git work again in the worktree after an interrupted command. It removes locks and
// unfinished merges, checks out the branch, makes it descend from start, and makes the index hide
// no file. It does not change files of the worktree. No process may work in the worktree
// meanwhile.
func (p place) settle(ctx context.Context, start string) error {
	if err := p.settleFiles(); err != nil {
		return err
	}
	if err := p.settleBranch(ctx, start); err != nil {
		return err
	}
	return p.settleIndex(ctx, start)
}

// settleFiles removes the files of interrupted git commands, and makes HEAD point to the branch.
func (p place) settleFiles() error {
	root, err := os.OpenRoot(p.common)
	if err != nil {
		return err
	}
	defer root.Close()
	ref := "refs/heads/" + p.branch
	if err := removeAll(root, ref+".lock"); err != nil {
		return err
	}
	entries, err := os.ReadDir(p.adminDir())
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if unfinished(entry.Name()) {
			if err := removeAll(root, p.admin+"/"+entry.Name()); err != nil {
				return err
			}
		}
	}
	head := &entry{mode: 0o644, data: []byte("ref: " + ref + "\n")}
	now, err := read(root, p.admin+"/HEAD")
	if err != nil || now != nil && now.mode.IsRegular() && bytes.Equal(now.data, head.data) {
		return err
	}
	return restore(root, p.admin+"/HEAD", head)
}

// unfinished reports whether a file in a git folder belongs to an unfinished command, such as a
// merge, a rebase, a cherry-pick or a bisection. Lock files count, too.
func unfinished(name string) bool {
	for _, prefix := range []string{"MERGE_", "BISECT_", "rebase-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, suffix := range []string{".lock", "_HEAD"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return name == "SQUASH_MSG" || name == "AUTO_MERGE" || name == "sequencer"
}

// settleBranch resets the branch to start if it does not descend from start. It does the same if
// the branch is a symbolic ref, because a commit would then change another branch, or if there are
// refs below it, which it removes.
func (p place) settleBranch(ctx context.Context, start string) error {
	ref := "refs/heads/" + p.branch
	root, err := os.OpenRoot(p.common)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := removeLinks(root, p.branch); err != nil {
		return err
	}
	// git lists the branch if it contains start, and also the refs below it, which only an agent can
	// have made.
	out, _ := p.git.Run(ctx, "for-each-ref", "--format=%(refname) %(symref)", "--contains="+start, ref)
	if err := ctx.Err(); err != nil || string(out) == ref+" \n" {
		return err
	}
	if _, err := p.git.Run(ctx, "update-ref", "--no-deref", ref, start); err == nil || ctx.Err() != nil {
		return err
	}
	// The file in place of the ref is not a valid ref, or there are refs or logs of refs below it.
	for _, name := range []string{"refs", "refs/heads", "logs", "logs/refs", "logs/refs/heads"} {
		if isLink(root, name) { // refs of other branches may be behind it
			return fmt.Errorf("reset the branch %s: %s in the folder %s is a link; replace it with a folder", p.branch, name, p.common)
		}
	}
	if err := removeAll(root, ref); err != nil {
		return err
	}
	if info, err := root.Lstat("logs/" + ref); err == nil && info.IsDir() {
		if err := removeAll(root, "logs/"+ref); err != nil {
			return err
		}
	}
	packed, err := p.git.Run(ctx, "for-each-ref", "--format=%(refname)", ref+"/")
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(string(packed)) {
		if _, err := p.git.Run(ctx, "update-ref", "--no-deref", "-d", name); err != nil {
			return err
		}
	}
	_, err = p.git.Run(ctx, "update-ref", "--no-deref", ref, start)
	return err
}

// removeLinks removes links in place of the ref of a branch or its log, or of folders that contain
// them, such as refs/heads/foreman. Git would follow them to another branch. Only an agent can have
// made them.
func removeLinks(root *os.Root, branch string) error {
	for _, name := range []string{"refs/heads", "logs/refs/heads"} {
		for part := range strings.SplitSeq(branch, "/") {
			if name += "/" + part; isLink(root, name) {
				if err := root.Remove(name); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// freeBranch prepares a branch of an earlier run for git, which resets or deletes it. An agent may have
// left a link or a symbolic ref, which git would follow to another branch.
func (r *Repository) freeBranch(branch string) error {
	root, err := os.OpenRoot(r.common)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := removeLinks(root, branch); err != nil {
		return err
	}
	ref := "refs/heads/" + branch
	info, err := root.Lstat(ref)
	if err != nil || !info.Mode().IsRegular() {
		return nil // there is no ref, or a packed one, which is never symbolic
	}
	file, err := root.Open(ref)
	if err != nil {
		return err
	}
	begin := make([]byte, len("ref:")) // an agent may have made a large file
	_, err = io.ReadFull(file, begin)
	file.Close()
	if err != nil || string(begin) != "ref:" {
		return nil // not a symbolic ref; git reports a file that is no ref
	}
	return root.Remove(ref)
}

// isLink reports whether a path is a symbolic link. It is false if the path cannot be read.
func isLink(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// settleIndex recreates an index that git cannot read, and removes the marks that make git treat
// a changed file as unchanged, except those of a sparse checkout.
func (p place) settleIndex(ctx context.Context, start string) error {
	g := p.worktree()
	out, err := g.Run(ctx, "ls-files", "-v", "-z")
	if err := ctx.Err(); err != nil {
		return err
	}
	if err != nil || len(out) == 0 {
		if err := os.RemoveAll(filepath.Join(p.adminDir(), "index")); err != nil {
			return err
		}
		_, err := g.Run(ctx, "read-tree", start)
		return err
	}
	assumed, skipped := []string{"update-index", "--no-assume-unchanged", "--"}, []string{"update-index", "--no-skip-worktree", "--"}
	none := len(assumed)
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		mark, path, _ := strings.Cut(entry, " ")
		if strings.ToUpper(mark) != mark {
			assumed = append(assumed, path)
		}
		if strings.EqualFold(mark, "S") {
			skipped = append(skipped, path)
		}
	}
	if len(skipped) > none {
		sparse, _ := g.Run(ctx, "config", "--type=bool", "core.sparseCheckout") // exits 1 where it is not set
		if strings.TrimSpace(string(sparse)) == "true" {
			skipped = skipped[:none]
		}
	}
	for _, args := range [][]string{assumed, skipped} {
		if len(args) > none {
			if _, err := g.Run(ctx, args...); err != nil {
				return err
			}
		}
	}
	return nil
}
