package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/release/entry"
	"github.com/org/foreman-action/internal/release/image"
	"github.com/org/foreman-action/internal/release/manual"
	"github.com/org/foreman-action/internal/release/program"
)

// An imageName is an image of a release under the name that registries have for it.
type imageName struct {
	Name string
	Spec image.Spec
}

func images() []imageName {
	return []imageName{{"foreman-action", image.Action()}, {"foremand", image.Server()}}
}

func (o *options) layout(name string) string { return filepath.Join(o.out, "images", name) }

// build makes the parts of a release other than archives and packages: the programs, their
// checksums, the manual and, for platforms with an image, the images.
func build(ctx context.Context, env Env, o *options, _ string) error {
	platforms := entry.Platforms()
	if o.platforms != "all" {
		platforms = strings.Split(o.platforms, ",")
		for _, p := range platforms {
			if !slices.Contains(entry.Platforms(), p) {
				return fmt.Errorf("-platforms: unknown platform %q: want some of %s", p, strings.Join(entry.Platforms(), ", "))
			}
		}
	}
	repository, err := o.releaser()
	if err != nil {
		return err
	}
	if err := prepare(o.out); err != nil {
		return err
	}
	b := program.Builder{Dir: o.root, Version: o.version, Repository: repository.String()}
	sums, err := b.BuildAll(ctx, platforms, o.programs())
	if err != nil {
		return err
	}
	if o.twice {
		if err := o.again(ctx, b, platforms, sums); err != nil {
			return err
		}
		fmt.Fprintf(env.Stdout, "%d programs are the same from two builds\n", len(sums))
	}
	var list strings.Builder
	for _, file := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&list, "%s  %s\n", sums[file], file)
	}
	if err := os.WriteFile(filepath.Join(o.out, "checksums.txt"), []byte(list.String()), 0o644); err != nil {
		return err
	}
	r, err := o.release(ctx)
	if err != nil {
		return err
	}
	if err := manual.Write(o.out, o.version, r.Created); err != nil {
		return err
	}
	platforms = slices.DeleteFunc(slices.Clone(platforms), func(p string) bool { return !slices.Contains(image.Platforms(), p) })
	if len(platforms) == 0 {
		return nil
	}
	return o.assemble(env, r, platforms)
}

// The file by which build recognises a folder that it made, and its content.
const (
	marker     = ".release-build"
	markerText = "release build made this folder, and empties it.\n"
)

// prepare makes the folder of a build anew. A folder that no build made, or with anything else in
// it, stays as it is.
func prepare(folder string) error {
	made := []string{marker, "programs", "images", "completions", "man", "pinned", "files", "checksums.txt"}
	list, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range list {
		if !slices.Contains(made, e.Name()) {
			return fmt.Errorf("-out: %s has %s, which no build made: name another folder", folder, e.Name())
		}
	}
	path := filepath.Join(folder, marker)
	if len(list) > 0 {
		if text, err := os.ReadFile(path); err != nil || string(text) != markerText {
			return fmt.Errorf("-out: no build made %s: it has no file %s; remove the folder, or name another one", folder, marker)
		}
	}
	// The marker is kept. If this build is interrupted here, the next one still recognises the folder.
	for _, e := range list {
		if e.Name() == marker {
			continue
		}
		if err := os.RemoveAll(filepath.Join(folder, e.Name())); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(markerText), 0o644)
}

func (o *options) programs() string { return filepath.Join(o.out, "programs") }

// again builds all programs from a copy of the source in another folder, and compares.
func (o *options) again(ctx context.Context, b program.Builder, platforms []string, first map[string]string) error {
	folder, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	b.Dir = filepath.Join(folder, "source")
	if err := program.Copy(ctx, o.root, b.Dir); err != nil {
		return err
	}
	if o.cold {
		b.Cache = filepath.Join(folder, "cache")
	}
	second, err := b.BuildAll(ctx, platforms, filepath.Join(folder, "programs"))
	if err != nil {
		return err
	}
	var mistakes []error
	for _, file := range slices.Sorted(maps.Keys(first)) {
		if first[file] != second[file] {
			mistakes = append(mistakes, fmt.Errorf("%s differs between two builds: %s and %s", file, first[file], second[file]))
		}
	}
	return errors.Join(mistakes...)
}

// release returns the values of an image that depend on the commit.
func (o *options) release(ctx context.Context) (image.Release, error) {
	cmd := exec.CommandContext(ctx, "git", "show", "-s", "--format=%H %cI", "HEAD")
	cmd.Dir = o.root
	out, err := cmd.Output()
	if err != nil {
		return image.Release{}, fmt.Errorf("read the commit of %s: %w", o.root, err)
	}
	commit, date, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	at, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return image.Release{}, err
	}
	r := image.Release{Version: o.version, Revision: commit, Created: at.UTC()}
	if o.repository != "" {
		owner, err := entry.ParseRepository(o.repository)
		if err != nil {
			return image.Release{}, err
		}
		r.Source = strings.TrimRight(o.server, "/") + "/" + owner.String()
	}
	return r, nil
}

// assemble makes the images, and checks them as a registry would.
func (o *options) assemble(env Env, r image.Release, platforms []string) error {
	if err := os.MkdirAll(filepath.Join(o.out, "images"), 0o755); err != nil {
		return err
	}
	for _, i := range images() {
		digest, err := image.Write(o.layout(i.Name), i.Spec, r, platforms, o.programs())
		if err != nil {
			return err
		}
		if err := image.Check(o.layout(i.Name), digest, platforms); err != nil {
			return err
		}
		if err := os.WriteFile(o.layout(i.Name)+".digest", []byte(digest), 0o644); err != nil {
			return err
		}
		fmt.Fprintf(env.Stdout, "image %s: %s on %s\n", i.Name, digest, strings.Join(platforms, ", "))
	}
	return nil
}

// ours refuses a digest that is not of the image below -out, which this run built and pushed.
func (o *options) ours(digest string) error {
	built, err := image.Digest(o.layout("foreman-action"))
	if err == nil && built != digest {
		err = fmt.Errorf("-digest %s: the image of this run has the digest %s", digest, built)
	}
	return err
}
