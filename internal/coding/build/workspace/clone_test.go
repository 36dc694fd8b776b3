package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/coding/build/workspace"
	"github.com/org/foreman-action/internal/testkit/programtest"
)

// TestDiff checks that a change cannot hide itself from the diff by attributes or a NUL.
func TestDiff(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	sh(t, p.clone.Dir, `echo '* -diff' >.gitattributes; echo 'c.txt binary' >dir/.gitattributes; echo hidden >>a.txt; echo hidden >>dir/c.txt; printf 'x\0\nhidden\n' >b.txt; printf 'x\0\nhidden\n' >p.png; git add .; git commit -qm x`)
	if _, _, err := p.commit(); err != nil {
		t.Fatal(err)
	}
	diff, cut, stat, err := p.repo.Diff(t.Context(), p.base, 1<<20)
	if err != nil || cut || strings.Count(string(diff), "\n+hidden\n") != 3 || !strings.Contains(string(diff), "Binary files /dev/null and b/p.png differ") || !strings.Contains(stat, " a.txt              |   1 +\n") {
		t.Errorf("%v\n%s\n%s", err, diff, stat)
	}
}

// TestNotGuarded checks what ends no run: work in a clone, and the user's own work with git.
func TestNotGuarded(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"files of the clone":  `echo changed >a.txt; rm b.txt; echo x >new.txt; git add -A; git commit -qm mine; echo y >more.txt`,
		"a stash":             `echo x >>a.txt; git stash -q; git stash clear`,
		"hooks, as of husky":  `mkdir .husky; git config core.hooksPath .husky; printf '#!/bin/sh\nexit 1\n' >.husky/pre-commit; chmod +x .husky/pre-commit`,
		"a submodule":         `git -c protocol.file.allow=always submodule --quiet add "$CHECKOUT" sub; git submodule --quiet update --init`,
		"worktrees":           `git worktree add -q ../w-2; git worktree prune; rm -r ../w-2`,
		"a broken git folder": `rm -rf .git`,
		"the user commits":    `cd "$CHECKOUT"; git commit -qm mine b.txt`,
		"the user stages":     `cd "$CHECKOUT"; git add b.txt`,
		"the user stashes":    `cd "$CHECKOUT"; git stash -q; git stash pop -q`,
		"the user's branches": `cd "$CHECKOUT"; git branch mine; git tag t; git branch -m mine theirs`,
		"the user fetches":    `cd "$CHECKOUT"; git fetch -q . main:refs/remotes/origin/x`,
		"branches to follow":  `cd "$CHECKOUT"; git branch -q --track mine main; git branch -q --track other main; git branch -q -D other; git config branch.mine.vscode-merge-base origin/main`,
		"git's maintenance":   `cd "$CHECKOUT"; git gc -q`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if found, _ := p.during(script); len(found) > 0 {
				t.Errorf("found %q", found)
			}
		})
	}
}

// TestStashes checks that nothing in a clone changes the user's stashes.
func TestStashes(t *testing.T) {
	t.Parallel()
	p := &place{t: t, root: repository(t)}
	sh(t, p.root, `for i in 1 2 3; do echo $i >>a.txt; git stash push -q -m "mine $i" a.txt; done`)
	before := sh(t, p.root, "git stash list --format='%H %gs'; cat .git/logs/refs/stash")
	p.open("main")
	p.during(`test -z "$(git stash list)"; echo x >>a.txt; git stash -q; git stash clear`)
	if got := sh(t, p.root, "git stash list --format='%H %gs'; cat .git/logs/refs/stash"); got != before {
		t.Errorf("the stashes are\n%s\nwant\n%s", got, before)
	}
}

// TestInterrupted checks a checkout that changed while a killed run was not watching.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for script, want := range map[string]string{"true": "", "git add -A; git commit -qm mine": "", `echo bad >>a.txt; printf '#!/bin/sh\n' >.git/hooks/pre-push`: p.root + "/.git/hooks/pre-push a.txt"} {
		sh(t, p.root, "mkdir -p .git/hooks")
		if _, err := workspace.Watch(t.Context(), p.checkout, p.dir); err != nil {
			t.Fatal(err)
		}
		sh(t, p.root, script)
		changed, err := workspace.Interrupted(t.Context(), p.checkout, p.dir)
		if got := strings.Join(changed, " "); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", script, got, err, want)
		}
		if changed, err := workspace.Interrupted(t.Context(), p.checkout, p.dir); err != nil || changed != nil {
			t.Errorf("again: %q %v", changed, err)
		}
	}
}

// TestChanged finds what an agent changed that may only read.
func TestChanged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"nothing":                {`cat a.txt`, ""},
		"git status":             {`touch a.txt; git status`, ""},
		"its result":             {`echo '{}' >result.json`, ""},
		"an ignored file":        {`mkdir cache; echo x >cache/y; echo '*' >cache/.gitignore`, ""},
		"its own git":            {`git commit -q --allow-empty -m x; git checkout -q --detach; git update-ref -d refs/heads/foreman/t1; echo bad >.git/index`, ""},
		"a tracked file":         {`echo bad >>a.txt`, "a.txt"},
		"the size and the time":  {`touch -r a.txt ../t; echo bad >a.txt; touch -r ../t a.txt; rm ../t`, "a.txt"},
		"a new file":             {`echo bad >new.txt`, "new.txt"},
		"a removed file":         {`rm -r dir`, "dir/c.txt"},
		"a committed file":       {`echo bad >>a.txt; git commit -qam x`, "a.txt"},
		"a hidden file":          {`git update-index --assume-unchanged a.txt; echo bad >>a.txt`, "a.txt"},
		"a skipped file":         {`git update-index --skip-worktree a.txt; echo bad >>a.txt`, "a.txt"},
		"an ignored one":         {`echo '*' >.git/info/exclude; echo bad >new.txt; git config core.excludesFile /dev/zero`, "new.txt"},
		"no folder":              {`W=$PWD; cd /; rm -r "$W"`, "the folder DIR was removed or replaced"},
		"a link to the checkout": {`W=$PWD; cd /; rm -r "$W"; ln -s "$CHECKOUT" "$W"`, "the folder DIR was removed or replaced"},
		"a file":                 {`W=$PWD; cd /; rm -r "$W"; echo x >"$W"`, "the folder DIR was removed or replaced"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.during(c.script)
			changed, err := p.clone.Changed(t.Context(), []string{"result.json"})
			if got := strings.ReplaceAll(strings.Join(changed, " "), p.clone.Dir, "DIR"); err != nil || got != c.want {
				t.Errorf("got %q %v, want %q", got, err, c.want)
			}
			if strings.HasPrefix(c.want, "the folder") {
				if _, _, err := p.commit(); err == nil {
					t.Error("it can be committed")
				}
				if err := p.clone.Remove(); err != nil {
					t.Error(err)
				}
				p.again()
				return
			}
			if err := p.clone.Restore(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := sh(t, p.clone.Dir, "rm -rf result.json cache; find * -type f | sort | xargs tail -n +1"); got != "==> a.txt <==\none\n\n==> b.txt <==\ntwo\n\n==> dir/c.txt <==\nthree" {
				t.Errorf("after Restore: %s", got)
			}
		})
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	without := []string{"result.json", ".foreman/tmp/prompt.md"}
	const own = "Robot: message\nM\ta.txt"
	for name, c := range map[string]struct{ script, want string }{
		"nothing":                      {"true", ""},
		"uncommitted":                  {`echo x >>a.txt; echo n >new.txt; rm b.txt; echo '{}' >result.json; mkdir -p .foreman/tmp; echo p >.foreman/tmp/prompt.md`, "Robot: message\nM\ta.txt\nD\tb.txt\nA\tnew.txt"},
		"its own commit":               {`echo x >>a.txt; git commit -qam theirs; echo '{}' >result.json`, "A: theirs\nM\ta.txt"},
		"its own commit and more":      {`echo x >>a.txt; git commit -qam theirs; echo n >new.txt`, "Robot: message\nA\tnew.txt\nA: theirs\nM\ta.txt"},
		"a committed result":           {`echo x >>a.txt; echo '{}' >result.json; git add -A; git commit -qm theirs`, own},
		"a committed and removed one":  {`echo '{}' >result.json; git add -A; git commit -qm one; git rm -q result.json; echo x >>a.txt; git commit -qam two`, own},
		"a detached head":              {`git checkout -q --detach; echo x >>a.txt; git commit -qam theirs`, "A: theirs\nM\ta.txt"},
		"another branch":               {`git checkout -q -b other; echo x >>a.txt; git commit -qam theirs`, "A: theirs\nM\ta.txt"},
		"names that git takes as more": {`mkdir -p ':(top)'; echo x >':(top)/*'; printf x >'-f'; printf x >"$(printf 'a\nb')"`, "Robot: message\nA\t-f\nA\t:(top)/*\nA\t\"a\\nb\""},
		"a file becomes a folder":      {`rm a.txt; mkdir a.txt; echo x >a.txt/x`, "Robot: message\nD\ta.txt\nA\ta.txt/x"},
		"a folder becomes a file":      {`rm -r dir; echo x >dir`, "Robot: message\nA\tdir\nD\tdir/c.txt"},
		"a folder becomes a link":      {`mkdir ../out; echo three >../out/c.txt; rm -r dir; ln -s ../out dir`, "Robot: message\nA\tdir\nD\tdir/c.txt"},
		"a link":                       {`rm a.txt; ln -s /etc/passwd a.txt`, "Robot: message\nT\ta.txt"},
		"a submodule":                  {`git init -q n; git -C n commit -q --allow-empty -m n; printf '[submodule "n"]\n\tpath = n\n\turl = https://example.org/n\n' >.gitmodules`, "Robot: message\nA\t.gitmodules\nA\tn"},
		"an own filter":                {`echo '*.md filter=evil' >.gitattributes; git config filter.evil.clean 'touch ../evil; cat'; echo x >>a.txt; rm .gitattributes`, own},
		"a lock of the index":          {`echo x >>a.txt; touch .git/index.lock .git/HEAD.lock .git/config.lock .git/packed-refs.lock .git/shallow.lock`, own},
		"a merge":                      {`echo x >>a.txt; git commit -qam x; T=$(git rev-parse HEAD); git reset -q --hard HEAD~1; git merge -q --no-ff --no-commit $T`, own},
		"a history of its own":         {`echo x >>a.txt; git checkout -q --orphan new; git commit -qam x`, own},
		"an amended base":              {`echo x >>a.txt; git commit -q --amend -am x`, own},
		"a branch below":               {`echo x >>a.txt; git checkout -q --detach; git branch -qD foreman/t1; git branch foreman/t1/x`, own},
		"a broken index":               {`echo x >>a.txt; echo bad >.git/index`, own},
		"hidden files":                 {`echo x >>a.txt; echo x >>b.txt; git update-index --assume-unchanged a.txt; git update-index --skip-worktree b.txt`, own + "\nM\tb.txt"},
		"a handoff file merged":        {`echo x >>a.txt; git checkout -q -b side; mkdir -p .foreman/tmp; echo x >.foreman/tmp/prompt.md; git add -f .foreman; git commit -qm side; git checkout -q foreman/t1; git merge -q -s ours --no-ff side; git branch -qD side`, own},
		"replacements":                 {`echo x >>a.txt; git commit -qam theirs; git replace HEAD HEAD~1`, "A: theirs\nM\ta.txt"},
		"a shallow file":               {`echo x >>a.txt; git rev-parse HEAD >.git/shallow`, own},
		"many refs":                    {`echo x >>a.txt; H=$(git rev-parse HEAD); seq 100000 | sed "s,.*,$H refs/heads/b&," | LC_ALL=C sort -k 2 >.git/packed-refs; echo $H >.git/refs/heads/foreman/t1`, own},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			before := p.snapshot()
			p.during(c.script)
			head, note, err := p.commit(without...)
			if err != nil || note != "" {
				t.Fatalf("%v %s", err, note)
			}
			if got := p.git("log --format='%an: %s' --name-status " + p.base + ".." + head + " | grep -v '^$' || true"); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
			if got := p.git("rev-parse foreman/t1; git for-each-ref refs/foreman; ls ../evil 2>/dev/null || true"); got != head {
				t.Errorf("the branch is at %s, want %s", got, head)
			}
			if after := p.snapshot(); after != before {
				t.Errorf("the checkout changed:\n%s\nwas:\n%s", after, before)
			}
		})
	}
}

// TestNoCommits breaks the git folder of a clone, or lets it lead to another repository. The files are
// committed, and the note has the reason why the commits are not.
func TestNoCommits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, note string }{
		"no git folder":            {`rm -rf .git`, ".git is not a folder"},
		"a file":                   {`rm -rf .git; echo "gitdir: $SECRET/.git" >.git`, ".git is not a folder"},
		"a link":                   {`rm -rf .git; ln -s "$SECRET/.git" .git`, ".git is not a folder"},
		"a pipe":                   {`rm -rf .git; mkfifo .git`, ".git is not a folder"},
		"alternates":               {`echo "$SECRET/.git/objects" >>.git/objects/info/alternates; git -C "$SECRET" rev-parse HEAD >.git/HEAD`, "alternates has changed"},
		"a link to alternates":     {`rm .git/objects/info/alternates; ln -s "$SECRET/alternates" .git/objects/info/alternates`, "leads to another repository"},
		"a common folder":          {`echo "$SECRET/.git" >.git/commondir; git -C "$SECRET" rev-parse HEAD >.git/HEAD`, ".git/commondir leads to another repository"},
		"objects elsewhere":        {`rm -rf .git/objects; ln -s "$SECRET/.git/objects" .git/objects; git -C "$SECRET" rev-parse HEAD >.git/HEAD`, ".git/objects leads to another repository"},
		"HEAD elsewhere":           {`rm .git/HEAD; ln -s "$SECRET/.git/HEAD" .git/HEAD`, ".git/HEAD leads to another repository"},
		"a dangling HEAD":          {`echo 'ref: refs/heads/none' >.git/HEAD`, "git fetch"},
		"a loop":                   {`git symbolic-ref refs/heads/x refs/heads/y; git symbolic-ref refs/heads/y refs/heads/x; echo 'ref: refs/heads/x' >.git/HEAD`, "git fetch"},
		"a broken HEAD":            {`echo bad >.git/HEAD`, "git fetch"},
		"an unknown format":        {`git config core.repositoryFormatVersion 99`, "git fetch"},
		"an unknown extension":     {`git config core.repositoryFormatVersion 1; git config extensions.other x`, "git fetch"},
		"hidden refs":              {`git config transfer.hideRefs HEAD`, "git fetch"},
		"a tree with .git":         {`B=$(echo x | git hash-object -w --stdin); T=$(printf "100644 blob $B\t.gxt\n" | git mktree | xargs git cat-file tree | sed s/gxt/git/ | git hash-object -t tree -w --literally --stdin); git update-ref HEAD $(git commit-tree -p HEAD -m x $T)`, "hasDotgit"},
		"an object that is not it": {`O=$(git commit-tree -p HEAD -m x HEAD^{tree}); git update-ref HEAD $O; F=.git/objects/$(echo $O | cut -c1-2)/$(echo $O | cut -c3-); chmod +w $F; echo bad >$F`, "git fetch"},
		"a missing object":         {`O=$(git commit-tree -p HEAD -m x $(git write-tree)); T=$(echo x | git hash-object -w --stdin); git update-ref HEAD $O; rm .git/objects/$(echo $O | cut -c1-2)/$(echo $O | cut -c3-)`, "git fetch"},
		"many folders":             {`cd .git; mkdir -p $(printf 'd/%.0s' $(seq 1500))`, "folders in each other"},
		"a promisor":               {`git config remote.origin.url 'ext::touch ../evil'; git config remote.origin.promisor true; git config extensions.partialClone origin; git config protocol.ext.allow always; O=$(git commit-tree -p HEAD -m x HEAD^{tree}); git update-ref HEAD $O; rm .git/objects/$(echo $O | cut -c1-2)/$(echo $O | cut -c3-)`, "git fetch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			secret := t.TempDir()
			sh(t, secret, "git init -q -b main .; echo private >p.txt; git add .; git commit -qm private; echo $PWD/.git/objects >alternates")
			private := sh(t, secret, "git rev-parse HEAD")
			p.during("SECRET='" + secret + "'; echo x >>a.txt; " + c.script)
			head, note, err := p.commit()
			if err != nil || !strings.Contains(note, c.note) {
				t.Fatalf("%q %v, want %q", note, err, c.note)
			}
			if got := p.git("log --format='%an: %s' --name-status " + p.base + ".." + head + " | grep -v '^$'; ls ../evil 2>/dev/null || true"); got != "Robot: message\nM\ta.txt" {
				t.Errorf("got %s", got)
			}
			if got := p.git("cat-file -t " + private + " 2>/dev/null || echo none"); got != "none" {
				t.Errorf("Foreman's repository has a private commit: %s", got)
			}
		})
	}
}

func TestUnfit(t *testing.T) {
	t.Parallel()
	const nested = "n contains a git repository, so a commit would not include its files: remove n/.git, or the folder"
	for name, c := range map[string]struct{ script, want string }{
		"a repository":                    {`git init -q n; echo x >n/f; git -C n add f; git -C n commit -qm n`, nested},
		"a repository that it committed":  {`git init -q n; git -C n commit -q --allow-empty -m n; git add n 2>/dev/null; git commit -qm n`, nested},
		"a repository without commits":    {`git init -q n; echo x >n/f`, nested},
		"a repository beside a submodule": {`git init -q n; git -C n commit -q --allow-empty -m n; printf '[submodule "m"]\n\tpath = m\n' >.gitmodules`, nested},
		"an encoding":                     {`echo '*.u working-tree-encoding=UTF-16' >.gitattributes; echo odd >x.u`, "UTF-16"},
		"a filter of the clone":           {`git config filter.evil.clean 'touch ../evil; cat'; git config filter.evil.required true; echo '*.u filter=evil' >.gitattributes; echo x >x.u`, "x.u name the filter evil"},
		"git's name in capitals":          {`mkdir .GIT; echo x >.GIT/config`, ".GIT/config"},
		"git's name on another system":    {`mkdir git~1; echo x >git~1/config`, "git~1/config"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.during(c.script)
			_, _, err := p.commit()
			if _, ok := errors.AsType[*workspace.UnfitError](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an UnfitError with %q", err, c.want)
			}
			if got := sh(t, p.dir, "ls evil 2>/dev/null || true"); got != "" {
				t.Error("a filter of the clone ran")
			}
		})
	}
}

// TestPlantedPrograms configures programs in the clone, and in repositories within it. None of them
// runs, whatever Foreman does.
func TestPlantedPrograms(t *testing.T) {
	t.Parallel()
	p := &place{t: t, root: repository(t)}
	sh(t, p.root, `git init -q ../src; git -C ../src commit -q --allow-empty -m s; git -c protocol.file.allow=always submodule --quiet add "$PWD/../src" sub; git commit -qm sub`)
	p.open("main")
	marker := filepath.Join(t.TempDir(), "marker")
	program := filepath.Join(t.TempDir(), "program")
	if err := programtest.Write(program, "#!/bin/sh\necho \"$0 $*\" >>'"+marker+"'; cat\n"); err != nil {
		t.Fatal(err)
	}
	const plant = `plant() {
		git -C "$1" config core.fsmonitor "$P"; git -C "$1" config diff.external "$P"; git -C "$1" config diff.x.command "$P"; git -C "$1" config diff.x.textconv "$P"
		git -C "$1" config filter.x.clean "$P"; git -C "$1" config filter.x.smudge "$P"; git -C "$1" config filter.x.process "$P"; git -C "$1" config core.hooksPath "$(dirname $P)"
		git -C "$1" config gpg.program "$P"; git -C "$1" config commit.gpgsign true; git -C "$1" config uploadpack.packObjectsHook "$P"; git -C "$1" config core.alternateRefsCommand "$P"; git -C "$1" config core.sshCommand "$P"
		git -C "$1" config core.pager "$P"; git -C "$1" config submodule.sub.update "!$P"
		G=$(git -C "$1" rev-parse --absolute-git-dir); mkdir -p $G/hooks; for hook in pre-commit commit-msg post-commit post-checkout reference-transaction post-index-change; do cp "$P" $G/hooks/$hook; done
	}
	`
	p.during(plant + `P='` + program + `'
		git -c protocol.file.allow=always submodule --quiet update --init
		echo '* filter=x' >sub/.gitattributes; echo x >sub/x; git init -q nested; echo x >nested/x; echo nested >.gitignore
		echo change >>a.txt; echo '*.x diff=x' >.gitattributes; git add -A; git commit -qm own
		plant . ; plant sub; plant nested; rm -f '` + marker + `'`)
	for _, step := range []func() error{
		func() error { _, err := p.clone.Changed(t.Context(), nil); return err },
		func() error { _, note, err := p.commit(); return errors.Join(err, text(note)) },
		func() error { _, _, _, err := p.repo.Diff(t.Context(), p.base, 1<<20); return err },
		func() error { return p.clone.Restore(t.Context()) },
		func() error { return p.clone.RemoveSteering(t.Context()) },
		func() error { return p.clone.Remove() },
	} {
		if err := step(); err != nil {
			t.Error(err)
		}
	}
	if data, err := os.ReadFile(marker); err == nil {
		t.Errorf("programs ran:\n%s", data)
	}
}

// text returns an error with a text; nil if it is empty.
func text(s string) error {
	if s == "" {
		return nil
	}
	return errors.New(s)
}

// TestFilters checks files with a filter in the user's global configuration, such as Git LFS. The filter
// does not run among the files of the agent or the checkout.
func TestFilters(t *testing.T) {
	t.Parallel()
	p := &place{t: t, root: repository(t)}
	home := t.TempDir()
	sh(t, home, `printf '[filter "up"]\n\tclean = test ! -e a.txt && tr a-z A-Z\n\tsmudge = test ! -e a.txt && tr A-Z a-z\n\trequired = true\n[core]\n\thooksPath = /nonexistent\n\texcludesFile = ~/ignored\n[commit]\n\tgpgSign = true\n' >.gitconfig; echo '*.txt' >ignored`)
	sh(t, p.root, `echo '*.up filter=up' >.gitattributes; printf UPPER >x.up; git add .; git commit -qm up`)
	p.environ = append(environ(), "HOME="+home)
	for i, v := range p.environ {
		if v == "HOME=/nonexistent" {
			p.environ[i] = "X="
		}
	}
	p.open("main")
	if got := sh(t, p.clone.Dir, "cat x.up"); got != "upper" {
		t.Errorf("the clone has %q", got)
	}
	p.during(`printf lower >x.up; echo also >new.up; echo x >new.txt`)
	head, _, err := p.commit()
	if err != nil {
		t.Fatal(err)
	}
	if got := p.git("show " + head + ":x.up; git show " + head + ":new.up; git diff-tree -r --name-only " + head); got != "LOWERALSO\n"+head+"\nnew.txt\nnew.up\nx.up" {
		t.Errorf("got %s", got)
	}
	if err := p.clone.Restore(t.Context()); err != nil {
		t.Error(err)
	}
	if found, _ := p.during(`echo bad >"$CHECKOUT/x.up"; echo bad >x.up`); len(found) != 1 {
		t.Errorf("found %q", found)
	}
	if err := p.clone.Restore(t.Context()); err != nil {
		t.Error(err)
	}
	if got := sh(t, p.root, "cat x.up '"+p.clone.Dir+"/x.up'"); got != "upperlower" {
		t.Errorf("restored: %s", got)
	}
	// Without the user's configuration, the file would be committed as it is.
	p.environ = nil
	p.open("main")
	p.during(`printf lower >x.up`)
	if _, _, err := p.commit(); err == nil || !strings.Contains(err.Error(), "the filter up") {
		t.Errorf("without the filter: %v", err)
	}
	p.again()
	p.during(`echo x >>a.txt`)
	if _, _, err := p.commit(); err != nil {
		t.Errorf("a file without a filter: %v", err)
	}
}

// TestClones makes runs of checkouts of many forms. A clone has the files, tags and remote of the
// checkout, borrows its objects, and shares no file with Foreman's repository.
func TestClones(t *testing.T) {
	t.Parallel()
	const history = `git init -q -b main src; cd src; echo 1 >one; mkdir d; echo 2 >d/two; git add .; git commit -qm 1; git tag -a -m v v1; echo x >>one; git commit -qam 2; cd ..; `
	for name, c := range map[string]struct{ script, files string }{
		"plain":         {history + `git clone -q src x`, ""},
		"shallow":       {history + `git clone -q --depth 1 "file://$PWD/src" x`, ""},
		"partial":       {history + `git -C src config uploadpack.allowFilter true; git clone -q --filter=blob:none "file://$PWD/src" x`, ""},
		"sparse":        {history + `git clone -q src x; cd x; git sparse-checkout set --no-cone one; cd ..`, "one"},
		"sparse, cone":  {history + `git clone -q src x; git -C x sparse-checkout set --cone; cd .`, "one"},
		"SHA-256":       {`git init -q -b main --object-format=sha256 x; cd x; echo 1 >one; mkdir d; echo 2 >d/two; git add .; git commit -qm 1; git tag -a -m v v1; cd ..`, ""},
		"detached":      {history + `git clone -q src x; git -C x checkout -q --detach`, ""},
		"a worktree":    {history + `git clone -q src y; git -C y worktree add -q ../x`, ""},
		"a tag main":    {history + `git clone -q src x; git -C x tag main HEAD~1`, ""},
		"a moved clone": {history + `git clone -q src y; mv y x`, ""},
		"borrowed":      {history + `git clone -q --shared src x`, ""},
		"packed":        {history + `git clone -q src x; cd x; git gc -q; cd ..`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			sh(t, top, c.script)
			p := &place{t: t, root: filepath.Join(top, "x")}
			base := ""
			if name == "detached" || name == "a worktree" {
				base = "HEAD"
			}
			p.open(base)
			files := c.files
			if files == "" {
				files = "d/two\none"
			}
			if got := sh(t, p.clone.Dir, "git status --porcelain; find * -type f | sort"); got != files {
				t.Errorf("the clone has %s, want %s", got, files)
			}
			if got := sh(t, p.clone.Dir, "git tag; git symbolic-ref HEAD"); !strings.Contains(got, "v1") && name != "shallow" || !strings.HasSuffix(got, "refs/heads/foreman/t1") {
				t.Errorf("the clone's refs: %s", got)
			}
			if name != "SHA-256" && name != "shallow" {
				if got := sh(t, p.clone.Dir, "git describe; git rev-parse --verify -q refs/remotes/origin/main >/dev/null || echo none; git remote get-url origin"); !strings.HasPrefix(got, "v1-1-g") || base == "" && strings.Contains(got, "none") || !strings.HasSuffix(got, "/src") {
					t.Errorf("got %s", got)
				}
			}
			shared := sh(t, p.dir, "find . -type f -links +1; find repo.git w/.git -type l")
			if shared != "" {
				t.Errorf("files are shared: %s", shared)
			}
			p.during(`echo work >>one; echo n >new; git add one; git commit -qm own`)
			head, note, err := p.commit()
			if err != nil || note != "" {
				t.Fatalf("%v %s", err, note)
			}
			if got := p.git("diff-tree -r --name-only " + p.base + " " + head); got != "new\none" {
				t.Errorf("the change has %s", got)
			}
			if err := p.checkout.Deliver(t.Context(), p.repo, head, ""); err != nil {
				t.Fatal(err)
			}
			if got := sh(t, p.root, "git rev-parse foreman/t1; git status --porcelain; git log -1 --format=%s foreman/t1; git show foreman/t1:new"); got != head+"\nmessage\nn" {
				t.Errorf("the checkout has %s, want %s", got, head)
			}
			p.again()
			if got := sh(t, p.clone.Dir, "git rev-parse HEAD; git status --porcelain; tail -1 one"); got != head+"\nwork" {
				t.Errorf("the next clone has %s", got)
			}
		})
	}
}

// TestRemote checks that the address of the remote has no credentials in clones.
func TestRemote(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://mona:s3cret@example.org/o/r.git": "https://example.org/o/r.git",
		"https://t0ken@example.org/o/r.git":       "https://example.org/o/r.git",
		"git@example.org:o/r.git":                 "git@example.org:o/r.git",
		"ssh://git@example.org/o/r.git":           "ssh://git@example.org/o/r.git",
	} {
		p := &place{t: t, root: repository(t)}
		sh(t, p.root, "git remote add origin "+address)
		p.open("main")
		if got := sh(t, p.clone.Dir, "git remote get-url origin"); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
		if got := sh(t, p.dir, "grep -r s3cret . || grep -r t0ken . || true"); got != "" {
			t.Errorf("%s: %s", address, got)
		}
	}
}

// TestDeliver writes the branch of a run into the checkout.
func TestDeliver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, script, want string }{
		"no branch":           {"true", "true", ""},
		"a branch":            {"git branch foreman/t1", "true", ""},
		"a symbolic ref":      {"git branch users; git symbolic-ref refs/heads/foreman/t1 refs/heads/users", "true", ""},
		"the user made it":    {"true", "git branch foreman/t1", "has changed in this checkout during the run"},
		"the user moved it":   {"git branch foreman/t1", "git update-ref refs/heads/foreman/t1 $(git commit-tree -m x HEAD^{tree})", "has changed in this checkout during the run"},
		"the user removed it": {"git branch foreman/t1", "git branch -D foreman/t1", "has changed in this checkout during the run"},
		"it is checked out":   {"true", "git checkout -q -b foreman/t1", "it is checked out in"},
		"a branch below":      {"true", "git branch foreman/t1/x", "has changed in this checkout during the run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &place{t: t, root: repository(t)}
			sh(t, p.root, c.before)
			p.open("main")
			before, err := p.checkout.Branch(t.Context(), "foreman/t1")
			if err != nil {
				t.Fatal(err)
			}
			sh(t, p.clone.Dir, "echo x >>a.txt")
			head, _, err := p.commit()
			if err != nil {
				t.Fatal(err)
			}
			sh(t, p.root, c.script)
			refs := sh(t, p.root, "git for-each-ref")
			err = p.checkout.Deliver(t.Context(), p.repo, head, before)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %s", err, c.want)
				}
				if got := sh(t, p.root, "git for-each-ref"); got != refs {
					t.Errorf("the refs are %s, were %s", got, refs)
				}
				if strings.Contains(c.want, "changed") { // the advice works
					_, command, _ := strings.Cut(err.Error(), "run: ")
					command, _, _ = strings.Cut(command, "\n")
					if got := sh(t, p.root, command+"; git rev-parse foreman/t1-2"); !strings.HasSuffix(got, head) {
						t.Errorf("%s: %s", command, got)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := sh(t, p.root, "git rev-parse foreman/t1; git for-each-ref refs/heads/users --format='%(objectname)'; git symbolic-ref -q refs/heads/foreman/t1 || true"); got != head && got != head+"\n"+p.base {
				t.Errorf("got %s, want %s", got, head)
			}
			if err := p.checkout.Forget(t.Context(), "foreman/t1", p.dir); err != nil {
				t.Fatal(err)
			}
			if got := sh(t, p.root, "git branch --list foreman/t1"); got != "" {
				t.Errorf("the branch is left: %s", got)
			}
		})
	}
}

// TestBranch refuses branches that a run could not write.
func TestBranch(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	for script, want := range map[string]string{
		"git branch foreman":                   "the branch foreman exists",
		"git branch foreman/t1/x":              "the ref refs/heads/foreman/t1/x exists",
		"git checkout -q -b foreman/t1":        "it is checked out in ROOT; check out another branch there",
		"git worktree add -q -b foreman/t1 W2": "it is checked out in ROOT/W2; check out another branch there",
		"git worktree add -q -b foreman/t1 '" + missing + "'; rm -r '" + missing + "'": "the folder is missing: put it back, or run: git worktree remove --force " + missing,
	} {
		p := newPlace(t)
		sh(t, p.root, script)
		if _, err := p.checkout.Branch(t.Context(), "foreman/t1"); err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(want, "ROOT", p.root)) {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
	}
	p := newPlace(t)
	if _, err := p.checkout.Branch(t.Context(), "x/a..b"); err == nil {
		t.Error("a branch that git has not")
	}
}

// TestForget removes the worktree of an earlier version, and no other one.
func TestForget(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	mine, gone := filepath.Join(t.TempDir(), "mine"), filepath.Join(t.TempDir(), "gone")
	former := filepath.Join(t.TempDir(), "t1")
	sh(t, p.root, "git worktree add -q '"+mine+"'; git worktree add -q '"+gone+"'; git worktree add -q -b foreman/t1 '"+former+"'; git worktree lock '"+former+"'; rm -r '"+gone+"'")
	if err := p.checkout.Forget(t.Context(), "foreman/t1", filepath.Join(p.dir, "t1"), former); err != nil {
		t.Fatal(err)
	}
	if got := sh(t, p.root, "git worktree list | wc -l; git branch --list foreman/t1; ls '"+mine+"' | wc -l"); got != "3\n3" {
		t.Errorf("got %s", got)
	}
	if _, err := os.Lstat(former); err == nil {
		t.Error("the worktree is left")
	}
	if err := p.checkout.Forget(t.Context(), "foreman/t1", p.dir); err != nil {
		t.Errorf("again: %v", err)
	}
}

// TestLFS checks that contents that Git LFS stored in a clone get to the checkout, and no others.
func TestLFS(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.during(`put() { mkdir -p .git/lfs/objects/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-4); cp "$2" .git/lfs/objects/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-4)/$1; }
		echo large >>a.txt; H=$(sha256sum <a.txt | cut -c1-64); echo $H >hash; put $H a.txt
		put 0000000000000000000000000000000000000000000000000000000000000000 a.txt
		mkdir -p .git/lfs/objects/11/11; ln -s /etc/passwd .git/lfs/objects/11/11/$(sha256sum </etc/passwd | cut -c1-64); mkfifo .git/lfs/objects/11/11/2222222222222222222222222222222222222222222222222222222222222222`)
	head, _, err := p.commit()
	if err != nil {
		t.Fatal(err)
	}
	p.again()
	if err := p.checkout.Deliver(t.Context(), p.repo, head, ""); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{p.clone.Dir, p.root} {
		if got := sh(t, dir, "H=$(git show foreman/t1:hash); cd .git/lfs/objects; find . -type f -o -type l | sed s/$H/HASH/; cat $(find . -type f)"); !strings.HasSuffix(got, "/HASH\none\nlarge") || strings.Count(got, "\n") != 2 {
			t.Errorf("%s has %s", dir, got)
		}
	}
}

// TestKeep keeps the work of an attempt that does not count, where no later clone has it.
func TestKeep(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	sh(t, p.clone.Dir, "echo x >>a.txt; git commit -qam own; echo n >new")
	if err := p.clone.Keep(t.Context(), "attempts/1-1", workspace.Change{Start: p.base, By: author, Message: "kept"}); err != nil {
		t.Fatal(err)
	}
	p.again()
	if got := p.git("log --format=%s refs/foreman/attempts/1-1") + sh(t, p.clone.Dir, "git for-each-ref; cat a.txt"); got != "kept\nown\nfirst"+p.base+" commit\trefs/heads/foreman/t1\n"+p.base+" commit\trefs/remotes/origin/main\none" {
		t.Errorf("got %s", got)
	}
}
