package workspace_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/coding/build/workspace"
)

// A place is a checkout of a user with the repository of a run, and a clone of it.
type place struct {
	t        *testing.T
	root     string
	dir      string // of the run
	environ  []string
	checkout *workspace.Checkout
	repo     *workspace.Repository
	clone    *workspace.Clone
	base     string
}

var author = workspace.Author{Name: "Robot", Email: "robot@example.org"}

func environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org"}
}

// repository makes a repository with three files in one commit, and uncommitted changes in the
// checkout.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sh(t, root, `git init -q -b main . && echo one >a.txt && echo two >b.txt && mkdir dir && echo three >dir/c.txt && git add . && git commit -qm first
		echo mine >>b.txt && echo new >untracked.txt`)
	return root
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, root: repository(t)}
	p.open("main")
	return p
}

// open opens the checkout, and makes a clone of a commit or branch.
func (p *place) open(base string) {
	p.t.Helper()
	if p.environ == nil {
		p.environ = environ()
	}
	dir, err := filepath.EvalSymlinks(p.t.TempDir())
	if err != nil {
		p.t.Fatal(err)
	}
	p.dir = dir
	if p.checkout, err = workspace.Open(p.t.Context(), p.root, p.environ); err != nil {
		p.t.Fatal(err)
	}
	var branch string
	if p.base, branch, err = p.checkout.Base(p.t.Context(), base); err != nil {
		p.t.Fatal(err)
	}
	if p.repo, err = workspace.NewRepository(p.t.Context(), p.checkout, workspace.Options{Dir: p.dir, Branch: "foreman/t1", Commit: p.base, Base: branch, Hidden: []string{"/.foreman/tmp/"}}); err != nil {
		p.t.Fatal(err)
	}
	p.again()
}

// again makes another clone of the branch.
func (p *place) again() {
	p.t.Helper()
	var err error
	if p.clone, err = workspace.NewClone(p.t.Context(), p.repo, "w", workspace.Steering{}); err != nil {
		p.t.Fatal(err)
	}
}

// commit commits the files of the clone.
func (p *place) commit(without ...string) (head, note string, err error) {
	return p.clone.Commit(p.t.Context(), workspace.Change{Start: p.base, By: author, Message: "message", Without: without})
}

// git runs a command of git in Foreman's repository.
func (p *place) git(args string) string { return sh(p.t, p.dir+"/repo.git", "git "+args) }

func sh(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", script)
	cmd.Dir, cmd.Env = dir, environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// during calls Watch, runs a script in the clone, and calls Check. It returns the changed
// paths, and the folder with the saved files.
func (p *place) during(script string) (found []string, saved string) {
	p.t.Helper()
	guard, err := workspace.Watch(p.t.Context(), p.checkout, p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	sh(p.t, p.clone.Dir, "CHECKOUT='"+p.root+"'\n"+script)
	saved = p.t.TempDir()
	found, err = guard.Check(p.t.Context(), saved)
	if err != nil {
		p.t.Fatal(err)
	}
	for i := range found {
		found[i] = strings.TrimPrefix(found[i], p.root+"/")
	}
	if got := sh(p.t, p.dir, "ls checkout* 2>/dev/null || true"); got != "" {
		p.t.Errorf("the guard has left %s", got)
	}
	return found, saved
}

// snapshot returns a text of everything in the consumer's checkout that must not change.
func (p *place) snapshot() string {
	p.t.Helper()
	return sh(p.t, p.root, `cat .git/config .git/HEAD; ls -l .git/hooks | wc -l; git for-each-ref --format='%(refname) %(objectname) %(symref)' | grep -v refs/heads/foreman/; git ls-files -s; git status --porcelain; cat a.txt b.txt dir/c.txt untracked.txt; ls -a; test ! -e mine || { cat mine/f; ls -ld mine | cut -c1-10; }`)
}

// TestOutside changes files of the checkout, and files that configure its git.
func TestOutside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"configuration":          {`git -C "$CHECKOUT" config user.name Other`, ".git/config"},
		"a hook":                 {`printf '#!/bin/sh\n' >"$CHECKOUT/.git/hooks/pre-commit"`, ".git/hooks/pre-commit"},
		"a hook removed":         {`rm "$CHECKOUT/.git/hooks/known"`, ".git/hooks/known"},
		"a hook made executable": {`chmod +x "$CHECKOUT/.git/hooks/known"`, ".git/hooks/known"},
		"hooks lead elsewhere":   {`rm -r "$CHECKOUT/.git/hooks"; ln -s /tmp "$CHECKOUT/.git/hooks"`, ".git/hooks"},
		"attributes":             {`echo '* filter=x' >"$CHECKOUT/.git/info/attributes"`, ".git/info/attributes"},
		"what is ignored":        {`echo '*' >>"$CHECKOUT/.git/info/exclude"`, ".git/info/exclude"},
		"a tracked file":         {`echo bad >"$CHECKOUT/a.txt"`, "checkout: a.txt"},
		"an uncommitted file":    {`echo bad >"$CHECKOUT/b.txt"`, "checkout: b.txt"},
		"an untracked file":      {`echo bad >"$CHECKOUT/untracked.txt"`, "checkout: untracked.txt"},
		"a new file":             {`echo bad >"$CHECKOUT/new.txt"`, "checkout: new.txt"},
		"a removed file":         {`rm "$CHECKOUT/a.txt"`, "checkout: a.txt"},
		"a folder as a link":     {`rm -r "$CHECKOUT/dir"; ln -s /tmp "$CHECKOUT/dir"`, "checkout: dir"},
		"more than a branch":     {`printf '[branch "x"]\n\tremote = . \\\n[core]\n\tfsmonitor = x\n' >>"$CHECKOUT/.git/config"`, ".git/config"},
		"after a branch":         {`printf '[branch "x"] [core]\n\tfsmonitor = x\n' >>"$CHECKOUT/.git/config"`, ".git/config"},
		"a large hook":           {`truncate -s 1T "$CHECKOUT/.git/hooks/pre-push"`, ".git/hooks/pre-push"},
		"a large file":           {`truncate -s 1T "$CHECKOUT/new.txt" "$CHECKOUT/b.txt"`, "checkout: new.txt"},
		"a folder of the user's": {`chmod 700 "$CHECKOUT/mine"`, "checkout: mine/"},
		"a hidden file":          {`git -C "$CHECKOUT" update-index --assume-unchanged a.txt; echo bad >"$CHECKOUT/a.txt"`, "checkout: a.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &place{t: t, root: repository(t)}
			sh(t, p.root, "git branch other; git symbolic-ref refs/remotes/origin/HEAD refs/heads/main; mkdir -p .git/hooks; printf '#!/bin/sh\n' >.git/hooks/known; chmod -x .git/hooks/known; git init -q mine; echo mine >mine/f; chmod 755 mine")
			p.open("main")
			before := p.snapshot()
			found, _ := p.during(c.script)
			if !slices.ContainsFunc(found, func(s string) bool { return s == c.want || strings.HasSuffix(s, "/"+c.want) }) {
				t.Errorf("found %q, want %s", found, c.want)
			}
			if after := p.snapshot(); after != before {
				t.Errorf("the checkout is not as it was:\n%s\nwas:\n%s", after, before)
			}
			if found, _ := p.during("true"); len(found) > 0 {
				t.Errorf("the next run finds %q", found)
			}
		})
	}
}

func TestWhatWasOutsideIsSaved(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	_, saved := p.during(`echo bad >"$CHECKOUT/a.txt"; mkdir "$CHECKOUT/sub"; echo new >"$CHECKOUT/sub/x"`)
	if got := sh(t, saved, "cat a.txt sub/x"); got != "bad\nnew" {
		t.Errorf("saved: %q", got)
	}
	// An agent may know the folder.
	guard, err := workspace.Watch(t.Context(), p.checkout, p.dir)
	if err != nil {
		t.Fatal(err)
	}
	sh(t, p.root, "echo bad >a.txt; echo bad >b.txt; echo mine >'"+p.dir+"/users'; cd '"+saved+"'; rm -r *; ln -s ../users a.txt; mkfifo b.txt")
	if _, err := guard.Check(t.Context(), saved); err != nil {
		t.Fatal(err)
	}
	if got := sh(t, saved, "cat a.txt b.txt '"+p.dir+"/users'"); got != "bad\nbad\nmine" {
		t.Errorf("saved: %q", got)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"no repository": {`true`, "not a git repository"},
		"no commit":     {`git init -q .`, "no commit yet"},
		"bare":          {`git init -q --bare .`, "no working tree"},
		"detached":      {`git init -q . && git commit -q --allow-empty -m x && git checkout -q --detach`, ""},
		"below":         {`git init -q . && git commit -q --allow-empty -m x && mkdir -p x`, ""},
		"shallow":       {`git init -q src && cd src && git commit -q --allow-empty -m 1 && git commit -q --allow-empty -m 2 && cd .. && git clone -q --depth 1 "file://$PWD/src" x && mv x/.git .`, ""},
		"included":      {`git init -q . && git commit -q --allow-empty -m x && git config include.path '~/mine'`, ""},
		"submodule":     {`git init -q sub && git -C sub commit -q --allow-empty -m 1 && git init -q . && git -c protocol.file.allow=always submodule --quiet add ./sub m && git commit -qm 1`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			sh(t, dir, c.script)
			_, err = workspace.Open(t.Context(), dir, environ())
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			p := &place{t: t, root: dir}
			p.open("")
			if found, _ := p.during("true"); len(found) > 0 {
				t.Errorf("found %q", found)
			}
			if changed, err := p.clone.Changed(t.Context(), nil); err != nil || len(changed) > 0 {
				t.Errorf("the clone differs: %q %v", changed, err)
			}
		})
	}
}

// TestOpenLineBreak opens a repository whose path git prints as two lines.
func TestOpenLineBreak(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a\nb")
	if err := os.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	sh(t, dir, "git init -q . && git commit -q --allow-empty -m x")
	if _, err := workspace.Open(t.Context(), dir, environ()); err == nil || !strings.Contains(err.Error(), "line break") {
		t.Errorf("got %v", err)
	}
}

func TestBase(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	sh(t, p.root, "git checkout -q -b work; git commit -q --allow-empty -m w")
	clone := t.TempDir()
	sh(t, clone, "git clone -q '"+p.root+"' x && cd x && git checkout -q --detach && git branch -D -q work")
	repo, err := workspace.Open(t.Context(), filepath.Join(clone, "x"), environ())
	if err != nil {
		t.Fatal(err)
	}
	head := sh(t, p.root, "git rev-parse work")
	for ref, want := range map[string][2]string{"": {head, "work"}, "main": {p.base, "main"}, "origin/main": {p.base, "main"}, p.base: {p.base, p.base}} {
		if commit, branch, err := repo.Base(t.Context(), ref); err != nil || commit != want[0] || branch != want[1] {
			t.Errorf("%q: got %s %s %v, want %s", ref, commit, branch, err, want)
		}
	}
	if _, _, err := repo.Base(t.Context(), "gone"); err == nil || !strings.Contains(err.Error(), "fetch-depth: 0") {
		t.Errorf("a missing branch: %v", err)
	}
	if _, _, err := repo.Base(t.Context(), "--help"); err == nil {
		t.Error("an option is no branch")
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	sh(t, p.root, "mkdir -p .foreman/steps/builder-1/files; echo x >.foreman/steps/builder-1/files/f; ln -s /etc/passwd .foreman/steps/link; git add -A; git commit -qm s")
	head := sh(t, p.root, "git rev-parse HEAD")
	if data, err := p.checkout.File(t.Context(), head, "a.txt"); err != nil || string(data) != "one\n" {
		t.Errorf("a file: %q %v", data, err)
	}
	if data, err := p.checkout.File(t.Context(), head, "missing"); err != nil || data != nil {
		t.Errorf("none: %q %v", data, err)
	}
	for _, name := range []string{"dir", ".foreman/steps/link"} {
		if _, err := p.checkout.File(t.Context(), head, name); err == nil {
			t.Errorf("%s is not a regular file", name)
		}
	}
	to := t.TempDir()
	if err := p.checkout.Folder(t.Context(), head, ".foreman/steps", to); err != nil {
		t.Fatal(err)
	}
	if got := sh(t, to, "find . -type f -o -type l"); got != "./builder-1/files/f" {
		t.Errorf("the folder has %s", got)
	}
	if err := p.checkout.Folder(t.Context(), head, "none", to); err == nil {
		t.Error("a folder that is missing")
	}
}

func TestExclude(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for range 2 {
		if err := p.checkout.Exclude("/.foreman/runs/", "/.foreman/tmp/"); err != nil {
			t.Fatal(err)
		}
	}
	if got := sh(t, p.root, "grep -c foreman .git/info/exclude; mkdir -p .foreman/runs/x; touch .foreman/runs/x/y; git status --porcelain -- .foreman"); got != "2" {
		t.Errorf("got %s", got)
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := workspace.Watch(ctx, p.checkout, p.dir); err == nil {
		t.Error("no error")
	}
}
