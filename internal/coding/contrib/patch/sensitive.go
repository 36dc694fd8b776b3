package patch

import (
	"context"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/ecosystem"
	"github.com/org/foreman-action/internal/coding/contrib/snapshot"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/coding/steering"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/text"
)

// sensitivePaths are globs, in lower case, of files that a person must review before they are
// published, besides those that steer coding agents and those of package ecosystem. They contain code that runs on other machines or
// without being asked, keys, access rights or licenses.
var sensitivePaths = []string{
	".github/workflows/**", ".github/actions/**", "action.yml", "action.yaml", ".gitlab-ci.yml", ".gitlab/**", ".circleci/**", "jenkinsfile*",
	".travis.yml", "appveyor.yml", ".appveyor.yml", "azure-pipelines*", "bitbucket-pipelines.yml", ".buildkite/**", ".drone.yml", ".woodpecker*", ".woodpecker/**", ".cirrus.yml",
	".envrc", ".idea/**", ".zed/**",
	".env*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc",
	"dockerfile*", "*.dockerfile", "docker-compose*", "compose.yml", "compose.yaml", "*.tf", "*.tfvars",
	"codeowners", "security.md", "license*", "copying*",
	".githooks/**", ".husky/**", ".pre-commit-config.yaml", "lefthook.y*ml", ".lefthook/**", ".gitmodules", ".gitattributes", ".lfsconfig",
	"**/auth/**", "**/oauth/**", "**/crypto/**", "auth.*", "oauth.*", "crypto.*", "authentication.*", "authorization.*",
}

// installScripts are the scripts of package.json that package managers run without being asked.
var installScripts = []string{"preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare", "dependencies"}

// sensitive returns the paths of a change that a person has to look at, sorted.
func sensitive(ctx context.Context, s *snapshot.Snapshot, changes []git.Raw, sections []section, globs []string) ([]string, error) {
	found := map[string]bool{}
	var look []git.Raw // changes whose content must be examined
	for i, c := range changes {
		for _, name := range []string{c.Path, c.From} {
			if name != "" && isSensitive(name, globs) {
				found[c.Path] = true
			}
		}
		if special(c) || sections[i].binary || slices.ContainsFunc(sections[i].added, func(l line) bool { return secret.HasForm(string(l.text)) }) {
			found[c.Path] = true
		}
		if c.Mode == git.ModeLink || strings.EqualFold(path.Base(c.Path), "package.json") {
			look = append(look, c)
		}
	}
	if len(look) > 0 {
		if err := contents(ctx, s, look, found); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// isSensitive reports whether a person must review a path because of its name.
func isSensitive(name string, globs []string) bool {
	return named(name, sensitivePaths) || named(name, ecosystem.Review()) || steering.Matches(name) || named(name, globs) || ecosystem.IsLockfile(path.Base(name))
}

// named reports whether a path matches one of the globs; case is ignored. A glob without a slash
// matches files of this name in any folder. A glob that ends in a slash matches all files below
// the folder.
func named(name string, globs []string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(globs, func(glob string) bool {
		glob = strings.ToLower(strings.TrimPrefix(glob, "/"))
		if strings.HasSuffix(glob, "/") {
			glob += "**"
		}
		if !strings.Contains(glob, "/") {
			glob = "**/" + glob
		}
		return text.MatchPath(glob, name)
	})
}

// special reports whether a change is one of a submodule, or makes a file executable.
func special(c git.Raw) bool {
	return c.Mode == git.ModeSubmodule || c.OldMode == git.ModeSubmodule || c.Mode == git.ModeExecutable && c.OldMode != git.ModeExecutable
}

// contents finds links that lead out of the tree, and changed scripts of installations.
func contents(ctx context.Context, s *snapshot.Snapshot, look []git.Raw, found map[string]bool) error {
	var hashes []string
	for _, c := range look {
		hashes = append(hashes, blobsOf(c)...)
	}
	blobs, err := s.Objects(ctx, hashes)
	if err != nil {
		return err
	}
	for _, c := range look {
		if c.Mode == git.ModeLink {
			if git.Leaves(c.Path, string(blobs[c.Blob])) {
				found[c.Path] = true
			}
			continue
		}
		before, okBefore := scripts(blobs[c.OldBlob])
		after, okAfter := scripts(blobs[c.Blob])
		if !okBefore || !okAfter || !maps.Equal(before, after) {
			found[c.Path] = true
		}
	}
	return nil
}

// scripts returns the install scripts in a package.json. ok is false if it cannot be parsed.
func scripts(data []byte) (found map[string]string, ok bool) {
	found = map[string]string{}
	if len(data) == 0 {
		return found, true
	}
	var manifest map[string]any // a struct would ignore the case of keys, and "Scripts" could hide "scripts"
	if err := json.Unmarshal(data, &manifest); err != nil {
		return nil, false
	}
	all, isObject := manifest["scripts"].(map[string]any)
	if manifest["scripts"] != nil && !isObject {
		return nil, false
	}
	for _, name := range installScripts {
		if script, there := all[name]; there {
			value, isText := script.(string)
			if !isText {
				return nil, false
			}
			found[name] = value
		}
	}
	return found, true
}
