package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/org/foreman-action/internal/text"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/triage"
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

// extendsSection is what "extends" says; the zero value has a mistake.
type extendsSection struct{ file RemoteFile }

// extendsForm is how a file is named.
const extendsForm = "owner/repo:path@ref"

// DecodeYAML reads owner/repo:path@ref.
func (e *extendsSection) DecodeYAML(f *strictyaml.File, n *yaml.Node) {
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
			"whoever can push there changes what runs here, unseen", text.Quote(s), text.Quote(strings.TrimSuffix(s, "@")))
	case !plainRef(ref):
		f.Problemf(n, "extends: %q is no tag and no commit", text.Quote(ref))
	default:
		e.file = RemoteFile{Owner: owner, Repo: name, Path: file, Ref: ref}
	}
}

const maxName = 250 // bytes of a path or a ref

// plainPath reports whether s names a file below a root, and in one way only.
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

// extend reads the file that is extended.
func (l *loader) extend(ctx context.Context, spec Spec) error {
	at, ok := l.ours.at["extends"]
	if !ok {
		if d, ok := l.ours.at["disable"]; ok {
			d.f.Problemf(d.n, "disable: nothing is extended, so there is no inherited rule to switch off")
		}
		return nil
	}
	file := l.ours.say.Extends.file
	if file == (RemoteFile{}) {
		l.unread = true
		return nil // its mistake is recorded
	}
	src, err := []byte(nil), triage.ErrNeedsHost
	if spec.Remote != nil {
		src, err = spec.Remote(ctx, file)
	}
	l.unread = err != nil
	switch {
	case errors.Is(err, triage.ErrNeedsHost) && spec.Partial:
		at.f.Warnf(at.n, "extends: %s was not checked, nor what depends on it: reading it takes a token; set GITHUB_TOKEN", file)
		return nil
	case errors.Is(err, triage.ErrNeedsHost):
		at.f.Problemf(at.n, "extends: reading %s takes a token: set the input token, or GITHUB_TOKEN", file)
		return nil
	case errors.Is(err, fs.ErrNotExist):
		at.f.Problemf(at.n, "extends: the token sees no %s; look whether the file is there at that tag or commit (a branch is neither). "+
			"The token of a workflow sees its own repository and public ones: for a private one give the step a token with contents: read on %s/%s",
			file, file.Owner, file.Repo)
		return nil
	case err != nil:
		return fmt.Errorf("extends: %w", err)
	}
	return l.inherit(file.String(), src)
}

// inherit takes in the file that is extended.
func (l *loader) inherit(name string, src []byte) error {
	l.seen = append(l.seen, name)
	f, err := strictyaml.Parse(name, src)
	if ps, ok := errors.AsType[strictyaml.Problems](err); ok {
		l.broken, l.unread = append(l.broken, ps...), true
		return nil
	}
	if err != nil {
		return err
	}
	l.parsed = append(l.parsed, f)
	var s sections
	f.Decode(f.Root(), &s)
	checkVersion(f, s.Version)
	for _, key := range []struct{ name, why string }{
		{"extends", "a file that others extend cannot extend one itself: there is one level"},
		{"disable", "a file that others extend inherits nothing"},
		{"include", "a file that others extend stands alone; write the rules into it"},
	} {
		if n := strictyaml.Child(f.Root(), key.name); n != nil {
			f.Problemf(n, "%s: %s", key.name, key.why)
		}
	}
	s.Extends, s.Disable = nil, nil
	l.theirs = &side{file: name, at: map[string]place{}}
	l.theirs.take(f, s)
	return nil
}

// sources returns the rules of both sides, those that are inherited first.
func (l *loader) sources() []rules.Source {
	off := l.disabled()
	if l.theirs == nil {
		return l.ours.sources
	}
	list := slices.Clone(l.theirs.sources)
	for i, s := range list {
		if s.Node == nil || s.Node.Kind != yaml.SequenceNode {
			continue
		}
		kept := *s.Node
		kept.Content = slices.DeleteFunc(slices.Clone(s.Node.Content), func(n *yaml.Node) bool { return off[ruleID(n)] })
		list[i].Node = &kept
	}
	return append(list, l.ours.sources...)
}

// disabled returns the ids of the inherited rules that are switched off.
func (l *loader) disabled() map[string]bool {
	off := map[string]bool{}
	at := l.ours.at["disable"]
	own := ruleIDs(l.ours.sources)
	var known []string
	if l.theirs != nil {
		known = ruleIDs(l.theirs.sources)
	}
	for _, n := range l.ours.say.Disable {
		var id string
		switch {
		case !at.f.DecodeKey("disable", n, &id):
		case slices.Contains(own, id):
			at.f.Problemf(n, "disable: %q is a rule of this repository's own; take it out, or give it another id", text.Quote(id))
		case l.theirs == nil:
			// It was not read, or there is none, and that is reported.
		case !slices.Contains(known, id):
			at.f.Problemf(n, "disable: %s has no rule %q%s", l.theirs.file, text.Quote(id), strictyaml.DidYouMean(id, known))
		default:
			off[id] = true
		}
	}
	return off
}

func ruleID(n *yaml.Node) string {
	if id := strictyaml.Child(n, "id"); id != nil {
		return id.Value
	}
	return ""
}

func ruleIDs(sources []rules.Source) []string {
	var ids []string
	for _, s := range sources {
		if s.Node == nil {
			continue
		}
		for _, n := range s.Node.Content {
			ids = append(ids, ruleID(n))
		}
	}
	return ids
}
