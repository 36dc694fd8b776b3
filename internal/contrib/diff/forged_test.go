package diff_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/contrib/contract"
	"github.com/org/foreman-action/internal/contrib/diff"
	"github.com/org/foreman-action/internal/contrib/workspace"
)

// forge gives an object of the clone another content.
func (r *rig) forge(hash, kind, content string) {
	r.t.Helper()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	fmt.Fprintf(z, "%s %d\x00%s", kind, len(content), content)
	if err := z.Close(); err != nil {
		r.t.Fatal(err)
	}
	file := filepath.Join(r.dir(), ".git/objects", hash[:2], hash[2:])
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, packed.Bytes(), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// forgeTree replaces README.md in a folder by the one of the workspace.
func (r *rig) forgeTree(name string) {
	r.t.Helper()
	tree := r.git(r.dir(), "rev-parse", name)
	file := "README.md"
	if _, folder, ok := strings.Cut(name, ":"); ok {
		file = folder + "/" + file
	}
	blob, err := hex.DecodeString(r.git(r.dir(), "hash-object", "-w", file))
	if err != nil {
		r.t.Fatal(err)
	}
	content := r.git(r.dir(), "cat-file", "tree", tree)
	entry := "100644 README.md\x00"
	at := strings.Index(content, entry) + len(entry)
	r.forge(tree, "tree", content[:at]+string(blob)+content[min(at+len(blob), len(content)):])
}

// forgeParent gives the commit before the base a parent on which the change then starts, and which
// nobody reviewed.
func (r *rig) forgeParent() (before, content string) {
	r.t.Helper()
	before = r.git(r.dir(), "rev-parse", "HEAD^")
	content = r.git(r.dir(), "cat-file", "commit", before) + "\n"
	about, rest, _ := strings.Cut(content, "\n")
	harmful := r.git(r.dir(), "commit-tree", "-m", "x", "HEAD^{tree}")
	r.git(r.dir(), "update-ref", "refs/heads/contribflow/issue-1", r.git(r.dir(), "commit-tree", "-m", "y", "-p", harmful, "HEAD^{tree}"))
	r.forge(before, "commit", about+"\nparent "+harmful+"\n"+rest)
	return before, content
}

// TestForgedObjects gives objects of the clone another content, so that git shows a harmless patch
// for a harmful change. The clone's objects are unpacked first, because git prefers packed ones.
func TestForgedObjects(t *testing.T) {
	t.Parallel()
	tests := map[string]func(r *rig){
		"a new file": func(r *rig) {
			r.forge(r.git(r.dir(), "hash-object", "new.txt"), "blob", "good\n")
		},
		"a file of the base": func(r *rig) {
			r.write(r.dir(), "README.md", "one\ntwo\nharmful\n")
			r.forge(r.git(r.dir(), "rev-parse", "HEAD:README.md"), "blob", "one\ntwo\nharmful\n")
		},
		"the tree of the base": func(r *rig) {
			r.write(r.dir(), "README.md", "harmful\n")
			r.forgeTree("HEAD^{tree}")
		},
		"a folder of the base": func(r *rig) {
			r.write(r.dir(), "docs/README.md", "harmful\n")
			r.forgeTree("HEAD:docs")
		},
		"a commit before the base": func(r *rig) { r.forgeParent() },
		"the commit graph": func(r *rig) {
			before, content := r.forgeParent()
			r.git(r.dir(), "commit-graph", "write", "--reachable")
			r.forge(before, "commit", content)
		},
	}
	for name, forge := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write(r.upstream, "docs/README.md", "one\ntwo\n")
			r.commit(r.upstream)
			r.checkout()
			r.loosen()
			r.write(r.dir(), "new.txt", "evil\n")
			forge(r)
			want := "has another content than its hash says"
			switch name {
			case "the tree of the base": // git notices
				want = "git cannot read"
			case "the commit graph": // unused
				want = "has no commit in common"
			}
			_, err := diff.Run(context.Background(), r.session)
			if p, ok := errors.AsType[*contract.Problem](err); !ok || p.Code != contract.CodeWorkspaceMismatch || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// loosen unpacks the objects of the clone.
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
	if p, ok := errors.AsType[*contract.Problem](err); !ok || p.Code != contract.CodeWorkspaceMismatch || !strings.Contains(err.Error(), "has another content than its hash says") {
		t.Errorf("got %v", err)
	}
}
