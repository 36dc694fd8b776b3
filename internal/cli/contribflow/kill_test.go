//go:build unix

package contribflow_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/testkit/programtest"
)

// shim is a stand-in for git, GIT, with its files in the folder SHIM. It counts calls, and at call
// number SHIM/at it kills its caller, before or after git ran. It starts no other programs, because
// it runs often.
const shim = `#!/bin/sh
read -r at < SHIM/at
if [ "$at" -gt 0 ]; then
	echo >> SHIM/calls
	calls=0
	while read -r _; do calls=$((calls + 1)); done < SHIM/calls
	if [ "$calls" -eq "$at" ]; then
		test -e SHIM/after && GIT "$@" > /dev/null 2>&1
		kill -9 $PPID
		exit 1
	fi
fi
exec GIT "$@"
`

// A killed is a folder of a contributor whose commands are killed.
type killed struct {
	t    *testing.T
	dir  string // the controller's folder
	shim string
	env  []string
}

// getenv returns a variable of the commands.
func (k *killed) getenv(name string) string {
	for _, v := range k.env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

func newKilled(t *testing.T) *killed {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git")
	}
	root := t.TempDir()
	k := &killed{t: t, dir: filepath.Join(root, "work"), shim: filepath.Join(root, "shim")}
	upstream := filepath.Join(root, "github", "o", "r.git")
	for _, dir := range []string{k.dir, k.shim, upstream} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	k.env = []string{"PATH=" + k.shim + ":" + os.Getenv("PATH"), "HOME=" + root, "TMPDIR=" + t.TempDir(), "GH_ENTERPRISE_TOKEN=t", "DOCKER_HOST=unix://" + filepath.Join(root, "none"), programtest.RaceDetector(os.Getenv)}
	for name, value := range gitVariables(root) {
		k.env = append(k.env, name+"="+value)
	}
	k.write(filepath.Join(k.shim, "at"), "0\n")
	if err := errors.Join(
		programtest.Write(filepath.Join(k.shim, "git"), strings.NewReplacer("GIT", git, "SHIM", k.shim).Replace(shim)),
		programtest.Write(filepath.Join(k.shim, "gh"), "#!/bin/sh\ncase \"$1 $2\" in\n\"api user\") echo me ;;\n\"api repos\"*) echo 'gh: Not Found (HTTP 404)' >&2; exit 1 ;;\nesac\n"),
	); err != nil {
		t.Fatal(err)
	}
	k.write(filepath.Join(upstream, "README.md"), "one\n")
	k.write(filepath.Join(upstream, "Makefile"), "test:\n\ttrue\n")
	for _, args := range [][]string{{"init", "--quiet", "--initial-branch=main"}, {"add", "."}, {"commit", "--quiet", "--message", "first"}} {
		cmd := exec.Command(git, args...)
		cmd.Dir, cmd.Env = upstream, k.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
	}
	return k
}

func (k *killed) write(name, content string) {
	k.t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		k.t.Fatal(err)
	}
}

// run runs a command and returns its output.
func (k *killed) run(args ...string) ([]byte, error) {
	cmd := exec.Command("contribflow", append(args, "--json")...)
	cmd.Dir, cmd.Env = k.dir, k.env
	return cmd.Output()
}

// must runs a command that must succeed, and returns its document.
func (k *killed) must(args ...string) map[string]any {
	k.t.Helper()
	out, err := k.run(args...)
	if err != nil {
		k.t.Fatalf("%v: %v: %s", args, err, out)
	}
	var document map[string]any
	d := json.NewDecoder(bytes.NewReader(out))
	if err := d.Decode(&document); err != nil || d.More() {
		k.t.Fatalf("%v printed %q: %v", args, out, err)
	}
	return document
}

// kill runs a command that is killed at call number at of git. It reports whether the command was
// killed.
func (k *killed) kill(at int, after bool, args ...string) bool {
	k.t.Helper()
	k.write(filepath.Join(k.shim, "calls"), "")
	k.write(filepath.Join(k.shim, "at"), strconv.Itoa(at)+"\n")
	flag := filepath.Join(k.shim, "after")
	if after {
		k.write(flag, "")
	} else if err := os.RemoveAll(flag); err != nil {
		k.t.Fatal(err)
	}
	_, err := k.run(args...)
	k.write(filepath.Join(k.shim, "at"), "0\n")
	return err != nil
}

// check checks the files after a killed command: every document is complete, and the state is a
// known one.
func (k *killed) check() {
	k.t.Helper()
	state, _ := k.must("status")["state"].(string)
	if !slices.Contains(contract.States(), contract.State(state)) {
		k.t.Errorf("got the state %q", state)
	}
	if err := filepath.WalkDir(filepath.Join(k.dir, ".contribflow"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" || strings.Contains(path, "/workspaces/") {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && !json.Valid(data) {
			k.t.Errorf("%s is torn: %q", path, data)
		}
		return err
	}); err != nil {
		k.t.Error(err)
	}
}

// TestKilled kills checkout, diff, validate and pr with SIGKILL at calls of git in turn. The
// documents must be complete and the state valid, and a second run of the command must work.
func TestKilled(t *testing.T) {
	t.Parallel()
	const most = 19
	step, least := 3, int32(3) // every third call, alternately before and after it
	if testing.Short() {
		step, least = 9, 1
	}
	killed := make([]atomic.Int32, 5)
	t.Run("at", func(t *testing.T) {
		for at := 1; at < most; at += step {
			t.Run(strconv.Itoa(at), func(t *testing.T) {
				t.Parallel()
				k := newKilled(t)
				k.must("init")
				kill := func(command int, args ...string) {
					if k.kill(at, at%2 == 0, args...) {
						killed[command].Add(1)
					}
					k.check()
				}
				kill(0, "checkout", "o/r#1")
				k.whole("checkout", "o/r#1")
				kill(1, "checkout", "--fresh")
				k.whole("checkout")
				k.write(filepath.Join(k.dir, ".contribflow/workspaces/o-r-1/new.txt"), "new\n")
				kill(2, "diff")
				d := k.must("diff")
				patch, err := os.ReadFile(filepath.Join(k.dir, ".contribflow/artifacts/patch-o-r-1.diff"))
				if sum := sha256.Sum256(append([]byte(fmt.Sprint(d["baseSha"])), patch...)); d["patchDigest"] != hex.EncodeToString(sum[:]) || d["hasChanges"] != true || err != nil {
					t.Errorf("got the digest %v, %v", d["patchDigest"], err)
				}
				kill(3, "validate", "--run", "--sandbox", "docker")
				if v := k.must("validate", "--run", "--sandbox", "docker"); v["patchDigest"] != d["patchDigest"] || v["status"] != "blocked" {
					t.Errorf("got the validation %v", v)
				}
				kill(4, "pr")
				if pr := k.must("pr"); pr["status"] != "blocked" || pr["validationStatus"] != "blocked" {
					t.Errorf("got %v", pr)
				}
			})
		}
	})
	for command := range killed {
		if n := killed[command].Load(); n < least {
			t.Errorf("command %d was killed %d times, want %d or more", command, n, least)
		}
	}
}

// whole runs a checkout, and checks that it makes a clean workspace and leaves no temporary
// folders.
func (k *killed) whole(args ...string) {
	k.t.Helper()
	if w := k.must(args...); w["clean"] != true {
		k.t.Errorf("got the workspace %v", w)
	}
	if left, err := filepath.Glob(filepath.Join(k.dir, ".contribflow/workspaces/*.*")); err != nil || len(left) > 0 {
		k.t.Errorf("%v is left, %v", left, err)
	}
}
