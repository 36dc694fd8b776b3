package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The places that a workflow names other people's code: an action, and a module of Go.
var (
	uses    = regexp.MustCompile(`uses:[ \t]+["'` + "`" + `]?([^\s"'` + "`" + `|]+)([^` + "`" + `|\n]*)`)
	install = regexp.MustCompile(`run:.*\bgo (?:install|run) \S+@(\S+)`)
)

// pinned matches a commit; versioned matches the comment behind it. ours matches this action, which
// docs/workflow.md has a table for, and the fork that is used until the first release.
var (
	pinned    = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	versioned = regexp.MustCompile(`^["']? #\s*v\d+(\.\d+)*\s*$`)
	ours      = regexp.MustCompile(`^(?:org|OWNER)/foreman-action(?:/slim)?@(?:v1(?:\.2(?:\.3)?)?|COMMIT)$|^YOU/foreman-action@main$`)
)

// TestPins checks that every workflow of the repository and of its documentation names other
// actions by a commit, with the version behind it, and this action by its major version.
func TestPins(t *testing.T) {
	t.Parallel()
	count := 0
	for _, name := range workflowFiles(t) {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(src), "\n") {
			for _, m := range uses.FindAllStringSubmatch(line, -1) {
				count++
				own := ours.MatchString(m[1]) || strings.HasPrefix(m[1], "./")
				if !own && (!pinned.MatchString(m[1]) || !versioned.MatchString(m[2])) {
					t.Errorf("%s:%d: %s is not pinned: want a commit with # and its version", name, n+1, m[1])
				}
			}
			if m := install.FindStringSubmatch(line); len(m) > 1 && !strings.HasPrefix(m[1], "v") {
				t.Errorf("%s:%d: @%s is not a version", name, n+1, m[1])
			}
		}
	}
	if count < 30 {
		t.Errorf("got %d actions, want at least 30", count)
	}
}

// workflowFiles lists the files with workflows: the pages, the repository's own, the workflow that
// foreman init writes, and the metadata of the actions.
func workflowFiles(t *testing.T) []string {
	t.Helper()
	list := []string{"action.yml", "slim/action.yml", "internal/cli/starter/workflow.yml", "site/playground/examples.json"}
	for i := range list {
		list[i] = filepath.Join(root, filepath.FromSlash(list[i]))
	}
	for _, dir := range []string{"", "docs", ".github"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && dir == "" && name != root:
				return fs.SkipDir
			case !d.IsDir() && slices.Contains([]string{".md", ".yml", ".yaml"}, filepath.Ext(name)):
				list = append(list, name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
