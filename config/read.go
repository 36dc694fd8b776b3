package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/triage"
)

// A sourceFile is one file with its sections decoded.
type sourceFile struct {
	file      *yamlfile.File
	sections  sections
	inherited bool // it is the extended file
}

// An input contains the files that were read, with their mistakes.
type input struct {
	files  []sourceFile
	names  []string       // of all files, in order
	globs  []string       // patterns of the searches for files
	broken rules.Problems // of files that are not YAML; such files are not in files
}

// and returns the files of both inputs as one input.
func (in input) and(more input) input {
	return input{
		files: slices.Concat(in.files, more.files), names: slices.Concat(in.names, more.names), globs: slices.Concat(in.globs, more.globs),
		broken: slices.Concat(in.broken, more.broken),
	}
}

// add parses a file. It returns nil without an error for a file that is not YAML.
func (in *input) add(name string, src []byte) (*yamlfile.File, error) {
	in.names = append(in.names, name)
	f, err := yamlfile.Parse(name, src)
	if ps, ok := errors.AsType[rules.Problems](err); ok {
		in.broken = append(in.broken, ps...)
		return nil, nil
	}
	return f, err
}

// decode decodes the sections below a root of the file. own are actions that are not built in.
func decode(f *yamlfile.File, root *yaml.Node, own []protocol.ActionSpec) sourceFile {
	d := sourceFile{file: f}
	f.Decode(root, &d.sections)
	table(own...).Checker(f).Check("", root, &d.sections)
	checkVersion(f, d.sections.Version)
	return d
}

// readOwn reads the repository's own files: the configuration file, its included files, and
// more rule files.
func readOwn(ctx context.Context, files Files, spec Spec) (input, error) {
	r := reader{files: files, sections: spec.Sections, own: spec.Own.Actions}
	if spec.Path != "" {
		err := r.file(ctx, spec.Path)
		if spec.Else != "" && errors.Is(err, fs.ErrNotExist) {
			err = r.file(ctx, spec.Else)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) && spec.Optional:
		case errors.Is(err, fs.ErrNotExist) && spec.Sections == nil:
			return input{}, fmt.Errorf("%s: %w; foreman init creates one", spec.Path, ErrNotFound)
		case errors.Is(err, fs.ErrNotExist):
			return input{}, fmt.Errorf("%s: %w", spec.Path, ErrNotFound)
		case err != nil:
			return input{}, err
		}
	}
	for _, glob := range spec.Rules {
		if err := r.glob(ctx, glob); err != nil {
			return input{}, err
		}
	}
	return r.in, nil
}

// A reader reads files that include others.
type reader struct {
	files    Files
	sections []string // of the first file; nil: all, and afterwards
	own      []protocol.ActionSpec
	in       input
}

// file reads a file and its included files, each once.
func (r *reader) file(ctx context.Context, name string) error {
	name = path.Clean(name)
	if slices.Contains(r.in.names, name) {
		return nil
	}
	src, err := r.files.Read(ctx, name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	f, err := r.in.add(name, src)
	if f == nil || err != nil {
		return err
	}
	root := f.Root()
	if r.sections != nil {
		root = only(root, r.sections)
		r.sections = nil
	}
	d := decode(f, root, r.own)
	r.in.files = append(r.in.files, d)
	return r.include(ctx, f, d.sections.Include)
}

// only returns a mapping with some keys of a file. It adds the version if it is absent.
func only(root *yaml.Node, keys []string) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: root.Line, Column: root.Column}
	for k, v := range yamlfile.Pairs(root) {
		if slices.Contains(keys, k.Value) {
			out.Content = append(out.Content, k, v)
		}
	}
	if yamlfile.Child(out, "version") == nil {
		out.Content = append(out.Content,
			&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "version", Line: root.Line, Column: root.Column},
			&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: "1", Line: root.Line, Column: root.Column})
	}
	return out
}

// include reads the files that a file includes. A glob may match no file.
func (r *reader) include(ctx context.Context, f *yamlfile.File, in *includeSection) error {
	if in == nil {
		return nil
	}
	for _, glob := range in.globs {
		err := r.glob(ctx, glob)
		switch {
		case errors.Is(err, ErrNotFound) && strings.ContainsAny(glob, "*?["):
		case errors.Is(err, ErrNotFound):
			f.Problemf(in.node, "include: there is no file %s", glob)
		case err != nil:
			return err
		}
	}
	return nil
}

// glob reads the files that match a glob. It fails if none does.
func (r *reader) glob(ctx context.Context, glob string) error {
	if _, err := path.Match(glob, ""); err != nil || glob == "" {
		return fmt.Errorf("rule files %q: %w", glob, path.ErrBadPattern)
	}
	glob = path.Clean(glob)
	if !strings.ContainsAny(glob, "*?[") {
		err := r.file(ctx, glob)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("rule file %s: %w", glob, ErrNotFound)
		}
		return err
	}
	r.in.globs = append(r.in.globs, glob)
	names, err := r.files.Glob(ctx, glob)
	if err != nil {
		return fmt.Errorf("find rule files %s: %w", glob, err)
	}
	if len(names) == 0 {
		return fmt.Errorf("rule files %s: %w", glob, ErrNotFound)
	}
	for _, name := range names {
		if err := r.file(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// readExtended reads the file that the repository's own files extend. The input is empty if they
// extend no file. It has no files if the file cannot be read; the problem is recorded then.
func readExtended(ctx context.Context, mine side, spec Spec) (input, error) {
	at, ok := mine.at["extends"]
	if !ok || mine.extends == (RemoteFile{}) { // a mistake in extends is already recorded
		return input{}, nil
	}
	file := mine.extends
	src, err := []byte(nil), triage.ErrNeedsHost
	if spec.Remote != nil {
		src, err = spec.Remote(ctx, file)
	}
	switch {
	case errors.Is(err, triage.ErrNeedsHost) && spec.Partial:
		at.f.Warnf(at.n, "extends: %s and the settings that depend on it were not checked: %v", file, err)
		return input{}, nil
	case errors.Is(err, triage.ErrNeedsHost):
		at.f.Problemf(at.n, "extends: read %s: %v", file, err)
		return input{}, nil
	case errors.Is(err, fs.ErrNotExist):
		at.f.Problemf(at.n, "extends: the token cannot see %s; check that the file exists at that tag or commit (a branch is neither). "+
			"The token of a workflow can read its own repository and public ones; for another private one give the step a token with contents: read on %s/%s",
			file, file.Owner, file.Repo)
		return input{}, nil
	case err != nil:
		return input{}, fmt.Errorf("extends: %w", err)
	}
	return parseExtended(file.String(), src, spec.Own.Actions)
}

// parseExtended decodes an extended file, which may name own actions, and reports sections that such a file may not have.
func parseExtended(name string, src []byte, own []protocol.ActionSpec) (in input, err error) {
	f, err := in.add(name, src)
	if f == nil || err != nil {
		return in, err
	}
	d := decode(f, f.Root(), own)
	for _, key := range []struct{ name, why string }{
		{"extends", "a file that others extend cannot extend another file"},
		{"disable", "a file that others extend inherits no rules"},
		{"include", "a file that others extend cannot include files; write the rules into it"},
	} {
		if n := yamlfile.Child(f.Root(), key.name); n != nil {
			f.Problemf(n, "%s: %s", key.name, key.why)
		}
	}
	d.inherited, d.sections.Extends, d.sections.Disable = true, nil, nil
	in.files = []sourceFile{d}
	return in, nil
}
