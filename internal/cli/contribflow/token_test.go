//go:build unix

package contribflow_test

import (
	"encoding/base64"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/testkit/programtest"
)

// observer is a stand-in for git, GIT, with its files in the folder SHIM. It records its arguments,
// whether its environment has the token, and the files in FOLDERS that contain the token.
const observer = `#!/bin/sh
had=without
case "$(env)" in *TOKEN* | *ENCODED*) had=with ;; esac
echo "$had $*" >> SHIM/seen
grep -rlF -e TOKEN -e ENCODED FOLDERS >> SHIM/files
exec GIT "$@"
`

// TestPublishToken looks for the token while a pull request is published: only git commands that
// connect to the server have it, in their environment. No temporary files stay, not even after a
// failure.
func TestPublishToken(t *testing.T) {
	t.Parallel()
	const token = "token-of-a-test"
	encoded := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
	k := publishing(t)
	k.env = append(k.env, "GH_TOKEN="+token)
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	temporary := k.getenv("TMPDIR")
	folders := strings.Join([]string{k.dir, temporary, filepath.Join(filepath.Dir(k.dir), "github")}, " ")
	script := strings.NewReplacer("GIT", git, "SHIM", k.shim, "FOLDERS", folders, "TOKEN", token, "ENCODED", encoded).Replace(observer)
	if err := programtest.Write(filepath.Join(k.shim, "git"), script); err != nil {
		t.Fatal(err)
	}
	k.restore()
	publish := func(status string) {
		t.Helper()
		if d := k.must("pr", "--yes"); d["status"] != status {
			t.Fatalf("got %v: %v", d["status"], d["reason"])
		}
		if left, err := os.ReadDir(temporary); len(left) > 0 || err != nil {
			t.Errorf("%v is left, %v", left, err)
		}
	}
	gh := filepath.Join(k.shim, "hub")
	if err := os.Rename(gh, gh+".away"); err != nil {
		t.Fatal(err)
	}
	publish(contract.Failed)
	if err := os.Rename(gh+".away", gh); err != nil {
		t.Fatal(err)
	}
	k.must("pr")
	publish(contract.Created)
	seen, err := os.ReadFile(filepath.Join(k.shim, "seen"))
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]map[string]bool{"with": {}, "without": {}}
	for line := range strings.Lines(string(seen)) {
		words := strings.Fields(line)
		at := 1
		for words[at] == "--no-pager" || words[at] == "-c" {
			at += map[string]int{"--no-pager": 1, "-c": 2}[words[at]]
		}
		commands[words[0]][words[at]] = true
	}
	if got, want := slices.Sorted(maps.Keys(commands["with"])), []string{"fetch", "ls-remote", "push"}; !slices.Equal(got, want) {
		t.Errorf("the commands %v have the token, want %v", got, want)
	}
	if !commands["without"]["commit"] || !commands["without"]["checkout-index"] {
		t.Errorf("the commands without the token are %v", commands["without"])
	}
	if strings.Contains(string(seen), token) || strings.Contains(string(seen), encoded) {
		t.Errorf("the token is in an argument:\n%s", seen)
	}
	if files, err := os.ReadFile(filepath.Join(k.shim, "files")); len(files) > 0 || err != nil {
		t.Errorf("the token is in the files\n%s%v", files, err)
	}
}
