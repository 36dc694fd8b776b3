//go:build unix

package contribflow_test

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/testkit/programtest"
)

// publisher is a stand-in for git or gh, PROGRAM, with its files in the folder SHIM. It counts
// calls, which may be concurrent, and kills its caller after call number SHIM/at. Every commit has
// another date, so that a repeated commit has another hash.
const publisher = `#!/bin/sh
GIT_AUTHOR_DATE="$((1780000000 + $$)) +0000" GIT_COMMITTER_DATE="$((1780000000 + $$)) +0000"
export GIT_AUTHOR_DATE GIT_COMMITTER_DATE
read -r at < SHIM/at
test "$at" = 0 && exec PROGRAM "$@"
set -- SHIM/calls/* "$@"
calls=0
while [ "${1#SHIM/calls/}" != "$1" ]; do calls=$((calls + 1)); shift; done
until mkdir "SHIM/calls/$calls" 2> /dev/null; do calls=$((calls + 1)); done
if [ "$calls" -eq "$at" ]; then
	PROGRAM "$@" > /dev/null 2>&1
	kill -9 $PPID
	exit 1
fi
exec PROGRAM "$@"
`

// hub is a stand-in for gh with a GitHub in the folder GITHUB, in which it records changes.
const hub = `#!/bin/sh
case "$1 $2" in
"auth token") echo t ;;
"api user") echo me ;;
"api repos/me/r")
	if [ ! -d GITHUB/me/r.git ]; then echo "gh: Not Found (HTTP 404)" >&2; exit 1; fi
	echo me/r o/r o/r ;;
"api repos/o/r/pulls"*) cat SHIM/pull ;;
"repo fork")
	echo fork >> SHIM/writes
	GIT clone --quiet --bare GITHUB/o/r.git GITHUB/me/r.git
	GIT -C GITHUB/me/r.git config core.logAllRefUpdates always ;;
"pr create")
	echo create >> SHIM/writes
	echo https://github.com/o/r/pull/1 | tee SHIM/pull ;;
esac
`

// publishing prepares a contribution that passed its dry run, in separate folders.
func publishing(t *testing.T) *killed {
	t.Helper()
	k := newKilled(t)
	k.must("init")
	k.must("checkout", "o/r#1")
	k.write(filepath.Join(k.dir, ".contribflow/workspaces/o-r-1/new.txt"), "new\n")
	k.must("diff")
	if err := validation(k.dir, k.getenv, contract.Passed); err != nil {
		t.Fatal(err)
	}
	if d := k.must("pr"); d["status"] != contract.DryRun {
		t.Fatalf("got %v", d)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	replace := strings.NewReplacer("GITHUB", filepath.Join(filepath.Dir(k.dir), "github"), "GIT", git, "SHIM", k.shim)
	gh := filepath.Join(k.shim, "hub")
	if err := errors.Join(
		programtest.Write(gh, replace.Replace(hub)),
		programtest.Write(filepath.Join(k.shim, "gh"), strings.NewReplacer("PROGRAM", gh, "SHIM", k.shim).Replace(publisher)),
		programtest.Write(filepath.Join(k.shim, "git"), strings.NewReplacer("PROGRAM", git, "SHIM", k.shim).Replace(publisher)),
	); err != nil {
		t.Fatal(err)
	}
	return k
}

// restore resets the folders to their state at the first call, which records it.
func (k *killed) restore() {
	k.t.Helper()
	root := filepath.Dir(k.dir)
	for _, name := range []string{"work", "github"} {
		from, to := filepath.Join(root, "before", name), filepath.Join(root, name)
		if _, err := os.Stat(from); err != nil {
			from, to = to, from
		}
		if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(from))); err != nil {
			k.t.Fatal(err)
		}
	}
	calls := filepath.Join(k.shim, "calls")
	if err := errors.Join(os.RemoveAll(calls), os.MkdirAll(filepath.Join(calls, "0"), 0o755)); err != nil {
		k.t.Fatal(err)
	}
	for _, name := range []string{"writes", "pull"} {
		k.write(filepath.Join(k.shim, name), "")
	}
}

var every = flag.Int("kill.every", 5, `kill "pr --yes" after every so many calls of git and gh`)

// TestPublishKilled kills "pr --yes" with SIGKILL after calls of git and gh. A second run must open
// the same pull request: one fork, one push of one commit, one pull request.
func TestPublishKilled(t *testing.T) {
	t.Parallel()
	const workers = 2 // each takes every other kill
	step := *every
	if testing.Short() {
		step *= 4
	}
	var calls atomic.Int64
	t.Run("after", func(t *testing.T) {
		for first := 1; first <= workers; first++ {
			t.Run(strconv.Itoa(first), func(t *testing.T) {
				t.Parallel()
				k := publishing(t)
				for at := first * step; ; at += workers * step {
					k.restore()
					k.write(filepath.Join(k.shim, "at"), strconv.Itoa(at)+"\n")
					_, err := k.run("pr", "--yes")
					k.write(filepath.Join(k.shim, "at"), "0\n")
					if err == nil { // the command made fewer calls and was not killed
						k.published(at)
						return
					}
					calls.Add(1)
					k.check()
					k.published(at)
				}
			})
		}
	})
	if n, least := calls.Load(), int64(20/step); n < least {
		t.Errorf("killed after %d calls, want %d or more", n, least)
	}
	t.Logf("killed after %d calls", calls.Load())
}

// published runs the command again, every other time after another dry run, and checks the result
// on GitHub.
func (k *killed) published(at int) {
	k.t.Helper()
	if at%2 == 0 {
		k.must("pr")
	}
	if d := k.must("pr", "--yes"); d["status"] != contract.Created || d["prUrl"] != "https://github.com/o/r/pull/1" {
		k.t.Errorf("call %d: got %v: %v", at, d["status"], d["reason"])
	}
	fork := filepath.Join(filepath.Dir(k.dir), "github", "me", "r.git")
	read := func(name string) string {
		data, err := os.ReadFile(name)
		if err != nil {
			k.t.Errorf("call %d: %v", at, err)
		}
		return string(data)
	}
	if got := read(filepath.Join(k.shim, "writes")); got != "fork\ncreate\n" {
		k.t.Errorf("call %d: gh wrote %q", at, got)
	}
	if pushes := strings.Count(read(filepath.Join(fork, "logs/refs/heads/contribflow/issue-1")), "\n"); pushes != 1 {
		k.t.Errorf("call %d: %d pushes", at, pushes)
	}
	for _, want := range [][2]string{{"rev-list --count main..contribflow/issue-1", "1"}, {"diff --name-status main contribflow/issue-1", "A\tnew.txt"}} {
		out, err := exec.Command("git", append([]string{"--git-dir=" + fork}, strings.Fields(want[0])...)...).Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != want[1] {
			k.t.Errorf("call %d: git %s: got %q, %v", at, want[0], got, err)
		}
	}
	if state := k.must("status")["state"]; state != string(contract.StateDone) {
		k.t.Errorf("call %d: got the state %v", at, state)
	}
}
