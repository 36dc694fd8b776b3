package diff_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/diff"
	"github.com/org/foreman-action/internal/coding/contrib/workspace"
	"github.com/org/foreman-action/internal/coding/git"
)

// loosen unpacks the objects of the clone, because git prefers packed ones.
func (r *rig) loosen() {
	r.t.Helper()
	packs, err := filepath.Glob(filepath.Join(r.dir(), ".git/objects/pack/*.pack"))
	if err != nil || len(packs) != 1 {
		r.t.Fatalf("got the packs %v, %v", packs, err)
	}
	data, err := os.ReadFile(packs[0])
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Dir(packs[0])); err != nil { // otherwise git unpacks nothing
		r.t.Fatal(err)
	}
	unpack := exec.Command("git", "unpack-objects", "-q")
	unpack.Dir, unpack.Stdin = r.dir(), bytes.NewReader(data)
	if out, err := unpack.CombinedOutput(); err != nil {
		r.t.Fatalf("%s: %v", out, err)
	}
}

// forge gives an object of the clone the content of another one. It returns a function that
// restores the first one.
func (r *rig) forge(hash, other string) (restore func()) {
	r.t.Helper()
	file := func(hash string) string { return filepath.Join(r.dir(), ".git/objects", hash[:2], hash[2:]) }
	before, _ := os.ReadFile(file(hash)) // there may be no such object
	data, err := os.ReadFile(file(other))
	if err != nil {
		r.t.Fatal(err)
	}
	replace := func(data []byte) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file(hash)), 0o755), os.RemoveAll(file(hash)), os.WriteFile(file(hash), data, 0o600)); err != nil {
			r.t.Fatal(err)
		}
	}
	replace(data)
	return func() { replace(before) }
}

// harm changes a file, and returns the tree with this change.
func (r *rig) harm(name string) (tree string) {
	r.t.Helper()
	r.write(r.dir(), name, "harmful\n")
	r.git(r.dir(), "add", name)
	return r.git(r.dir(), "write-tree")
}

// forgeParent gives the commit before the base a parent on which the change then starts, and which
// nobody reviewed.
func (r *rig) forgeParent() (restore func()) {
	r.t.Helper()
	harmful := r.git(r.dir(), "commit-tree", "-m", "x", "HEAD^{tree}")
	forged := r.git(r.dir(), "commit-tree", "-m", "x", "-p", harmful, "HEAD^{tree}")
	restore = r.forge(r.git(r.dir(), "rev-parse", "HEAD^"), forged)
	r.git(r.dir(), "update-ref", "refs/heads/contribflow/issue-1", r.git(r.dir(), "commit-tree", "-m", "y", "-p", harmful, "HEAD^{tree}"))
	return restore
}

// TestForgedObjects gives objects of the clone another content, so that git shows a harmless patch
// for a harmful change.
func TestForgedObjects(t *testing.T) {
	t.Parallel()
	forged := git.ErrForged.Error()
	tests := []struct {
		name, want string
		forge      func(r *rig)
	}{
		{"a new file", forged, func(r *rig) {
			r.write(r.dir(), "new.txt", "harmless\n")
			harmless := r.git(r.dir(), "hash-object", "-w", "new.txt")
			r.write(r.dir(), "new.txt", "harmful\n")
			r.forge(r.git(r.dir(), "hash-object", "new.txt"), harmless)
		}},
		{"a file of the base", forged, func(r *rig) {
			r.harm("README.md")
			r.forge(r.git(r.dir(), "rev-parse", "HEAD:README.md"), r.git(r.dir(), "hash-object", "README.md"))
		}},
		{"a folder of the base", forged, func(r *rig) {
			tree := r.harm("docs/README.md")
			r.forge(r.git(r.dir(), "rev-parse", "HEAD:docs"), r.git(r.dir(), "rev-parse", tree+":docs"))
		}},
		{"the tree of the base", "git cannot read", func(r *rig) { // git notices
			r.forge(r.git(r.dir(), "rev-parse", "HEAD^{tree}"), r.harm("README.md"))
		}},
		{"a commit before the base", forged, func(r *rig) { r.forgeParent() }},
		{"the commit graph", "has no commit in common", func(r *rig) { // it is not used
			restore := r.forgeParent()
			r.git(r.dir(), "commit-graph", "write", "--reachable")
			restore()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write(r.upstream, "docs/README.md", "one\ntwo\n")
			r.commit(r.upstream)
			r.checkout()
			r.loosen()
			r.write(r.dir(), "other.txt", "harmless\n")
			tt.forge(r)
			_, err := diff.Run(t.Context(), r.session)
			if p, ok := errors.AsType[*contract.Problem](err); !ok || p.Code != contract.CodeWorkspaceMismatch || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestForgedBase lets the record name a base that is on the server's branch only according to a
// forged commit.
func TestForgedBase(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.commit(r.upstream)
	r.checkout()
	r.loosen()
	r.forgeParent()
	issue, files, err := r.session.Active()
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(r.session, issue, files)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.CheckBase(t.Context(), r.session, ""); err != nil {
		t.Errorf("got %v for the base itself", err)
	}
	w.Record.BaseSHA = r.git(r.dir(), "rev-parse", "HEAD^")
	err = w.CheckBase(t.Context(), r.session, "")
	if p, ok := errors.AsType[*contract.Problem](err); !ok || p.Code != contract.CodeWorkspaceMismatch || !strings.Contains(err.Error(), git.ErrForged.Error()) {
		t.Errorf("got %v", err)
	}
}
