package config

import (
	"io/fs"
	"path"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
)

// A RemoteFile names a file of a repository at a tag or a commit.
type RemoteFile struct {
	Owner, Repo string
	Path        string // below the repository's root, with slashes
	Ref         string // a tag, or at least 7 digits of a commit
}

// String returns "owner/repo:path@ref".
func (r RemoteFile) String() string {
	return r.Owner + "/" + r.Repo + ":" + r.Path + "@" + r.Ref
}

// extendsSection is the value of "extends". The zero value means that it has a mistake.
type extendsSection struct{ file RemoteFile }

// extendsForm is the form of the value of "extends".
const extendsForm = "owner/repo:path@ref"

// DecodeYAML reads owner/repo:path@ref.
func (e *extendsSection) DecodeYAML(f *yamlfile.File, n *yaml.Node) {
	var s string
	if !f.DecodeKey("extends", n, &s) {
		return
	}
	repo, rest, ok := strings.Cut(s, ":")
	owner, name, okRepo := protocol.SplitRepo(repo)
	file, ref, pinned := rest, "", false
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		file, ref, pinned = rest[:i], rest[i+1:], true
	}
	switch {
	case !ok || !okRepo || len(repo) > maxName || !plainPath(file):
		f.Problemf(n, "extends: want %s, such as octo-org/.github:foreman.yml@v1, got %q", extendsForm, text.Quote(s))
	case !pinned || ref == "":
		f.Problemf(n, "extends: %q is not pinned; add the tag or the commit to read it at, as in %s@v1: without one, "+
			"everybody who can push there can change the rules here unnoticed", text.Quote(s), text.Quote(strings.TrimSuffix(s, "@")))
	case !plainRef(ref):
		f.Problemf(n, "extends: %q is neither a tag nor a commit", text.Quote(ref))
	default:
		e.file = RemoteFile{Owner: owner, Repo: name, Path: file, Ref: ref}
	}
}

const maxName = 250 // bytes of a path or a ref

// plainPath reports whether s is a path below the repository's root in its shortest form.
func plainPath(s string) bool {
	return s != "" && len(s) <= maxName && fs.ValidPath(s) && s != "." && path.Clean(s) == s && !strings.ContainsFunc(s, unicode.IsControl)
}

// plainRef reports whether s can be the name of a tag.
func plainRef(s string) bool {
	odd := func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) || strings.ContainsRune(`~^:?*[\@`, r)
	}
	return len(s) <= maxName && !strings.ContainsFunc(s, odd) && !strings.Contains(s, "..") && s[0] != '/' && s[0] != '-'
}
