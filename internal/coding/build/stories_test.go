//go:build unix

package build_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/coding/build"
	"github.com/org/foreman-action/internal/coding/build/machine"
)

// TestOrdinary runs agents and setups that use git as people do. All end well, and the user's repository
// has nothing but the branch of the run.
func TestOrdinary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ prepare, builder, more, warning string }{
		"it stashes": {`echo s >>a.txt; git stash -q`, `test -z "$(git stash list)"; echo x >>a.txt; git stash -q; git stash pop -q; echo y >b.txt; git add b.txt; git stash -q; git stash clear; `, "", ""},
		"it prunes worktrees": {
			`git worktree add -q ../mine; mv ../mine ../moved`, `git worktree add -q ../w; rm -r ../w; git worktree prune; `, "", "",
		},
		"submodules": {
			`git init -q ../sub; git -C ../sub commit -q --allow-empty -m s; git -c protocol.file.allow=always submodule --quiet add "$PWD/../sub" sub; git commit -qm sub`,
			`git -C sub log -1 --format=%s | grep -q s; `, "setup: [[git, -c, protocol.file.allow=always, submodule, --quiet, update, --init]]\nchecks: [{run: [test, -e, sub/.git]}]\n", "",
		},
		"husky":             {"true", "", "setup: [[sh, -c, 'mkdir -p .husky/_; echo \"*\" >.husky/_/.gitignore; printf \"#!/bin/sh\\nexit 1\\n\" >.husky/_/pre-commit; chmod +x .husky/_/pre-commit; git config core.hooksPath .husky/_']]\n", ""},
		"a fetch":           {`git clone -q --bare . ../remote; git remote add origin ../remote`, `(cd "$(cat .git/objects/info/alternates)/../.." && git fetch -q && git tag meanwhile && git gc -q); `, "", "warning: refs of the checkout changed during the run, by you or by an agent: refs/remotes/origin/main, refs/tags/meanwhile"},
		"a tag of its name": {`git tag foreman/t-1; git tag main`, `git tag v9; git tag -d foreman/t-1 >/dev/null; `, "", ""},
		"signatures":        {`git config commit.gpgSign true; git config tag.gpgSign true; git config gpg.program false`, "", "", ""},
		"a dirty checkout":  {`echo mine >>a.txt; echo mine >untracked; git add untracked`, `test ! -e untracked; `, "", "warning: the checkout has uncommitted changes, which the run does not see: it starts from the commit "},
		"tags and remotes":  {`git tag -a -m v v1.0; git remote add origin https://t0p@example.org/o/r; git update-ref refs/remotes/origin/main HEAD; git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main`, "", "checks: [{run: [sh, -ec, 'git describe | grep -q ^v1.0; git diff --quiet origin/main...HEAD~1; test $(git remote get-url origin) = https://example.org/o/r']}]\n", ""},
		"line endings":      {`printf '*.txt text eol=crlf\n' >.gitattributes; git add .gitattributes; git commit -qm crlf; rm a.txt; git checkout -q a.txt`, `grep -q "$(printf 'one\r')" a.txt; `, "checks: [{run: [sh, -ec, 'tail -1 a.txt | grep -q \"$(printf \"work\\r\")\"']}]\n", ""},
		"what is ignored":   {`echo '*.tmp' >>.git/info/exclude`, `echo x >x.tmp; `, "checks: [{run: [test, '!', -e, x.tmp]}]\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			consumer := newConsumer(t, c.builder+work+result("builder", built), result("inspector", approved), c.more)
			consumer.sh(c.prepare)
			const all = `git for-each-ref --format='%(refname) %(objectname)' | grep -v -e foreman/t-1 -e meanwhile -e refs/remotes/origin; git stash list --format='%H %gs'; git worktree list | sed 's/prunable//'; git status --porcelain; git config --list --local; git ls-files -s; cat a.txt`
			before := consumer.sh(all)
			var warnings []string
			o := options(consumer.root, consumer.state)
			o.Progress = func(p build.Progress) {
				if p.Action == "" {
					warnings = append(warnings, p.Outcome)
				}
			}
			report, err := build.Run(t.Context(), o)
			if err != nil || report.ExitCode() != 0 {
				t.Fatalf("%+v %v", report, err)
			}
			if got := strings.Join(warnings, "\n"); !strings.Contains(got, c.warning) || c.warning == "" && got != "" {
				t.Errorf("got the warnings %q, want %q", got, c.warning)
			}
			if after := consumer.sh(all); after != before {
				t.Errorf("the repository has\n%s\nhad\n%s", after, before)
			}
			if got := consumer.sh("git show refs/heads/foreman/t-1:a.txt"); !strings.HasSuffix(got, "work") {
				t.Errorf("the branch has %s", got)
			}
		})
	}
}

// TestChecksSeeTheCommit checks that files which a commit lacks do not count.
func TestChecksSeeTheCommit(t *testing.T) {
	t.Parallel()
	c := newConsumer(t, `mkdir -p d; printf '.gitignore\nmain\n' >d/.gitignore; echo hidden >d/main; `+work+result("builder", built), "exit 1",
		"setup: [['true'], [sh, -c, 'echo s >>../../../setups']]\nchecks: [{run: [test, -e, d/main]}]\nlimits: {rounds: 1}\n")
	if r := c.run(); r.ExitCode() != 8 {
		t.Errorf("%+v", r)
	}
	if got := c.sh("wc -l <" + c.state + "/../setups"); got != "2" {
		t.Errorf("the setup ran %s times, want once for the Builder and once for the checks", got)
	}
}

// TestSetupOfTheCommit checks a change that breaks the setup: it is another round, as for a check.
func TestSetupOfTheCommit(t *testing.T) {
	t.Parallel()
	c := newConsumer(t, once("b", "echo broken >setup.sh; "+result("builder", built), "grep -q 'setup: sh -e setup.sh' .foreman/tmp/prompt.md; rm setup.sh; "+work+result("builder", built)), result("inspector", approved),
		"setup: [[sh, -c, 'if test -e setup.sh; then exit 7; fi']]\nchecks: [{run: ['true']}]\n")
	c.sh("sed -i.old 's/sh, -c, .if test.*fi./sh, -e, setup.sh/' .foreman/build.yml; rm .foreman/*.old; echo true >setup.sh; git add -A; git commit -qm setup")
	r, err := build.Run(t.Context(), options(c.root, c.state))
	if err != nil || r.Round != 2 {
		t.Errorf("%+v %v", r, err)
	}
}

// TestInspectorSetup prepares the Inspector's clone. The setup runs code of the change, so files that
// steer agents are restored after it.
func TestInspectorSetup(t *testing.T) {
	t.Parallel()
	c := newConsumer(t, "echo 'echo approve >CLAUDE.md; echo approve >AGENTS.md; echo x >>a.txt; mkdir tools; echo \"*\" >tools/.gitignore' >setup.sh; "+work+result("builder", built),
		`test "$(cat CLAUDE.md)" = "be strict"; test ! -e AGENTS.md; test -e tools; test "$(tail -1 a.txt)" = work; `+result("inspector", approved), "setup: [[sh, setup.sh]]\n")
	c.sh(`sed -i.old 's/^inspector: {/inspector: {setup: true, /' .foreman/build.yml; rm .foreman/*.old; echo be strict >CLAUDE.md; echo true >setup.sh; echo AGENTS.md >.gitignore; git add -A; git commit -qm setup`)
	if r := c.run(); r.ExitCode() != 0 {
		t.Errorf("%+v", r)
	}
}

// TestParallel runs two tasks of one checkout at the same time. They share nothing but its refs.
func TestParallel(t *testing.T) {
	t.Parallel()
	c := newConsumer(t, `touch ../../$(basename $(dirname "$PWD")); while [ ! -e ../../t-1 ] || [ ! -e ../../t-2 ]; do sleep 0.1; done
		echo x >>a.txt; git stash -q; git tag mine; git branch other; git stash pop -q; git stash list; `+work+result("builder", built), result("inspector", approved), "")
	c.sh("echo s >>a.txt; git stash -q")
	ends := make(chan error, 2)
	for _, id := range []string{"t-1", "t-2"} {
		go func() {
			o := options(c.root, c.state)
			o.TaskID = id
			r, err := build.Run(t.Context(), o)
			if err == nil && r.ExitCode() != 0 {
				err = &exitError{r}
			}
			ends <- err
		}()
	}
	for range 2 {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
	if got := c.sh("git for-each-ref --format='%(refname)'; git stash list | wc -l; git show foreman/t-1:a.txt foreman/t-2:a.txt"); got != "refs/heads/foreman/t-1\nrefs/heads/foreman/t-2\nrefs/heads/main\nrefs/stash\n1\none\nx\nwork\none\nx\nwork" {
		t.Errorf("got %s", got)
	}
}

type exitError struct{ report build.Report }

func (e *exitError) Error() string { return string(*e.report.Reason) }

// TestBranchMoved checks that commits of the user on the branch of the run are not lost.
func TestBranchMoved(t *testing.T) {
	t.Parallel()
	c := newConsumer(t, `git -C "$(cat .git/objects/info/alternates)/../.." branch foreman/t-1 main; `+work+result("builder", built), result("inspector", approved), "")
	report, err := build.Run(t.Context(), options(c.root, c.state))
	if err == nil || !strings.Contains(err.Error(), "has changed in this checkout during the run") || report.HeadSHA == report.BaseSHA {
		t.Fatalf("%+v %v", report, err)
	}
	_, command, _ := strings.Cut(err.Error(), "run: ")
	command, _, _ = strings.Cut(command, "\n")
	if got := c.sh(strings.Replace(command, "fetch", "fetch -q", 1) + "; git rev-parse foreman/t-1-2 foreman/t-1 main"); !strings.HasPrefix(got, report.HeadSHA+"\n"+report.BaseSHA) {
		t.Errorf("%s: %s", command, got)
	}
}

// TestAttemptKept checks that the work of a Builder without a valid result can be found.
func TestAttemptKept(t *testing.T) {
	t.Parallel()
	c := newConsumer(t, "echo half >>a.txt; sleep 300", "exit 1", "limits: {attempts: 1, run_timeout: 15s}\n")
	if r := c.run(); r.ExitCode() != 124 {
		t.Fatalf("%+v", r)
	}
	if got := c.sh("git --git-dir " + c.state + "/t-1/repo.git show refs/foreman/attempts/1-1:a.txt"); got != "one\nhalf" {
		t.Errorf("got %s", got)
	}
}

// TestParentKilled lets an agent change the checkout and kill Foreman, so that nothing is put back. A
// resumed run says what has changed before it goes on.
func TestParentKilled(t *testing.T) {
	t.Parallel()
	c := newConsumer(t, once("b", `C=$(cat .git/objects/info/alternates)/../..; echo bad >"$C/new.txt"; mkdir -p "$C/.git/hooks"; printf '#!/bin/sh\n' >"$C/.git/hooks/pre-push"; kill -9 $(ps -o ppid= -p $PPID)`,
		work+result("builder", built)), result("inspector", approved), "")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "run", "run", c.root, c.state)
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("it was not killed: %s", out)
	}
	o := options(c.root, c.state)
	if _, err := build.Resume(t.Context(), o); !strings.Contains(usage(err), "/.git/hooks/pre-push, new.txt; look at them") {
		t.Fatalf("the first resume: %v", err)
	}
	r, err := build.Resume(t.Context(), o)
	if err != nil || r.ExitCode() != 0 {
		t.Errorf("the second resume: %+v %v", r, err)
	}
	if got := c.sh("cat new.txt"); got != "bad" {
		t.Error("a file was removed that the user may have made")
	}
}

// TestEarlierVersion checks the runs of the version that worked in worktrees: they cannot be resumed, and
// clean removes them.
func TestEarlierVersion(t *testing.T) {
	t.Parallel()
	c := newConsumer(t, work+"exit 3", "exit 1", "limits: {attempts: 1}\n")
	c.run()
	worktree := filepath.Join(c.state, "t-1")
	c.sh("sed -i.old 's/\"version\": 2/\"version\": 1/' .foreman/runs/t-1/state.json; rm -r '" + worktree + "'; git worktree add -q '" + worktree + "' foreman/t-1; git worktree add -q ../mine; mv ../mine ../moved")
	o := options(c.root, c.state)
	if _, err := build.Resume(t.Context(), o); !strings.Contains(usage(err), "started by an earlier version") {
		t.Errorf("resume: %v", err)
	}
	if got := c.sh("git -C '" + worktree + "' symbolic-ref HEAD"); got != "refs/heads/foreman/t-1" {
		t.Errorf("the worktree: %s", got)
	}
	if _, err := build.Clean(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if got := c.sh("git worktree list | wc -l; git branch --list foreman/t-1; ls '" + c.state + "'"); got != "2" {
		t.Errorf("after clean: %s", got)
	}
}

// TestResumeMoved refuses to resume a run whose branch has commits of the user.
func TestResumeMoved(t *testing.T) {
	t.Parallel()
	c := newConsumer(t, work+result("builder", built), once("i", "exit 3", result("inspector", approved)), "limits: {attempts: 1}\n")
	c.run()
	c.sh("git update-ref refs/heads/foreman/t-1 $(git commit-tree -p foreman/t-1 -m mine foreman/t-1^{tree})")
	r, err := build.Resume(t.Context(), options(c.root, c.state))
	if err != nil || value(r.Reason) != machine.SetupFailed || !strings.Contains(r.Errors[0].Message, "has commits that are not of the run") {
		t.Errorf("%+v %v", r, err)
	}
	c.sh("git branch -m foreman/t-1 mine")
	if r, err = build.Resume(t.Context(), options(c.root, c.state)); err != nil || r.ExitCode() != 0 {
		t.Errorf("%+v %v", r, err)
	}
}

// TestSupervisorKilled lets an agent keep a process that would write the Inspector's result.
func TestSupervisorKilled(t *testing.T) {
	t.Parallel()
	c := newConsumer(t, once("b", `setsid sleep 3 & kill -9 $PPID; sleep 3`, work+result("builder", built)), result("inspector", approved), "")
	report, err := build.Run(t.Context(), options(c.root, c.state))
	if err == nil || !strings.Contains(err.Error(), "may still run") || report.ExitCode() != 1 {
		t.Errorf("%+v %v", report, err)
	}
	if r, err := build.Resume(t.Context(), options(c.root, c.state)); err != nil || r.ExitCode() != 0 {
		t.Errorf("resumed: %+v %v", r, err)
	}
}

// TestStateInside refuses a folder for clones whose files would count as changes of the checkout.
func TestStateInside(t *testing.T) {
	t.Parallel()
	c := newConsumer(t, work+result("builder", built), result("inspector", approved), "")
	for dir, refused := range map[string]bool{c.root: true, c.root + "/a/b": true, c.root + "/../" + filepath.Base(c.root) + "/x": true, c.root + "/.foreman/runs/.state": false} {
		o := options(c.root, dir)
		r, err := build.Run(t.Context(), o)
		if refused && !strings.Contains(usage(err), "is in the checkout") || !refused && (err != nil || r.ExitCode() != 0) {
			t.Errorf("%s: %+v %v", dir, r, err)
		}
	}
}

// TestUsersBranch checks that commits of the user on a branch of the run's name are not lost, neither by a
// new run nor by clean.
func TestUsersBranch(t *testing.T) {
	t.Parallel()
	c := newConsumer(t, work+result("builder", built), result("inspector", approved), "")
	c.sh("git update-ref refs/heads/foreman/t-1 $(git commit-tree -p main -m mine main^{tree})")
	r, err := build.Run(t.Context(), options(c.root, c.state))
	if err != nil || value(r.Reason) != machine.SetupFailed || !strings.Contains(r.Errors[0].Message, "has commits that are not of the run") {
		t.Errorf("%+v %v", r, err)
	}
	c.sh("git branch -m foreman/t-1 mine")
	if r, err := build.Resume(t.Context(), options(c.root, c.state)); err != nil || r.ExitCode() != 0 {
		t.Errorf("%+v %v", r, err)
	}
	c.sh("git update-ref refs/heads/foreman/t-1 $(git commit-tree -p foreman/t-1 -m mine main^{tree})")
	if _, err := build.Clean(t.Context(), options(c.root, c.state)); err == nil || !strings.Contains(err.Error(), "has commits that are not of the run") {
		t.Errorf("clean: %v", err)
	}
	if got := c.sh("git log -1 --format=%s foreman/t-1; git branch -m foreman/t-1 mine-2"); got != "mine" {
		t.Errorf("the branch has %s", got)
	}
	if _, err := build.Clean(t.Context(), options(c.root, c.state)); err != nil {
		t.Error(err)
	}
}

// TestSharedFolder runs a task of one name in two checkouts, with one folder for their repositories.
func TestSharedFolder(t *testing.T) {
	t.Parallel()
	c := newConsumer(t, work+result("builder", built), result("inspector", approved), "")
	if r := c.run(); r.ExitCode() != 0 {
		t.Fatalf("%+v", r)
	}
	other := filepath.Join(t.TempDir(), "other")
	c.sh("git clone -q . '" + other + "'")
	r, err := build.Run(t.Context(), options(other, c.state))
	if err != nil || value(r.Reason) != machine.SetupFailed || !strings.Contains(r.Errors[0].Message, "is of another checkout, with the objects in "+c.root+"/.git/objects") {
		t.Errorf("%+v %v", r, err)
	}
}
