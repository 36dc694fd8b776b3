package diff_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/coding/contrib/checkout"
	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/diff"
	"github.com/org/foreman-action/internal/testkit/programtest"
)

// canary writes a program that creates a marker file when it runs. At the end, the test fails if
// this file exists.
func (r *rig) canary() (program, marker string) {
	r.t.Helper()
	dir := r.t.TempDir()
	program, marker = filepath.Join(dir, "canary"), filepath.Join(dir, "marker")
	if err := programtest.Write(program, "#!/bin/sh\necho \"$0 $*\" >> '"+marker+"'\ncat\nexit 0\n"); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if ran, err := os.ReadFile(marker); !errors.Is(err, fs.ErrNotExist) {
			r.t.Errorf("a program ran: %s", ran)
		}
	})
	return program, marker
}

// traps returns a git configuration in which every setting that can name a program names the
// canary.
func traps(program string) string {
	return fmt.Sprintf(`[core]
	fsmonitor = %[1]s
	pager = %[1]s
	editor = %[1]s
	sshCommand = %[1]s
	askPass = %[1]s
	gitProxy = %[1]s
	alternateRefsCommand = %[1]s
	hooksPath = .githooks
	attributesFile = /none
	excludesFile = /none
[filter "trap"]
	clean = %[1]s
	smudge = %[1]s
	required = true
[filter "lfs"]
	process = %[1]s
	clean = %[1]s
	smudge = %[1]s
	required = true
[diff]
	external = %[1]s
	noprefix = true
	algorithm = histogram
	context = 0
	renames = false
[diff "trap"]
	command = %[1]s
	textconv = %[1]s
	xfuncname = .*
[merge "trap"]
	driver = %[1]s
[credential]
	helper = %[1]s
[uploadpack]
	packObjectsHook = %[1]s
[submodule]
	recurse = true
[submodule "sub"]
	update = !%[1]s
	active = true
[protocol]
	allow = always
[gpg]
	program = %[1]s
[commit]
	gpgSign = true
[alias]
	status = !%[1]s
	diff-tree = !%[1]s
[pager]
	diff = %[1]s
`, program)
}

// attributes select all drivers of traps for all files.
const attributes = "* filter=trap diff=trap merge=trap\n*.bin filter=lfs diff=lfs merge=lfs -text\n"

// TestHostileRepository clones a repository whose attributes name drivers. The user's own
// configuration defines programs for these drivers.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	program, _ := r.canary()
	template := filepath.Join(r.home, "template")
	for _, dir := range []string{filepath.Join(r.upstream, ".githooks"), filepath.Join(template, "hooks")} {
		for _, hook := range []string{"post-checkout", "post-index-change", "reference-transaction", "pre-commit", "fsmonitor-watchman"} {
			if err := programtest.Write(filepath.Join(dir, hook), "#!/bin/sh\n"+program+"\n"); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.write(template, "config", traps(program))
	r.write(r.home, ".gitconfig", traps(program)+"[init]\n\ttemplateDir = "+template+"\n")
	r.write(r.upstream, ".gitattributes", attributes)
	r.write(r.upstream, "large.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("a", 64)+"\nsize 1\n")
	r.write(r.upstream, ".lfsconfig", "[lfs]\n\turl = http://127.0.0.1:1/\n\tcustomtransfer.x.path = "+program+"\n")
	r.write(r.upstream, ".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ext::"+program+"\n\tupdate = !"+program+"\n[include]\n\tpath = /none\n")
	r.write(r.upstream, ".contribflow/config.json", `{"branchPrefix": "taken/"}`)
	r.write(r.upstream, ".contribflow/state.json", `{"activeIssue": "evil/evil#1"}`)
	r.git(r.upstream, "add", "--all")
	r.git(r.upstream, "update-index", "--add", "--cacheinfo", "160000,"+r.git(r.upstream, "rev-parse", "HEAD")+",sub")
	r.git(r.upstream, "commit", "--quiet", "--message", "hostile")

	w := r.checkout()
	if w.Submodules.Status != contract.SubmodulesMissing || !slices.Equal(w.Submodules.Paths, []string{"sub"}) || w.Submodules.RecommendedCommand == nil ||
		*w.Submodules.RecommendedCommand != "git -C .contribflow/workspaces/o-r-1 submodule update --init --recursive" {
		t.Errorf("got the submodules %+v", w.Submodules)
	}
	if text := strings.Join(w.Warnings, "\n"); !strings.Contains(text, "names a command to run") || !strings.Contains(text, "not reached by https") || !strings.Contains(text, "1 file(s) are kept in Git LFS") {
		t.Errorf("got the warnings %q", w.Warnings)
	}
	if left, err := os.ReadDir(filepath.Join(r.dir(), "sub")); err != nil || len(left) > 0 {
		t.Errorf("the folder of the submodule has %v, %v", left, err)
	}
	if !w.Clean || w.Branch != "contribflow/issue-1" {
		t.Errorf("got %+v", w)
	}
	if facts := r.look(); facts.Changed || facts.Digest == "" {
		t.Errorf("got %+v", facts)
	}
	r.write(r.dir(), "README.md", "one\nTWO\n")
	r.write(r.dir(), "large.bin", "edited\n")
	d := r.diff()
	if len(d.ChangedFiles) != 2 || d.ChangedFiles[0].Binary || d.ChangedFiles[0].Additions != 1 || r.look().Digest != d.PatchDigest {
		t.Errorf("got %+v", d)
	}
}

// TestHostileClone changes the folder .git of the workspace, as a hostile editor could. The patch
// stays the same, and no program runs.
func TestHostileClone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write(r.upstream, "dir/code.js", strings.Repeat("let a = 1\n", 20))
	r.commit(r.upstream)
	r.checkout()
	r.write(r.dir(), "dir/code.js", strings.Repeat("let a = 1\n", 19)+"let b = 2\n")
	r.write(r.dir(), "new.txt", "new\n")
	before := r.diff()

	program, _ := r.canary()
	outside := t.TempDir()
	r.write(outside, "secret", "secret\n")
	git := filepath.Join(r.dir(), ".git")
	config, err := os.ReadFile(filepath.Join(git, "config"))
	if err != nil {
		t.Fatal(err)
	}
	r.write(git, "config", string(config)+traps(program)+"[core]\n\tworktree = "+outside+"\n[extensions]\n\tworktreeConfig = true\n")
	r.write(git, "config.worktree", traps(program))
	r.write(git, "info/attributes", attributes+"*.js -diff\n")
	for _, hook := range []string{"post-index-change", "reference-transaction", "pre-commit", "post-checkout"} {
		if err := programtest.Write(filepath.Join(git, "hooks", hook), "#!/bin/sh\n"+program+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	after := r.diff()
	if diff := cmp.Diff(before, after, cmp.AllowUnexported(contract.Time{})); diff != "" {
		t.Errorf("the patch changed (-before +after):\n%s", diff)
	}
	if facts := r.look(); facts.Digest != before.PatchDigest {
		t.Errorf("got %+v", facts)
	}
	if d := r.checkout(); d.Created || d.Clean {
		t.Errorf("got %+v", d)
	}
}

// TestMovedRefs commits a change and moves the clone's base branch to this commit, to hide the
// change from the patch.
func TestMovedRefs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := r.checkout()
	r.write(r.dir(), "README.md", "hidden\n")
	hidden := r.commit(r.dir())
	r.git(r.dir(), "update-ref", "refs/remotes/origin/main", hidden)
	r.git(r.dir(), "update-ref", "refs/heads/main", hidden)
	r.git(r.dir(), "replace", w.BaseSHA, hidden)
	for range 2 {
		if d := r.diff(); len(d.ChangedFiles) != 1 || d.BaseSHA != w.BaseSHA {
			t.Errorf("got %+v", d)
		}
		again := r.checkout()
		if again.BaseSHA != w.BaseSHA || len(again.Warnings) != 1 || !strings.Contains(again.Warnings[0], "is not on the branch") {
			t.Errorf("got %+v", again)
		}
	}
}

// TestFetchedBase fetches the base branch and rebases, as a contributor may do.
func TestFetchedBase(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.checkout()
	r.write(r.dir(), "new.txt", "new\n")
	r.commit(r.dir())
	r.write(r.upstream, "other.txt", "upstream\n")
	tip := r.commit(r.upstream)
	r.gitIn(r.dir(), r.session.Environ, "fetch", "--quiet", "origin")
	r.git(r.dir(), "rebase", "--quiet", "origin/main")
	if d := r.diff(); len(d.ChangedFiles) != 2 {
		t.Errorf("got %+v", d.ChangedFiles)
	}
	if w := r.checkout(); w.BaseSHA != tip || len(w.Warnings) > 0 {
		t.Errorf("got %+v", w)
	}
	if d := r.diff(); len(d.ChangedFiles) != 1 || d.ChangedFiles[0].Path != "new.txt" || d.BaseSHA != tip {
		t.Errorf("got %+v", d)
	}
}

// TestHistory makes commits that add lines and remove them again. The patch does not contain these
// lines, but a push of the commits would publish them.
func TestHistory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.checkout()
	r.write(r.dir(), "config.txt", "token: ghp_"+strings.Repeat("a1", 18)+"\n")
	r.write(r.dir(), ".github/workflows/evil.yml", "on: push\n")
	r.write(r.dir(), "plain.txt", "nothing of interest\n")
	r.write(r.dir(), "large", strings.Repeat("0123456789abcdef", 33<<16))
	r.commit(r.dir())
	if err := errors.Join(os.RemoveAll(filepath.Join(r.dir(), ".github")), os.Remove(filepath.Join(r.dir(), "config.txt")), os.Remove(filepath.Join(r.dir(), "large"))); err != nil {
		t.Fatal(err)
	}
	r.commit(r.dir())
	d := r.diff()
	if want := []string{".github/workflows/evil.yml", "config.txt", "large"}; len(d.ChangedFiles) != 1 || !slices.Equal(d.RiskFlags.SensitiveFiles, want) {
		t.Errorf("got %+v, %q", d.ChangedFiles, d.RiskFlags.SensitiveFiles)
	}
}

// TestNotTheClone replaces the clone by something else.
func TestNotTheClone(t *testing.T) {
	t.Parallel()
	tests := map[string]func(r *rig) error{
		"a link": func(r *rig) error {
			return errors.Join(os.Rename(r.dir(), r.dir()+"-moved"), os.Symlink(r.dir()+"-moved", r.dir()))
		},
		"a file":  func(r *rig) error { return errors.Join(os.RemoveAll(r.dir()), os.WriteFile(r.dir(), nil, 0o600)) },
		"no .git": func(r *rig) error { return os.RemoveAll(filepath.Join(r.dir(), ".git")) },
		"a file .git": func(r *rig) error {
			return errors.Join(os.Rename(filepath.Join(r.dir(), ".git"), r.home+"/moved"), os.WriteFile(filepath.Join(r.dir(), ".git"), []byte("gitdir: "+r.home+"/moved\n"), 0o600))
		},
		"a link .git": func(r *rig) error {
			return errors.Join(os.Rename(filepath.Join(r.dir(), ".git"), r.home+"/moved"), os.Symlink(r.home+"/moved", filepath.Join(r.dir(), ".git")))
		},
		"a torn HEAD":      func(r *rig) error { return os.WriteFile(filepath.Join(r.dir(), ".git/HEAD"), []byte("ref: re"), 0o600) },
		"another branch":   func(r *rig) error { r.git(r.dir(), "switch", "--quiet", "-c", "other"); return nil },
		"no branch":        func(r *rig) error { r.git(r.dir(), "switch", "--quiet", "--detach"); return nil },
		"assume-unchanged": func(r *rig) error { r.git(r.dir(), "update-index", "--assume-unchanged", "README.md"); return nil },
		"skip-worktree":    func(r *rig) error { r.git(r.dir(), "update-index", "--skip-worktree", "README.md"); return nil },
		"another history": func(r *rig) error {
			r.git(r.dir(), "checkout", "--quiet", "--orphan", "other")
			r.write(r.dir(), "unrelated", "x")
			r.commit(r.dir())
			r.git(r.dir(), "branch", "--quiet", "-M", "contribflow/issue-1")
			return nil
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.checkout()
			if err := change(r); err != nil {
				t.Fatal(err)
			}
			_, err := diff.Run(t.Context(), r.session)
			p, ok := errors.AsType[*contract.Problem](err)
			if !ok || p.Code != contract.CodeWorkspaceMismatch || p.Next.Command == "" {
				t.Errorf("got %v", err)
			}
			if strings.HasSuffix(name, " branch") {
				return
			}
			if facts := r.look(); !facts.Exists || facts.Digest != "" || facts.Problem == nil {
				t.Errorf("got %+v", facts)
			}
		})
	}
}

// TestNoRegularFiles replaces files in the clone's folder .git by named pipes and other special
// files. From a named pipe, git would read without end. It also checks an index that git cannot
// read.
func TestNoRegularFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no named pipes")
	}
	pipe := programtest.NamedPipe
	tests := map[string]struct {
		name string
		make func(name string) error
	}{
		"HEAD":         {"HEAD", pipe},
		"config":       {"config", pipe},
		"index":        {"index", pipe},
		"packed refs":  {"packed-refs", pipe},
		"shallow":      {"shallow", pipe},
		"branch":       {"refs/heads/contribflow/issue-1", pipe},
		"refs":         {"refs", pipe},
		"objects":      {"objects", pipe},
		"alternates":   {"objects/info/alternates", pipe},
		"pack":         {"objects/pack/pack-0123456789012345678901234567890123456789.idx", pipe},
		"link":         {"packed-refs", func(name string) error { return os.Symlink("/dev/zero", name) }},
		"broken index": {"index", func(name string) error { return os.WriteFile(name, []byte("no index"), 0o600) }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.checkout()
			file := filepath.Join(r.dir(), ".git", filepath.FromSlash(tt.name))
			if err := errors.Join(os.RemoveAll(file), os.MkdirAll(filepath.Dir(file), 0o755), tt.make(file)); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			_, err := diff.Run(ctx, r.session)
			_, again := checkout.Run(ctx, r.session, checkout.Options{Issue: issue})
			for _, err := range []error{err, again} {
				if p, ok := errors.AsType[*contract.Problem](err); !ok || p.Code != contract.CodeWorkspaceMismatch || p.Next.Kind != contract.KindInstruction || ctx.Err() != nil {
					t.Errorf("got %v", err)
				}
			}
			if facts := r.look(); !facts.Exists || facts.Digest != "" || facts.Problem == nil {
				t.Errorf("got %+v", facts)
			}
		})
	}
	t.Run("what git does not read", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.checkout()
		for _, name := range []string{"hooks/pre-commit", "logs/HEAD"} {
			file := filepath.Join(r.dir(), ".git", filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.RemoveAll(file), pipe(file)); err != nil {
				t.Fatal(err)
			}
		}
		r.write(r.dir(), "new.txt", "new\n")
		if d := r.diff(); len(d.ChangedFiles) != 1 {
			t.Errorf("got %+v", d.ChangedFiles)
		}
	})
}

// TestHostileNames changes files with names that a program which parses lines may misunderstand.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("other file systems refuse some of the names")
	}
	names := []string{
		" leading", "trailing ", "-rf", "--output=x", "a -> b", "new\nline", "tab\tname", `quote"back\slash`, "$(touch marker)", "é ü", "\x1b[31mred", "ends\r",
		":(glob)**", "\xff\xfe", "diff --git a b", "@@ -1 +1 @@", "Case", "case", "CASE", ":100644 100644 0 0 M", "#", "*",
	}
	r := newRig(t)
	for _, name := range names {
		r.write(r.upstream, "old/"+name, "the content of "+name+"\n")
	}
	r.commit(r.upstream)
	r.checkout()
	for _, name := range names {
		r.write(r.dir(), "old/"+name, "changed\n@@ -1,9 +1,9 @@\ndiff --git a/x b/x\n-- \n")
		r.write(r.dir(), "new/"+name, "new "+name+"\n")
	}
	d := r.diff()
	if len(d.ChangedFiles) != 2*len(names) {
		t.Errorf("got %d files, want %d", len(d.ChangedFiles), 2*len(names))
	}
	for _, f := range d.ChangedFiles {
		want := 4
		if strings.HasPrefix(strings.TrimPrefix(f.Path, `"`), "new/") {
			want = 1 + strings.Count(f.Path, "\n")
		}
		if f.Additions != want {
			t.Errorf("%q: got %d added lines, want %d", f.Path, f.Additions, want)
		}
	}
	if !slices.ContainsFunc(d.ChangedFiles, func(f contract.ChangedFile) bool { return f.Path == `"new/\377\376"` }) {
		t.Errorf("a name that is no text is not quoted: %+v", d.ChangedFiles)
	}
	applies(t, r)
}

// applies checks that the written patch changes the base into the workspace.
func applies(t *testing.T, r *rig) {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy")
	r.git(r.home, "clone", "--quiet", r.upstream, copied)
	r.git(copied, "apply", "--index", r.session.Controller.Abs(".contribflow/artifacts/patch-o-r-1.diff"))
	r.git(r.dir(), "add", "--all")
	if got, want := r.git(copied, "write-tree"), r.git(r.dir(), "write-tree"); got != want {
		t.Errorf("the patch leads to the tree %s, want %s", got, want)
	}
}

// TestSpecialFiles adds files that are not regular ones.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs links and named pipes")
	}
	r := newRig(t)
	r.write(r.upstream, "becomes-link", "file\n")
	r.write(r.upstream, "folder/in", "file\n")
	r.write(r.upstream, ".gitattributes", "*.js -diff\n*.txt binary\n")
	r.write(r.upstream, "hidden.js", "let a\n")
	r.commit(r.upstream)
	r.checkout()
	outside := t.TempDir()
	r.write(outside, "in", "secret\n")
	if err := errors.Join(
		os.Symlink("/etc/passwd", filepath.Join(r.dir(), "absolute")),
		os.Symlink("../../../../etc/passwd", filepath.Join(r.dir(), "outside")),
		os.Symlink("README.md", filepath.Join(r.dir(), "inside")),
		os.Symlink(".git/config", filepath.Join(r.dir(), "steering")),
		os.Remove(filepath.Join(r.dir(), "becomes-link")),
		os.Symlink("README.md", filepath.Join(r.dir(), "becomes-link")),
		os.RemoveAll(filepath.Join(r.dir(), "folder")),
		os.Symlink(outside, filepath.Join(r.dir(), "folder")),
		programtest.NamedPipe(filepath.Join(r.dir(), "pipe")),
		os.WriteFile(filepath.Join(r.dir(), "run.sh"), []byte("#!/bin/sh\n"), 0o755),
		os.Chmod(filepath.Join(r.dir(), "README.md"), 0o755),
	); err != nil {
		t.Fatal(err)
	}
	r.write(r.dir(), "hidden.js", strings.Repeat("let b\n", 5000))
	r.write(r.dir(), "image.png", "\x89PNG\x00\x01")
	r.write(r.dir(), "plain.txt", "token: ghp_"+strings.Repeat("a1", 18)+"\n")
	d := r.diff()
	if want := []string{"README.md", "absolute", "folder", "image.png", "outside", "plain.txt", "run.sh", "steering"}; !slices.Equal(d.RiskFlags.SensitiveFiles, want) {
		t.Errorf("got the sensitive files %q, want %q", d.RiskFlags.SensitiveFiles, want)
	}
	got := map[string]string{}
	for _, f := range d.ChangedFiles {
		got[f.Path] = fmt.Sprintf("%s +%d -%d %v", f.Status, f.Additions, f.Deletions, f.Binary)
	}
	want := map[string]string{
		"README.md": "M +0 -0 false", "absolute": "A +1 -0 false", "becomes-link": "T +1 -1 false", "folder": "A +1 -0 false", "folder/in": "D +0 -1 false",
		"hidden.js": "M +5000 -1 false", "image.png": "A +0 -0 true", "inside": "A +1 -0 false", "outside": "A +1 -0 false", "plain.txt": "A +1 -0 false",
		"run.sh": "A +1 -0 false", "steering": "A +1 -0 false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changed files (-want +got):\n%s", diff)
	}
	if strings.Contains(d.Diff, "ghp_") || strings.Contains(d.Diff, "secret") {
		t.Error("the document shows a secret")
	}
}

// TestHostileTree clones repositories whose trees contain names that git itself does not create.
// Nothing is checked out, and no file is left.
func TestHostileTree(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".git", ".GIT", "git~1", ".g\u200cit", "..", "."} {
		t.Run(strconv.Quote(name), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			blob := r.git(r.upstream, "hash-object", "-w", "README.md")
			raw, err := hex.DecodeString(blob)
			if err != nil {
				t.Fatal(err)
			}
			tree := r.object("100755 post-checkout\x00" + string(raw))
			tree = r.object("40000 " + name + "\x00" + tree)
			commit := r.git(r.upstream, "commit-tree", "-m", "hostile", hex.EncodeToString([]byte(tree)))
			r.git(r.upstream, "update-ref", "refs/heads/main", commit)
			_, err = checkout.Run(t.Context(), r.session, checkout.Options{Issue: issue})
			if err == nil || !strings.Contains(err.Error(), "check out o/r: git checkout: ") {
				t.Errorf("got %v", err)
			}
			left, err := filepath.Glob(filepath.Dir(r.dir()) + "/*")
			if err != nil || len(left) > 0 {
				t.Errorf("%v is left, %v", left, err)
			}
		})
	}
}

// object writes a tree object with exactly this content, and returns its binary hash.
func (r *rig) object(tree string) string {
	r.t.Helper()
	r.write(r.home, "tree", tree)
	hash, err := hex.DecodeString(r.git(r.upstream, "hash-object", "-t", "tree", "-w", "--literally", filepath.Join(r.home, "tree")))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(hash)
}

// TestDefaultBranch checks unusual default branches: some names conflict with the issue's branch,
// one name is ambiguous, and one repository has no default branch.
func TestDefaultBranch(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"contribflow", "contribflow/issue-1", "contribflow/issue-1/deep", "origin/main", "refs/heads/x", "é\u202e$(x)"} {
		t.Run(strconv.Quote(name), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			commit := r.git(r.upstream, "rev-parse", "HEAD")
			r.git(r.upstream, "symbolic-ref", "HEAD", "refs/heads/"+name)
			r.git(r.upstream, "update-ref", "-d", "refs/heads/main")
			r.git(r.upstream, "update-ref", "refs/heads/"+name, commit)
			w := r.checkout()
			if w.BaseBranch != name || w.BaseSHA != commit || !w.Clean || w.Branch != "contribflow/issue-1" {
				t.Errorf("got %+v", w)
			}
			r.write(r.dir(), "new.txt", "new\n")
			if d := r.diff(); len(d.ChangedFiles) != 1 {
				t.Errorf("got %+v", d.ChangedFiles)
			}
		})
	}
	r := newRig(t)
	r.git(r.upstream, "update-ref", "-d", "refs/heads/main")
	_, err := checkout.Run(t.Context(), r.session, checkout.Options{Issue: issue})
	if p, ok := errors.AsType[*contract.Problem](err); !ok || p.Code != contract.CodeNoWorkspace || !strings.Contains(err.Error(), "has no commits") {
		t.Errorf("got %v", err)
	}
}

// TestAlternates uses repositories that borrow objects from others: first on the server, then in
// the clone.
func TestAlternates(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other := filepath.Join(r.home, "other")
	r.git(r.home, "init", "--quiet", "other")
	r.write(other, "secret", "secret\n")
	r.commit(other)
	r.write(r.upstream, ".git/objects/info/alternates", other+"/.git/objects\n")
	r.checkout()
	if _, err := os.Lstat(filepath.Join(r.dir(), ".git/objects/info/alternates")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the clone borrows objects: %v", err)
	}
	r.write(r.dir(), ".git/objects/info/alternates", other+"/.git/objects\n")
	if d := r.diff(); d.HasChanges {
		t.Errorf("got %+v", d)
	}
}

// TestDeletedFile removes a tracked file without git rm.
func TestDeletedFile(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.checkout()
	if err := os.Remove(filepath.Join(r.dir(), "README.md")); err != nil {
		t.Fatal(err)
	}
	if d := r.diff(); len(d.ChangedFiles) != 1 || d.ChangedFiles[0].Status != "D" || d.ChangedFiles[0].Deletions != 2 {
		t.Errorf("got %+v", d.ChangedFiles)
	}
}

// TestNestedRepository puts git repositories into the workspace. If such a repository has a
// commit, the patch contains the hash of this commit. Without a commit, it cannot be part of a
// patch.
func TestNestedRepository(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.checkout()
	nested := filepath.Join(r.dir(), "nested")
	program, _ := r.canary()
	r.git(r.dir(), "init", "--quiet", "nested")
	r.write(nested, "file", "x\n")
	r.commit(nested)
	r.write(nested, ".git/config", traps(program))
	d := r.diff()
	if len(d.ChangedFiles) != 1 || d.ChangedFiles[0].Path != "nested" || !slices.Equal(d.RiskFlags.SensitiveFiles, []string{"nested"}) {
		t.Errorf("got %+v", d)
	}
	r.git(r.dir(), "init", "--quiet", "empty")
	_, err := diff.Run(t.Context(), r.session)
	if p, ok := errors.AsType[*contract.Problem](err); !ok || p.Code != contract.CodeWorkspaceMismatch || !strings.Contains(err.Error(), `"empty"`) {
		t.Errorf("got %v", err)
	}
	if facts := r.look(); facts.Problem == nil || facts.Digest != "" {
		t.Errorf("got %+v", facts)
	}
}

// TestTooLarge makes changes above the limits: a sparse file of two gigabytes, large files in
// commits, and thousands of files.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(r *rig) error
		want   string
	}{
		"sparse": {func(r *rig) error {
			file, err := os.Create(filepath.Join(r.dir(), "disk.img"))
			if err != nil {
				return err
			}
			return errors.Join(file.Truncate(2<<30), file.Close())
		}, `"disk.img" has 2048 MB`},
		"committed": {func(r *rig) error {
			r.write(r.dir(), "large", strings.Repeat("0123456789abcdef", 21<<16))
			r.commit(r.dir())
			return os.Truncate(filepath.Join(r.dir(), "large"), 0)
		}, ""},
		"staged": {func(r *rig) error {
			r.write(r.dir(), "large", strings.Repeat("0123456789abcdef", 21<<16))
			r.commit(r.dir())
			return nil
		}, `"large" has 21 MB`},
		"many": {func(r *rig) error {
			for i := range 5001 {
				r.write(r.dir(), fmt.Sprintf("node_modules/%d/%d", i%100, i), "")
			}
			return nil
		}, "5001 files are changed or new"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.checkout()
			if err := tt.change(r); err != nil {
				t.Fatal(err)
			}
			_, err := diff.Run(t.Context(), r.session)
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			p, ok := errors.AsType[*contract.Problem](err)
			if !ok || p.Code != contract.CodePatchTooLarge || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
			if facts := r.look(); !facts.Changed || facts.Problem == nil || facts.Digest != "" {
				t.Errorf("got %+v", facts)
			}
		})
	}
}
