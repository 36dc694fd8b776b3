package workspace_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/programtest"

	"github.com/org/foreman-action/internal/build/workspace"
)

// A place is a repository of a consumer with a worktree of a run.
type place struct {
	t    *testing.T
	root string
	repo *workspace.Repository
	tree *workspace.Worktree
	base string
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
	p.open()
	return p
}

func (p *place) open() {
	p.t.Helper()
	var err error
	if p.repo, err = workspace.Open(p.t.Context(), p.root, environ()); err != nil {
		p.t.Fatal(err)
	}
	if p.base, _, err = p.repo.Base(p.t.Context(), "main"); err != nil {
		p.t.Fatal(err)
	}
	if p.tree, err = p.repo.Add(p.t.Context(), filepath.Join(p.t.TempDir(), "w"), "foreman/t1", p.base); err != nil {
		p.t.Fatal(err)
	}
}

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

// during calls Watch, runs a script in the worktree, and calls Check. It returns the changed
// paths, and the folder with the saved files.
func (p *place) during(readOnly bool, script string) (found []string, saved string) {
	p.t.Helper()
	guard, err := workspace.Watch(p.t.Context(), p.tree, readOnly, []string{"result.json"})
	if err != nil {
		p.t.Fatal(err)
	}
	sh(p.t, p.tree.Dir, "CHECKOUT='"+p.root+"'\n"+script)
	saved = p.t.TempDir()
	found, err = guard.Check(p.t.Context(), saved, []string{"result.json"})
	if err != nil {
		p.t.Fatal(err)
	}
	for i := range found {
		found[i] = strings.TrimPrefix(found[i], p.root+"/")
	}
	return found, saved
}

// snapshot returns a text of everything in the consumer's checkout that must not change.
func (p *place) snapshot() string {
	p.t.Helper()
	return sh(p.t, p.root, `cat .git/config .git/HEAD; ls -l .git/hooks | wc -l; git for-each-ref --format='%(refname) %(objectname) %(symref)' | grep -v refs/heads/foreman/; git ls-files -s; git status --porcelain; cat a.txt b.txt dir/c.txt untracked.txt; ls -a`)
}

// TestDiff checks that a change cannot hide itself from the diff by attributes.
func TestDiff(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	sh(t, p.tree.Dir, `echo '* -diff' >.gitattributes; echo 'c.txt binary' >dir/.gitattributes; echo hidden >>a.txt; echo hidden >>dir/c.txt; git add .; git commit -qm x`)
	diff, cut, stat, err := p.tree.Diff(t.Context(), p.base, 1<<20)
	if err != nil || cut || strings.Count(string(diff), "\n+hidden\n") != 2 || !strings.Contains(stat, " a.txt              | 1 +\n") {
		t.Errorf("%v\n%s\n%s", err, diff, stat)
	}
}

// TestStashes checks that the user's stashes stay, whatever an agent does with its own.
func TestStashes(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"push and pop":  `echo x >>a.txt; git stash -q; git stash pop -q`,
		"push":          `echo x >>a.txt; git stash -q`,
		"pop":           `git stash pop -q || git checkout -q --theirs . || true`,
		"drop an older": `git stash drop -q stash@{1}`,
		"clear":         `git stash clear`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			sh(t, p.root, `for i in 1 2 3; do echo $i >>a.txt; git stash push -q -m "mine $i" a.txt; done`)
			before := sh(t, p.root, "git stash list --format='%H %gs'")
			found, _ := p.during(false, script)
			if got := sh(t, p.root, "git stash list --format='%H %gs'"); got != before || strings.Count(got, "\n") != 2 {
				t.Errorf("found %q; the stashes are\n%s\nwant\n%s", found, got, before)
			}
		})
	}
}

func TestBuilderMayChangeItsWorktree(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	before := p.snapshot()
	found, _ := p.during(false, `echo changed >a.txt; rm b.txt; echo x >new.txt; git add -A; git commit -qm mine; echo y >more.txt`)
	if len(found) > 0 {
		t.Errorf("a Builder's own work is called a violation: %q", found)
	}
	if after := p.snapshot(); after != before {
		t.Errorf("the checkout changed:\n%s\nwas:\n%s", after, before)
	}
}

// TestOutside changes files outside the worktree, in every way that git's shared folder or the
// file system allows.
func TestOutside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"configuration":            {`git config user.name Other`, ".git/config"},
		"configuration of its own": {`git config extensions.worktreeConfig true; git config --worktree core.fsmonitor x`, ".git/config"},
		"a hook":                   {`printf '#!/bin/sh\n' >"$CHECKOUT/.git/hooks/pre-commit"`, ".git/hooks/pre-commit"},
		"a hook removed":           {`rm "$CHECKOUT/.git/hooks/known"`, ".git/hooks/known"},
		"a hook made executable":   {`chmod +x "$CHECKOUT/.git/hooks/known"`, ".git/hooks/known"},
		"hooks lead elsewhere":     {`rm -r "$CHECKOUT/.git/hooks"; ln -s /tmp "$CHECKOUT/.git/hooks"`, ".git/hooks"},
		"attributes":               {`echo '* filter=x' >"$CHECKOUT/.git/info/attributes"`, ".git/info/attributes"},
		"what is ignored":          {`echo '*' >>"$CHECKOUT/.git/info/exclude"`, ".git/info/exclude"},
		"objects from elsewhere":   {`echo /tmp >"$CHECKOUT/.git/objects/info/alternates"`, ".git/objects/info/alternates"},
		"the branch main":          {`git commit -qm x --allow-empty; git update-ref refs/heads/main HEAD`, "refs/heads/main"},
		"a new tag":                {`git tag v1`, "refs/tags/v1"},
		"a deleted branch":         {`git branch -D other -q`, "refs/heads/other"},
		"a tracked file":           {`echo bad >"$CHECKOUT/a.txt"`, "checkout: a.txt"},
		"an uncommitted file":      {`echo bad >"$CHECKOUT/b.txt"`, "checkout: b.txt"},
		"an untracked file":        {`echo bad >"$CHECKOUT/untracked.txt"`, "checkout: untracked.txt"},
		"a new file":               {`echo bad >"$CHECKOUT/new.txt"`, "checkout: new.txt"},
		"a removed file":           {`rm "$CHECKOUT/a.txt"`, "checkout: a.txt"},
		"a folder as a link":       {`rm -r "$CHECKOUT/dir"; ln -s /tmp "$CHECKOUT/dir"`, "checkout: dir"},
		"the index":                {`git -C "$CHECKOUT" add b.txt`, "checkout: the index"},
		"the checkout's branch":    {`git -C "$CHECKOUT" symbolic-ref HEAD refs/heads/other`, ".git/HEAD"},
		"the worktree's link":      {`echo "gitdir: $CHECKOUT/.git" >.git`, ".git"},
		"another repository":       {`rm .git; git init -q .`, ".git"},
		"the worktree as a link":   {`W=$PWD; cd /; rm -rf "$W"; ln -s "$CHECKOUT" "$W"`, "w"},
		"the worktree as a file":   {`W=$PWD; cd /; rm -rf "$W"; echo x >"$W"`, "w"},
		"a branch for another":     {`git symbolic-ref refs/heads/other refs/heads/main`, "refs/heads/other"},
		"a symbolic ref":           {`git symbolic-ref refs/remotes/origin/HEAD refs/heads/other`, "refs/remotes/origin/HEAD"},
		"a hidden file":            {`git -C "$CHECKOUT" update-index --assume-unchanged a.txt; echo bad >"$CHECKOUT/a.txt"`, "checkout: a.txt"},
		"a broken index":           {`echo bad >"$CHECKOUT/.git/index"`, "checkout: the index"},
		"a broken HEAD":            {`echo bad >"$CHECKOUT/.git/HEAD"`, ".git/HEAD"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &place{t: t, root: repository(t)}
			sh(t, p.root, "git branch other; git symbolic-ref refs/remotes/origin/HEAD refs/heads/main; mkdir -p .git/hooks; printf '#!/bin/sh\n' >.git/hooks/known; chmod -x .git/hooks/known")
			p.open()
			before := p.snapshot()
			found, _ := p.during(false, c.script)
			if !slices.ContainsFunc(found, func(s string) bool { return s == c.want || strings.HasSuffix(s, "/"+c.want) }) {
				t.Errorf("found %q, want %s", found, c.want)
			}
			if after := p.snapshot(); after != before {
				t.Errorf("the checkout is not as it was:\n%s\nwas:\n%s", after, before)
			}
			if found, _ := p.during(false, "true"); len(found) > 0 {
				t.Errorf("the next run finds %q", found)
			}
			if _, err := p.tree.Commit(t.Context(), p.base, author, "m", nil); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWhatWasOutsideIsSaved(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	_, saved := p.during(false, `echo bad >"$CHECKOUT/a.txt"; mkdir "$CHECKOUT/sub"; echo new >"$CHECKOUT/sub/x"`)
	if got := sh(t, saved, "cat a.txt sub/x"); got != "bad\nnew" {
		t.Errorf("saved: %q", got)
	}
}

// TestPlantedPrograms configures programs that git would start on status, diff, add and commit.
// None of them runs.
func TestPlantedPrograms(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	marker := filepath.Join(t.TempDir(), "marker")
	program := filepath.Join(t.TempDir(), "program")
	if err := programtest.Write(program, "#!/bin/sh\necho \"$0\" >>'"+marker+"'\n"); err != nil {
		t.Fatal(err)
	}
	found, _ := p.during(false, `P='`+program+`'
		echo change >>a.txt; echo '* filter=x diff=x' >.gitattributes
		git config core.fsmonitor "$P"; git config diff.external "$P"; git config diff.x.command "$P"; git config diff.x.textconv "$P"
		git config filter.x.clean "$P"; git config filter.x.smudge "$P"; git config filter.x.process "$P"; git config core.hooksPath "$(dirname $P)"; git config gpg.program "$P"; git config commit.gpgsign true
		for hook in pre-commit commit-msg post-commit post-checkout reference-transaction post-index-change; do cp "$P" "$CHECKOUT/.git/hooks/$hook"; done
		rm -f '`+marker+`'`)
	if len(found) == 0 {
		t.Error("nothing was found")
	}
	if _, err := p.tree.Commit(t.Context(), p.base, author, "m", nil); err != nil {
		t.Error(err)
	}
	if _, _, _, err := p.tree.Diff(t.Context(), p.base, 1<<20); err != nil {
		t.Error(err)
	}
	if err := p.tree.Reset(t.Context(), p.base); err != nil {
		t.Error(err)
	}
	if err := p.tree.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(marker); err == nil {
		t.Errorf("programs ran:\n%s", data)
	}
}

// TestCommitBranchBelow makes the branch of the run lead to main, and hides this behind a packed
// branch below it that does contain the start commit.
func TestCommitBranchBelow(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	start := sh(t, p.tree.Dir, "echo work >a.txt; git commit -qam work; git rev-parse HEAD")
	sh(t, p.tree.Dir, `git checkout -q --detach; git branch -qD foreman/t1; git branch foreman/t1/x; git pack-refs --all
		C=$(git rev-parse --path-format=absolute --git-common-dir); mkdir -p "$C/refs/heads/foreman"; echo 'ref: refs/heads/main' >"$C/refs/heads/foreman/t1"; echo more >>a.txt`)
	head, err := p.tree.Commit(t.Context(), start, author, "m", nil)
	if err != nil {
		t.Error(err)
	}
	if got := sh(t, p.root, "git rev-parse main foreman/t1"); got != p.base+"\n"+head {
		t.Errorf("main and the branch are at %s, want %s and %s", got, p.base, head)
	}
}

// TestCommitLink replaces folders of the branch of the run, or of its log, by links to the folder of
// the user's branches. The user's branches must not move or disappear.
func TestCommitLink(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ users, script string }{
		"a branch": {"t1", `rm -r "$C/refs/heads/foreman"; ln -s . "$C/refs/heads/foreman"`},
		"branches": {"t1/a", `rm -r "$C/refs/heads/foreman"; ln -s . "$C/refs/heads/foreman"`},
		"logs": {"t1/a", `git branch -qD foreman/t1; rm -rf "$C/logs/refs/heads/foreman"; ln -s ../../../refs/heads "$C/logs/refs/heads/foreman"
			mkdir -p "$C/refs/heads/foreman/t1"; git rev-parse HEAD >"$C/refs/heads/foreman/t1/x"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			sh(t, p.root, "git branch "+c.users)
			start := sh(t, p.tree.Dir, "echo work >a.txt; git commit -qam work; git rev-parse HEAD")
			sh(t, p.tree.Dir, "git checkout -q --detach; C=$(git rev-parse --path-format=absolute --git-common-dir); "+c.script+"; echo more >>a.txt")
			head, err := p.tree.Commit(t.Context(), start, author, "m", nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := sh(t, p.root, "git rev-parse main "+c.users+" foreman/t1"); got != p.base+"\n"+p.base+"\n"+head {
				t.Errorf("main, the user's branch and the branch of the run are at %s, want %s twice and %s", got, p.base, head)
			}
		})
	}
}

func TestInspectorChangesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"nothing":                {`cat a.txt`, ""},
		"git status":             {`touch a.txt; git status`, ""},
		"its result":             {`echo '{}' >result.json`, ""},
		"an ignored file":        {`mkdir cache; echo x >cache/y; echo '*' >cache/.gitignore`, ""},
		"a tracked file":         {`echo bad >>a.txt`, "a.txt"},
		"the Builder's leftover": {`echo bad >>left.txt`, "left.txt"},
		"a new file":             {`echo bad >new.txt`, "new.txt"},
		"the index":              {`echo bad >a.txt; git add a.txt; git checkout -q HEAD -- a.txt; git rm -q --cached a.txt`, "the index"},
		"a commit":               {`git commit -q --allow-empty -m x`, "HEAD"},
		"another branch":         {`git checkout -q --detach`, "HEAD"},
		"a hidden file":          {`git update-index --assume-unchanged a.txt; echo bad >>a.txt`, "a.txt"},
		"a skipped file":         {`git update-index --skip-worktree a.txt; echo bad >>a.txt`, "a.txt"},
		"a lock":                 {`echo bad >>a.txt; touch "$(git rev-parse --git-dir)/index.lock"`, "a.txt"},
		"no branch":              {`git update-ref -d refs/heads/foreman/t1`, "the worktree's git folder"},
		"a broken index":         {`echo bad >"$(git rev-parse --git-dir)/index"`, "the index"},
		"a branch below":         {`git checkout -q --detach; git branch -qD foreman/t1; git branch foreman/t1/x`, "the worktree's git folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			sh(t, p.tree.Dir, "echo work >>a.txt; git commit -qam work; echo l >left.txt; git add left.txt; git commit -qm left")
			head := sh(t, p.tree.Dir, "git rev-parse HEAD")
			found, _ := p.during(true, c.script)
			if got := strings.Join(found, " "); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("found %q, want %q", found, c.want)
			}
			if got := sh(t, p.tree.Dir, "git rev-parse HEAD; git status --porcelain -- . ':!result.json'; git symbolic-ref HEAD"); got != head+"\nrefs/heads/foreman/t1" {
				t.Errorf("after it: %s, want %s", got, head)
			}
		})
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	without := []string{"result.json", ".foreman/tmp/prompt.md"}
	for name, c := range map[string]struct{ script, want string }{
		"nothing":                      {"true", ""},
		"uncommitted":                  {`echo x >>a.txt; echo n >new.txt; rm b.txt; echo '{}' >result.json; mkdir -p .foreman/tmp; echo p >.foreman/tmp/prompt.md`, "Robot: message\nM\ta.txt\nD\tb.txt\nA\tnew.txt"},
		"its own commit":               {`echo x >>a.txt; git commit -qam theirs; echo '{}' >result.json`, "A: theirs\nM\ta.txt"},
		"its own commit and more":      {`echo x >>a.txt; git commit -qam theirs; echo n >new.txt`, "Robot: message\nA\tnew.txt\nA: theirs\nM\ta.txt"},
		"a committed result":           {`echo x >>a.txt; echo '{}' >result.json; git add -A; git commit -qm theirs`, "Robot: message\nM\ta.txt"},
		"a committed and removed one":  {`echo '{}' >result.json; git add -A; git commit -qm one; git rm -q result.json; echo x >>a.txt; git commit -qam two`, "Robot: message\nM\ta.txt"},
		"a detached head":              {`git checkout -q --detach; echo x >>a.txt; git commit -qam theirs`, "Robot: message\nM\ta.txt"},
		"names that git takes as more": {`mkdir -p ':(top)'; echo x >':(top)/*'; printf x >'-f'; printf x >"$(printf 'a\nb')"`, "Robot: message\nA\t-f\nA\t:(top)/*\nA\t\"a\\nb\""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			sh(t, p.tree.Dir, c.script)
			head, err := p.tree.Commit(t.Context(), p.base, author, "message", without)
			if err != nil {
				t.Fatal(err)
			}
			if got := sh(t, p.tree.Dir, "git log --format='%an: %s' --name-status "+p.base+".."+head+" | grep -v '^$' || true"); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
			if got := sh(t, p.root, "git rev-parse foreman/t1"); got != head {
				t.Errorf("the branch is at %s, want %s", got, head)
			}
			if got := sh(t, p.root, "git log --all --format=%H -- result.json"); got != "" {
				t.Errorf("a branch has the result: %s", got)
			}
		})
	}
}

// TestCommitAfter commits after git commands that were interrupted, or that moved the branch. The
// commit contains the files, and its only ancestor is the base.
func TestCommitAfter(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"a lock of the index":   `touch "$D/index.lock"`,
		"a lock of the branch":  `touch "$C/refs/heads/foreman/t1.lock"`,
		"a lock of HEAD":        `touch "$D/HEAD.lock"`,
		"a merge":               `git commit -qam x; T=$(git rev-parse HEAD); git reset -q --hard HEAD~1; git merge -q --no-ff --no-commit $T`,
		"a history of its own":  `git checkout -q --orphan new; git commit -qam x; git branch -M foreman/t1`,
		"an amended base":       `git commit -q --amend -am x`,
		"a deleted branch":      `git update-ref -d refs/heads/foreman/t1`,
		"a branch for main":     `git symbolic-ref refs/heads/foreman/t1 refs/heads/main`,
		"a branch that is none": `echo bad >"$C/refs/heads/foreman/t1"`,
		"another branch":        `git checkout -q -b foreman/other; git commit -qam x`,
		"a branch below":        `git checkout -q --detach; git branch -qD foreman/t1; git branch foreman/t1/x`,
		"a broken HEAD":         `echo bad >"$D/HEAD"`,
		"a broken index":        `echo bad >"$D/index"`,
		"no index":              `rm "$D/index"`,
		"a hidden file":         `git update-index --assume-unchanged a.txt`,
		"a skipped file":        `git update-index --skip-worktree a.txt`,
		"a handoff file merged": `git checkout -q -b foreman/side; mkdir -p .foreman/tmp; echo x >.foreman/tmp/x; git add -f .foreman; git commit -qm side; git checkout -q foreman/t1; git merge -q -s ours --no-ff foreman/side; git branch -qD foreman/side`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			before := p.snapshot()
			sh(t, p.tree.Dir, `D=$(git rev-parse --git-dir); C=$(git rev-parse --path-format=absolute --git-common-dir); echo work >a.txt; `+script)
			head, err := p.tree.Commit(t.Context(), p.base, author, "m", []string{".foreman/tmp"})
			if err != nil {
				t.Fatal(err)
			}
			if got := sh(t, p.root, "git rev-list "+p.base+".."+head+" | wc -l; git show "+head+":a.txt; git diff --name-only "+p.base+"..."+head+"; git rev-parse refs/heads/foreman/t1"); got != "1\nwork\na.txt\n"+head {
				t.Errorf("the branch has %s", got)
			}
			if after := p.snapshot(); after != before {
				t.Errorf("the checkout changed:\n%s\nwas:\n%s", after, before)
			}
			if err := p.tree.Reset(t.Context(), p.base); err != nil {
				t.Error(err)
			}
			if got := sh(t, p.tree.Dir, "git status --porcelain; git rev-parse HEAD; cat a.txt"); got != p.base+"\none" {
				t.Errorf("after a reset: %s", got)
			}
		})
	}
}

func TestUnfit(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"a repository":                    `git init -q n; echo x >n/f; git -C n add f; git -C n commit -qm n`,
		"a repository that it committed":  `git init -q n; git -C n commit -q --allow-empty -m n; git add n; git commit -qm n`,
		"a repository without commits":    `git init -q n; echo x >n/f`,
		"a file that git cannot read":     `echo '*.u working-tree-encoding=UTF-16' >.gitattributes; echo odd >x.u`,
		"a repository beside a submodule": `git init -q n; git -C n commit -q --allow-empty -m n; printf '[submodule "m"]\n\tpath = m\n' >.gitmodules`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			sh(t, p.tree.Dir, script)
			_, err := p.tree.Commit(t.Context(), p.base, author, "m", nil)
			if _, ok := errors.AsType[*workspace.UnfitError](err); !ok {
				t.Errorf("got %v, want an UnfitError", err)
			}
			if err := p.tree.Reset(t.Context(), p.base); err != nil {
				t.Fatal(err)
			}
			if got := sh(t, p.tree.Dir, "git status --porcelain; ls"); got != "a.txt\nb.txt\ndir" {
				t.Errorf("after a reset: %s", got)
			}
		})
	}
}

func TestSubmoduleIsFit(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	sh(t, p.tree.Dir, `git init -q n; git -C n commit -q --allow-empty -m n; printf '[submodule "n"]\n\tpath = n\n\turl = https://example.org/n\n' >.gitmodules`)
	if _, err := p.tree.Commit(t.Context(), p.base, author, "m", nil); err != nil {
		t.Error(err)
	}
}

func TestAdd(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"a worktree of an earlier run":   `true`,
		"its folder is gone":             `rm -r "$W"`,
		"its .git is gone":               `rm "$W/.git"`,
		"folders that cannot be removed": `mkdir -p "$W/x/y"; touch "$W/x/y/z"; chmod 0 "$W/x/y" "$W/x"`,
		"a branch without a worktree":    `git worktree remove --force "$W"; git branch -f foreman/t1 HEAD`,
		"an empty folder":                `git worktree remove --force "$W"; mkdir "$W"`,
		"locked":                         `git worktree lock "$W"`,
		"a worktree on another disk":     `git worktree add -q "$W-2" t1; rm -r "$W-2"`,
		"a symbolic ref":                 `git symbolic-ref refs/heads/foreman/t1 refs/heads/t1`,
		"a symbolic ref to no branch":    `git symbolic-ref refs/heads/foreman/t1 refs/heads/none`,
		"a ref that is a link":           `ln -sf ../../../refs/heads/t1 .git/refs/heads/foreman/t1`,
		"an old symbolic ref":            `ln -sf refs/heads/t1 .git/refs/heads/foreman/t1`,
		"a log that is a link":           `ln -sf ../../../../refs/heads/t1 .git/logs/refs/heads/foreman/t1`,
		"a link":                         `rm -r .git/refs/heads/foreman; ln -s . .git/refs/heads/foreman`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			sh(t, p.tree.Dir, "echo x >>a.txt; git commit -qam work; git branch t1")
			users := sh(t, p.root, "git rev-parse t1")
			sh(t, p.root, "W='"+p.tree.Dir+"'\n"+script)
			w, err := p.repo.Add(t.Context(), p.tree.Dir, "foreman/t1", p.base)
			if err != nil {
				t.Fatal(err)
			}
			if got := sh(t, w.Dir, "git rev-parse HEAD; git status --porcelain; cat a.txt"); got != p.base+"\none" {
				t.Errorf("got %s", got)
			}
			if got := sh(t, p.root, "git rev-parse --symbolic-full-name foreman/t1; git rev-parse t1 foreman/t1; git branch --list none"); got != "refs/heads/foreman/t1\n"+users+"\n"+p.base {
				t.Errorf("the user's branch and the branch of the run: %s, want %s and %s", got, users, p.base)
			}
			if err := w.Remove(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := sh(t, p.root, "git worktree list | grep -v -e '-2 ' | wc -l; git branch --list foreman/t1"); !strings.HasPrefix(got, "1\n") || !strings.Contains(got, "foreman/t1") {
				t.Errorf("after Remove: %s", got)
			}
			if _, err := os.Lstat(w.Dir); err == nil {
				t.Error("the folder is still there")
			}
			if name == "a worktree on another disk" && !strings.Contains(sh(t, p.root, "git worktree list"), w.Dir+"-2 ") {
				t.Error("git has forgotten a worktree of the user")
			}
		})
	}
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	dir := filepath.Join(t.TempDir(), "mine")
	sh(t, t.TempDir(), "mkdir '"+dir+"'; echo precious >'"+dir+"/file'")
	if _, err := p.repo.Add(t.Context(), dir, "foreman/t2", p.base); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a folder with files: %v", err)
	}
	if got := sh(t, dir, "cat file"); got != "precious" {
		t.Errorf("the file is %q", got)
	}
	sh(t, p.root, "git worktree remove --force '"+p.tree.Dir+"'; git branch -D -q foreman/t1; git branch foreman")
	if _, err := p.repo.Add(t.Context(), filepath.Join(t.TempDir(), "w"), "foreman/t1", p.base); err == nil || !strings.Contains(err.Error(), "the branch foreman exists") {
		t.Errorf("a branch in the way: %v", err)
	}
	if _, err := p.repo.Add(t.Context(), filepath.Join(t.TempDir(), "w"), "x/a..b", p.base); err == nil {
		t.Error("a branch that git has not")
	}
	missing := filepath.Join(t.TempDir(), "missing")
	sh(t, p.root, "git worktree add -q -b x/t4 '"+missing+"'; rm -r '"+missing+"'")
	if _, err := p.repo.Add(t.Context(), filepath.Join(t.TempDir(), "w"), "x/t4", p.base); err == nil || !strings.HasSuffix(err.Error(), missing+", which is missing; put the folder back, or run: git worktree remove --force "+missing) {
		t.Errorf("a branch that is checked out in a missing folder: %v", err)
	}
	theirs := sh(t, p.root, "git checkout -q -b x/t3; git commit -q --allow-empty -m theirs; git rev-parse HEAD")
	_, err := p.repo.Add(t.Context(), filepath.Join(t.TempDir(), "w"), "x/t3", p.base)
	if err == nil || !strings.HasSuffix(err.Error(), ": the branch x/t3 is checked out in "+p.root+"; check out another branch there") {
		t.Errorf("a branch that is checked out: %v", err)
	}
	if got := sh(t, p.root, "git rev-parse x/t3"); got != theirs {
		t.Errorf("the branch was reset from %s to %s", theirs, got)
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
		"submodule":     {`git init -q sub && git -C sub commit -q --allow-empty -m 1 && git init -q . && git -c protocol.file.allow=always submodule --quiet add ./sub m && git commit -qm 1`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			sh(t, dir, c.script)
			repo, err := workspace.Open(t.Context(), dir, environ())
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			commit, _, err := repo.Base(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			w, err := repo.Add(t.Context(), filepath.Join(t.TempDir(), "w"), "foreman/x", commit)
			if err != nil {
				t.Fatal(err)
			}
			g, err := workspace.Watch(t.Context(), w, true, nil)
			if err != nil {
				t.Fatal(err)
			}
			if found, err := g.Check(t.Context(), t.TempDir(), nil); err != nil || len(found) > 0 {
				t.Errorf("found %q %v", found, err)
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
	if data, err := p.repo.File(t.Context(), head, "a.txt"); err != nil || string(data) != "one\n" {
		t.Errorf("a file: %q %v", data, err)
	}
	if data, err := p.repo.File(t.Context(), head, "missing"); err != nil || data != nil {
		t.Errorf("none: %q %v", data, err)
	}
	for _, name := range []string{"dir", ".foreman/steps/link"} {
		if _, err := p.repo.File(t.Context(), head, name); err == nil {
			t.Errorf("%s is not a regular file", name)
		}
	}
	to := t.TempDir()
	if err := p.repo.Folder(t.Context(), head, ".foreman/steps", to); err != nil {
		t.Fatal(err)
	}
	if got := sh(t, to, "find . -type f -o -type l"); got != "./builder-1/files/f" {
		t.Errorf("the folder has %s", got)
	}
	if err := p.repo.Folder(t.Context(), head, "none", to); err == nil {
		t.Error("a folder that is missing")
	}
}

func TestExclude(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for range 2 {
		if err := p.repo.Exclude("/.foreman/runs/", "/.foreman/tmp/"); err != nil {
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
	if _, err := workspace.Watch(ctx, p.tree, true, nil); err == nil {
		t.Error("no error")
	}
}
