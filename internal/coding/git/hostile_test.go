package git_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/testkit/programtest"
)

// trap writes a program that copies its input to its output. When it runs, it creates the file
// marker.
func trap(t testing.TB) (program, marker string) {
	t.Helper()
	dir := t.TempDir()
	program, marker = filepath.Join(dir, "trap"), filepath.Join(dir, "marker")
	if err := programtest.Write(program, "#!/bin/sh\necho \"$0 $*\" >> '"+marker+"'\ncat\nexit 0\n"); err != nil {
		t.Fatal(err)
	}
	return program, marker
}

// sprung fails the test if the program of trap has run.
func sprung(t testing.TB, marker string) {
	t.Helper()
	if ran, err := os.ReadFile(marker); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a program ran: %s", ran)
	}
}

// everything calls Resolve, Diff and Status.
func everything(t testing.TB, r git.Repo) ([]git.Change, string) {
	t.Helper()
	head, err := r.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	base, err := r.Resolve(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	diff, _, err := r.Diff(t.Context(), base, head, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return status(t, r, true), string(diff)
}

// changed makes a repository with a branch that changes one file and moves others. It also has
// changes that are not committed.
func changed(t testing.TB) git.Repo {
	t.Helper()
	r := newRepo(t)
	for _, name := range []string{"é", "moved.txt", "staged.txt"} {
		write(t, r, name, "the content of "+name+"\n")
	}
	commit(t, r, "more files")
	run(t, r, "checkout", "--quiet", "-b", "work")
	write(t, r, "tracked.txt", "one\ntwo\n")
	write(t, r, "é", "another content\n")
	run(t, r, "mv", "moved.txt", "to.txt")
	commit(t, r, "second")
	run(t, r, "mv", "staged.txt", "staged.md")
	write(t, r, "tracked.txt", "one\ntwo\nthree\n")
	write(t, r, "new.txt", "x\n")
	return r
}

// TestHostileConfig puts programs and other output formats into the configuration of a repository.
// No program runs, and the output stays the same.
func TestHostileConfig(t *testing.T) {
	t.Parallel()
	r := changed(t)
	changes, diff := everything(t, r)
	if !strings.Contains(diff, "--- a/é\n") {
		t.Errorf("the diff escapes names:\n%s", diff)
	}
	program, marker := trap(t)
	for _, name := range []string{"pre-commit", "post-commit", "post-index-change", "post-checkout", "commit-msg", "reference-transaction"} {
		write(t, r, ".git/hooks/"+name, "#!/bin/sh\ntouch '"+marker+"'\n")
	}
	for _, c := range []string{
		"core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.alternateRefsCommand", "core.gitProxy",
		"diff.external", "diff.trap.command", "diff.trap.textconv", "pager.status", "pager.diff", "gpg.program", "credential.helper", "sequence.editor",
		"alias.status", "alias.diff",
	} {
		value := program
		if strings.HasPrefix(c, "alias.") {
			value = "!" + program
		}
		run(t, r, "config", "--local", c, value)
	}
	for _, c := range [][2]string{
		{"core.hooksPath", filepath.Join(r.Dir, ".git/hooks")}, {"commit.gpgSign", "true"}, {"log.showSignature", "true"}, {"color.ui", "always"}, {"diff.noprefix", "true"},
		{"diff.mnemonicPrefix", "true"}, {"diff.context", "0"}, {"diff.orderFile", "/none"}, {"diff.relative", "true"}, {"diff.renames", "false"}, {"diff.submodule", "diff"},
		{"status.short", "true"}, {"status.branch", "true"}, {"status.showStash", "true"}, {"status.renames", "false"}, {"status.showUntrackedFiles", "no"},
		{"status.submoduleSummary", "true"}, {"status.relativePaths", "true"}, {"column.ui", "always"}, {"core.quotePath", "true"}, {"core.excludesFile", filepath.Join(r.Dir, "all")},
		{"core.attributesFile", filepath.Join(r.Dir, "attributes")},
	} {
		run(t, r, "config", "--local", c[0], c[1])
	}
	write(t, r, ".git/info/attributes", "* diff=trap\n")
	write(t, r, "all", "*\n")
	write(t, r, "attributes", "* diff=trap\n")
	gotChanges, gotDiff := everything(t, r)
	same(t, gotChanges, append(slices.Clip(changes), git.Change{Path: "all", Code: "??"}, git.Change{Path: "attributes", Code: "??"}))
	if gotDiff != diff {
		t.Errorf("got the diff\n%s\nwant\n%s", gotDiff, diff)
	}
	below := r
	below.Dir = filepath.Join(r.Dir, ".git/..", "folder")
	write(t, below, "x", "x\n")
	if _, got := everything(t, below); got != diff {
		t.Errorf("got the diff\n%s\nin a folder, want\n%s", got, diff)
	}
	run(t, r, "add", "--all")
	run(t, r, "commit", "--quiet", "--message", "with every trap set")
	run(t, r, "log", "--patch", "--no-ext-diff", "--no-textconv", signed(t, r))
	sprung(t, marker)
}

// signed makes a copy of the newest commit that claims to be signed.
func signed(t testing.TB, r git.Repo) string {
	t.Helper()
	head, message, _ := strings.Cut(run(t, r, "cat-file", "commit", "HEAD"), "\n\n")
	name := filepath.Join(t.TempDir(), "commit")
	text := head + "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n" + message + "\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return run(t, r, "hash-object", "-t", "commit", "-w", name)
}

// TestConfiguration checks that git reads the configuration of the user and of the machine only
// with UserConfig.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	home := t.TempDir()
	for _, name := range []string{"system", ".gitconfig"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte("[trap]\n\tfrom = "+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.Vars = append(r.Vars, "HOME="+home, "GIT_CONFIG_SYSTEM="+filepath.Join(home, "system"))
	if out, err := r.Run(t.Context(), "config", "--get-all", "trap.from"); err == nil {
		t.Errorf("got %q", out)
	}
	r.UserConfig = true
	if got := run(t, r, "config", "--get-all", "trap.from"); got != "system\n.gitconfig" {
		t.Errorf("got %q", got)
	}
}

// TestHostileEnvironment sets git's variables in the environment of the program.
func TestHostileEnvironment(t *testing.T) {
	t.Parallel()
	r := changed(t)
	changes, diff := everything(t, r)
	program, marker := trap(t)
	home := t.TempDir()
	for name, text := range map[string]string{
		".gitconfig": "[core]\n\tfsmonitor = " + program + "\n\texcludesFile = " + home + "/all\n[diff]\n\texternal = " + program + "\n",
		"all":        "*\n",
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.Environ = append(r.Environ,
		"HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_DIR=/none", "GIT_WORK_TREE=/none", "GIT_INDEX_FILE=/none", "GIT_OBJECT_DIRECTORY=/none", "GIT_EXTERNAL_DIFF="+program,
		"GIT_PAGER="+program, "GIT_TRACE="+marker, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0="+program, "GIT_CONFIG_PARAMETERS='core.fsmonitor="+program+"'",
		"GIT_NAMESPACE=x", "GIT_EXEC_PATH="+filepath.Dir(program), "GITHUB_TOKEN=secret", "LD_PRELOAD=/none.so", "PAGER="+program, "GIT_DIFF_OPTS=--unified=0", "GIT_LITERAL_PATHSPECS=x",
	)
	gotChanges, gotDiff := everything(t, r)
	same(t, gotChanges, changes)
	if gotDiff != diff {
		t.Errorf("got the diff\n%s\nwant\n%s", gotDiff, diff)
	}
	sprung(t, marker)

	// With UserConfig, the user's own ignore file applies, but still no program runs.
	r.UserConfig = true
	gotChanges, _ = everything(t, r)
	same(t, gotChanges, []git.Change{{Path: "tracked.txt", Code: " M"}, {Path: "staged.md", From: "staged.txt", Code: "R "}})
	sprung(t, marker)
}

// TestHostileSubmodule changes the configuration of a submodule, and tries to hide that its commit
// changed.
func TestHostileSubmodule(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	inner := r
	inner.Dir = filepath.Join(r.Dir, "inner")
	run(t, r, "init", "--quiet", "inner")
	write(t, inner, "f", "1\n")
	commit(t, inner, "inner")
	write(t, r, ".gitmodules", "[submodule \"inner\"]\n\tpath = inner\n\turl = ./none\n\tignore = all\n")
	commit(t, r, "submodule")
	run(t, r, "checkout", "--quiet", "-b", "work")
	write(t, inner, "f", "2\n")
	commit(t, inner, "moved")
	program, marker := trap(t)
	run(t, inner, "config", "filter.trap.clean", program)
	run(t, r, "config", "diff.submodule", "log")
	write(t, inner, ".git/info/attributes", "* filter=trap\n")
	write(t, inner, "f", "3\n")

	same(t, status(t, r, true), []git.Change{{Path: "inner", Code: " M"}})
	run(t, r, "add", "--force", "inner")
	run(t, r, "commit", "--quiet", "--message", "move it")
	_, diff := everything(t, r)
	if !strings.Contains(diff, "+Subproject commit ") {
		t.Errorf("the diff does not show that the submodule moved:\n%s", diff)
	}
	sprung(t, marker)
}

// TestReplacedObject tries to hide a change by git replace: refs/replace must have no effect.
func TestReplacedObject(t *testing.T) {
	t.Parallel()
	r := changed(t)
	_, diff := everything(t, r)
	run(t, r, "replace", run(t, r, "rev-parse", "HEAD:tracked.txt"), run(t, r, "rev-parse", "main:tracked.txt"))
	if _, got := everything(t, r); got != diff || diff == "" {
		t.Errorf("got the diff\n%s\nwant\n%s", got, diff)
	}
}

// TestMissingObject uses a partial clone whose configured server is a program.
func TestMissingObject(t *testing.T) {
	t.Parallel()
	r := changed(t)
	program, marker := trap(t)
	blob := run(t, r, "rev-parse", "HEAD:tracked.txt")
	run(t, r, "config", "core.repositoryFormatVersion", "1")
	run(t, r, "config", "extensions.partialClone", "origin")
	run(t, r, "config", "remote.origin.promisor", "true")
	run(t, r, "config", "remote.origin.url", "ext::"+program+" %S")
	run(t, r, "config", "remote.origin.uploadpack", program)
	run(t, r, "config", "protocol.ext.allow", "always")
	if err := os.Remove(filepath.Join(r.Dir, ".git/objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	if out, _, err := r.Diff(t.Context(), run(t, r, "rev-parse", "main"), run(t, r, "rev-parse", "HEAD"), 1000); err == nil {
		t.Errorf("got the diff %q without an object", out)
	}
	sprung(t, marker)
}

// TestLeftBehind uses a filter whose child process keeps git's pipes open until the test ends it.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	r := changed(t)
	if runtime.GOOS == "windows" {
		t.Skip("needs a named pipe")
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := programtest.NamedPipe(pipe); err != nil {
		t.Fatal(err)
	}
	run(t, r, "config", "filter.left.clean", "cat '"+pipe+"' > /dev/null & cat")
	write(t, r, ".git/info/attributes", "tracked.txt filter=left\n")
	write(t, r, "tracked.txt", "one\nTWO\n") // the same size, so git compares the content
	list, err := r.Status(t.Context(), false)
	release, errRelease := os.OpenFile(pipe, os.O_WRONLY, 0)
	if errRelease != nil {
		t.Fatal(errRelease)
	}
	release.Close()
	if err != nil || !slices.Contains(list, git.Change{Path: "tracked.txt", Code: " M"}) {
		t.Errorf("got %+v, %v", list, err)
	}
}

// TestForeignOwner reads a repository that another user owns, as in containers.
func TestForeignOwner(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	r := changed(t)
	changes, diff := everything(t, r)
	if err := filepath.WalkDir(r.Dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, 1234, 1234))
	}); err != nil {
		t.Fatal(err)
	}
	gotChanges, gotDiff := everything(t, r)
	same(t, gotChanges, changes)
	if gotDiff != diff {
		t.Errorf("got the diff\n%s\nwant\n%s", gotDiff, diff)
	}
}
