package ecosystem

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
)

// guidance are the names of files with guidance for contributors, in the order of a plan.
var guidance = []string{
	"CONTRIBUTING.md", "README.md", ".github/pull_request_template.md", "pull_request_template.md", "docs/pull_request_template.md", ".github/CONTRIBUTING.md", "docs/CONTRIBUTING.md",
	"AGENTS.md", "CLAUDE.md", "AI_POLICY.md", "CODE_OF_CONDUCT.md", "DCO",
}

// guidanceFiles returns the guidance files of a repository. The case of names is ignored.
func guidanceFiles(s *source) []string {
	folded := map[string][]string{}
	for file := range s.files {
		if strings.Count(file, "/") <= 1 {
			folded[strings.ToLower(file)] = append(folded[strings.ToLower(file)], file)
		}
	}
	var found []string
	for _, name := range guidance {
		same := folded[strings.ToLower(name)]
		if len(same) > 0 {
			slices.Sort(same)
			if slices.Contains(same, name) {
				same[0] = name
			}
			found = append(found, same[0])
		}
	}
	return found
}

const maxLayouts = 20

// foreign reports whether a folder contains data or another project's code, such as vendor.
func foreign(dir string) bool {
	for name := range strings.SplitSeq(dir, "/") {
		switch name {
		case "node_modules", "vendor", "testdata", "fixtures", "__fixtures__", "third_party":
			return true
		}
	}
	return false
}

// testLayouts returns the folders of tests, without those in another one, and patterns of
// files that are tests.
func testLayouts(s *source) []string {
	var layouts []string
	inside := func(dir string) bool {
		return slices.ContainsFunc(layouts, func(of string) bool { return strings.HasPrefix(dir, of+"/") })
	}
	for _, dir := range slices.Sorted(maps.Keys(s.dirs)) {
		switch path.Base(dir) {
		case "test", "tests", "__tests__", "spec", "e2e":
			if !foreign(dir) && !inside(dir) {
				layouts = append(layouts, plain(dir))
			}
		}
	}
	layouts = layouts[:min(len(layouts), maxLayouts)]
	for file := range s.files {
		if strings.HasSuffix(file, "_test.go") && !foreign(file) {
			return append(layouts, "*_test.go")
		}
	}
	return layouts
}

// plain returns a name from the repository as one short line without control characters.
func plain(name string) string { return text.Plain(name, maxName) }

// generatedRules returns a sentence for each kind of file that tools write.
func generatedRules(s *source) []string {
	var patterns []string
	add := func(pattern string) {
		if pattern = plain(pattern); pattern != "" && !slices.Contains(patterns, pattern) {
			patterns = append(patterns, pattern)
		}
	}
	for line := range strings.Lines(string(s.text(".gitattributes", maxManifest))) {
		words := strings.Fields(line)
		if len(words) > 1 && !strings.HasPrefix(words[0], "#") &&
			(slices.Contains(words[1:], "linguist-generated") || slices.Contains(words[1:], "linguist-generated=true")) {
			add(words[0])
		}
	}
	for _, dir := range []string{"dist", "build", "vendor", "gen"} {
		if s.dirs[dir] {
			add(dir + "/")
		}
	}
	suffixes := []string{".pb.go", ".min.js", ".snap"}
	found := map[string]bool{}
	locks := map[string]bool{}
	for file := range s.files {
		for _, suffix := range suffixes {
			if strings.HasSuffix(file, suffix) && !foreign(file) {
				found[suffix] = true
			}
		}
		if !foreign(file) && IsLockfile(path.Base(file)) {
			locks[path.Base(file)] = true
		}
	}
	for _, suffix := range suffixes {
		if found[suffix] {
			add("*" + suffix)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(locks)) {
		add(name)
	}
	const limit = 30
	var rules []string
	for _, pattern := range patterns[:min(len(patterns), limit)] {
		rules = append(rules, "Do not edit "+pattern+" by hand.")
	}
	return rules
}
