package git_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/git"
)

// trap writes a program that leaves a marker when it runs, and passes on what it reads.
func trap(t testing.TB) (program, marker string) {
	t.Helper()
	dir := t.TempDir()
	program, marker = filepath.Join(dir, "trap"), filepath.Join(dir, "marker")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >> '"+marker+"'\ncat\nexit 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return program, marker
}

// sprung fails the test when a trap ran.
func sprung(t testing.TB, marker string) {
	t.Helper()
	if ran, err := os.ReadFile(marker); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a program ran: %s", ran)
	}
}

// everything calls all that reads a repository, after a change on each side.
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

// changed makes a repository with a branch that changes a file, and an unstaged change.
func changed(t testing.TB) git.Repo {
	t.Helper()
	r := newRepo(t)
	run(t, r, "checkout", "--quiet", "-b", "work")
	write(t, r, "tracked.txt", "one\ntwo\n")
	commit(t, r, "second")
	write(t, r, "tracked.txt", "one\ntwo\nthree\n")
	write(t, r, "new.txt", "x\n")
	return r
}

// TestHostileConfig plants programs and changed formats in the configuration of a
// repository: none runs, and the output stays the same.
func TestHostileConfig(t *testing.T) {
	t.Parallel()
	r := changed(t)
	changes, diff := everything(t, r)
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
	same(t, gotChanges, append(changes, git.Change{Path: "all", Code: "??"}, git.Change{Path: "attributes", Code: "??"}))
	if gotDiff != diff {
		t.Errorf("got the diff\n%s\nwant\n%s", gotDiff, diff)
	}
	run(t, r, "add", "--all")
	run(t, r, "commit", "--quiet", "--message", "with every trap set")
	run(t, r, "log", "--patch", "--no-ext-diff", "--no-textconv")
	sprung(t, marker)
}

// TestHostileEnvironment sets variables of git's around the program.
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

	// The user's own view: the ignore file counts, and still no program runs.
	r.UserConfig = true
	gotChanges, _ = everything(t, r)
	same(t, gotChanges, []git.Change{{Path: "tracked.txt", Code: " M"}})
	sprung(t, marker)
}

// TestHostileSubmodule changes the configuration of a submodule, and hides that it moved.
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

// TestReplacedObject hides a change behind a replacement.
func TestReplacedObject(t *testing.T) {
	t.Parallel()
	r := changed(t)
	_, diff := everything(t, r)
	run(t, r, "replace", run(t, r, "rev-parse", "HEAD:tracked.txt"), run(t, r, "rev-parse", "main:tracked.txt"))
	if _, got := everything(t, r); got != diff || diff == "" {
		t.Errorf("got the diff\n%s\nwant\n%s", got, diff)
	}
}

// TestMissingObject has a clone without all objects whose server is a program.
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
