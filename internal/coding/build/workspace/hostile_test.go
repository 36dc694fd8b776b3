package workspace_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/testkit/programtest"
)

// TestProgramsOfCheckout leads the git of the checkout to programs of the agent, by other ways than its
// configuration. Foreman undoes that before it calls git there.
func TestProgramsOfCheckout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ prepare, script, want string }{
		"another common folder":         {"true", `cp -r "$CHECKOUT/.git" ../evil; echo "$PWD/../evil" >"$CHECKOUT/.git/commondir"; git config --file ../evil/config filter.x.clean "$P"; echo '* filter=x' >>"$CHECKOUT/.gitattributes"; echo bad >"$CHECKOUT/a.txt"`, ".git/commondir"},
		"an included file":              {`echo '[user] name = mine' >.gitconfig; git config include.path ../.gitconfig; git add .gitconfig; git commit -qm include .gitconfig`, `git config --file "$CHECKOUT/.gitconfig" filter.x.clean "$P"; echo '* filter=x' >>"$CHECKOUT/.gitattributes"; echo bad >"$CHECKOUT/a.txt"`, ".gitconfig"},
		"an included file, removed":     {`echo '[user] name = mine' >.git/more; git config include.path more`, `rm "$CHECKOUT/.git/more"`, ".git/more"},
		"a worktree's git file":         {`git worktree add -q -b w W`, `cp -r "$MAIN/.git" ../evil; git config --file ../evil/config filter.x.clean "$P"; git config --file ../evil/config core.worktree "$CHECKOUT"; echo "gitdir: $PWD/../evil" >"$CHECKOUT/.git"; echo '* filter=x' >>"$CHECKOUT/.gitattributes"; echo bad >"$CHECKOUT/a.txt"`, "\x00.git"},
		"a worktree's common folder":    {`git worktree add -q -b w W`, `cp -r "$MAIN/.git" ../evil; git config --file ../evil/config filter.x.clean "$P"; echo "$PWD/../evil" >"$MAIN/.git/worktrees/W/commondir"; echo '* filter=x' >>"$CHECKOUT/.gitattributes"; echo bad >"$CHECKOUT/a.txt"`, ".git/worktrees/W/commondir"},
		"Foreman's own repository":      {"true", `git config --file ../repo.git/config filter.x.clean "$P"; echo '* filter=x' >>.gitattributes; echo bad >a.txt`, "repo.git/config"},
		"a folder that it cannot write": {"true", `git config --file "$CHECKOUT/.git/config" filter.x.clean "$P"; chmod 555 "$CHECKOUT/.git"; echo '* filter=x' >>"$CHECKOUT/.gitattributes"; echo bad >"$CHECKOUT/a.txt"`, ".git/config"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &place{t: t, root: repository(t)}
			main := p.root
			sh(t, p.root, c.prepare)
			if _, err := os.Stat(filepath.Join(p.root, "W")); err == nil {
				p.root = filepath.Join(p.root, "W")
			}
			p.open("main")
			marker, program := filepath.Join(t.TempDir(), "marker"), filepath.Join(t.TempDir(), "program")
			if err := programtest.Write(program, "#!/bin/sh\necho ran >>'"+marker+"'; cat\n"); err != nil {
				t.Fatal(err)
			}
			const all = "git config --list --show-origin; git rev-parse --git-common-dir; cat a.txt; git status --porcelain -- a.txt .gitattributes .gitconfig"
			before := sh(t, p.root, all)
			found, _ := p.during("P='" + program + "'; MAIN='" + main + "'; " + c.script)
			if !slices.ContainsFunc(found, func(s string) bool { return strings.HasSuffix("\x00"+s, c.want) }) {
				t.Errorf("found %q, want %s", found, c.want)
			}
			if _, _, err := p.commit(); err != nil && name != "Foreman's own repository" {
				t.Error(err)
			}
			if after := sh(t, p.root, all); after != before {
				t.Errorf("the checkout has\n%s\nhad\n%s", after, before)
			}
			if _, err := os.Stat(marker); err == nil {
				t.Error("a program of the agent ran")
			}
			if found, _ := p.during("true"); len(found) > 0 {
				t.Errorf("the next run finds %q", found)
			}
		})
	}
}
