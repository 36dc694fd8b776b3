package contribflow_test

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// gitVariables make git use the folder github instead of GitHub, and make its commits reproducible.
func gitVariables(work string) map[string]string {
	const moment = "2026-06-04T00:00:00Z"
	return map[string]string{
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "url.file://" + filepath.ToSlash(work) + "/github/.insteadOf", "GIT_CONFIG_VALUE_0": "https://github.com/",
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
		"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment,
	}
}

// repository makes a repository on the GitHub of a script.
func repository(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: repository OWNER/REPO DIR")
	}
	dir := ts.MkAbs(filepath.Join(ts.Getenv("WORK"), "github", args[0]+".git"))
	git := func(args ...string) {
		ts.Check(ts.Exec("git", append([]string{"--git-dir=" + dir, "--work-tree=" + ts.MkAbs(args[len(args)-1])}, args[:len(args)-1]...)...))
	}
	if _, err := os.Stat(dir); err != nil {
		ts.Check(os.MkdirAll(dir, 0o755))
		ts.Check(ts.Exec("git", "init", "--quiet", "--bare", "--initial-branch=main", dir))
	}
	git("add", "--all", "--force", ".", args[1])
	git("commit", "--quiet", "--message", "change", args[1])
}

// submodule adds a submodule to a repository. The submodule is the same repository at its newest
// commit.
func submodule(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: submodule OWNER/REPO PATH")
	}
	dir := ts.MkAbs(filepath.Join(ts.Getenv("WORK"), "github", args[0]+".git"))
	tree := filepath.Join(ts.Getenv("WORK"), "submodule")
	ts.Check(os.MkdirAll(tree, 0o755))
	ts.Check(os.WriteFile(filepath.Join(tree, ".gitmodules"), []byte("[submodule \"sdk\"]\n\tpath = "+args[1]+"\n\turl = https://github.com/"+args[0]+".git\n"), 0o600))
	ts.Check(ts.Exec("git", "--git-dir="+dir, "rev-parse", "HEAD"))
	head := strings.TrimSpace(ts.ReadFile("stdout"))
	for _, step := range [][]string{{"add", ".gitmodules"}, {"update-index", "--add", "--cacheinfo", "160000," + head + "," + args[1]}, {"commit", "--quiet", "--message", "change"}} {
		ts.Check(ts.Exec("git", append([]string{"-C", tree, "--git-dir=" + dir, "--work-tree=" + tree}, step...)...))
	}
}
