package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/org/foreman-action/internal/release/contents"
	"github.com/org/foreman-action/internal/release/entry"
	"github.com/org/foreman-action/internal/release/image"
	"github.com/org/foreman-action/internal/release/tagging"
	"github.com/org/foreman-action/internal/release/version"
)

func check(ctx context.Context, env Env, o *options, tag string) error {
	c, err := o.git(env).Check(ctx, tag)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%s can be released from %s\n", c.Version.Tag(), c.Commit)
	return nil
}

func notes(ctx context.Context, env Env, o *options, tag string) error {
	v, err := version.Parse(tag)
	if err != nil {
		return err
	}
	section, err := o.git(env).Notes(ctx, "HEAD", v)
	if err != nil {
		return err
	}
	fmt.Fprint(env.Stdout, section)
	return nil
}

// push checks the release again: the workflow has done so, a person at a terminal may not have.
func push(ctx context.Context, env Env, o *options, tag string) error {
	_, err := o.git(env).Check(ctx, tag)
	owner, ownerErr := entry.ParseRepository(o.repository)
	if err := errors.Join(err, ownerErr); err != nil {
		return err
	}
	login := authn.FromConfig(authn.AuthConfig{Username: env.Getenv("GITHUB_ACTOR"), Password: env.Getenv("GITHUB_TOKEN")})
	for _, i := range images() {
		if err := (image.Registry{}).Push(ctx, o.layout(i.Name), owner.Image(o.registry, i.Name), tag, login); err != nil {
			return err
		}
	}
	digest, err := image.Digest(o.layout("foreman-action"))
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%s\n", digest)
	return nil
}

func tag(ctx context.Context, env Env, o *options, tag string) error {
	// Without checksums the rest is checked all the same, and refused.
	sums, sumsErr := readSums(o.sums)
	commit, err := o.git(env).Tag(ctx, tag, tagging.Pins{
		Repository: o.repository, Server: o.server, Registry: o.registry, Digest: o.digest, Sums: sums,
		Exists: func(ctx context.Context, name, digest string) error {
			return errors.Join(o.ours(digest), image.Registry{}.Exists(ctx, name, digest))
		},
	})
	if err := errors.Join(sumsErr, err); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%s is tagged and pushed: %s\n", tag, commit)
	return nil
}

// commit makes the commit of the tag before an image is pushed, and prints it: the files of the
// release are made from it.
func commit(ctx context.Context, env Env, o *options, tag string) error {
	sums, sumsErr := readSums(o.sums)
	digest, digestErr := image.Digest(o.layout("foreman-action"))
	id, err := o.git(env).Commit(ctx, tag, tagging.Pins{
		Repository: o.repository, Server: o.server, Registry: o.registry, Digest: digest, Sums: sums,
	})
	if err := errors.Join(sumsErr, digestErr, err); err != nil {
		return err
	}
	fmt.Fprintln(env.Stdout, id)
	return nil
}

// pin writes the two files that workflows start, pinned as a tag has them, to -out/pinned. It
// is for tests and rehearsals, and reads them from the working tree.
func pin(_ context.Context, env Env, o *options, tag string) error {
	if _, err := version.Parse(tag); err != nil {
		return err
	}
	owner, err := entry.ParseRepository(o.repository)
	if err != nil {
		return err
	}
	downloads, err := entry.Downloads(o.server, owner, tag)
	if err != nil {
		return err
	}
	sums, err := readSums(o.sums)
	if err != nil {
		return err
	}
	change := func(name string, pinned func(text string) (string, error)) error {
		text, err := os.ReadFile(filepath.Join(o.root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		after, err := pinned(string(text))
		if err != nil {
			return err
		}
		path := filepath.Join(o.out, "pinned", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(after), 0o644)
	}
	err = errors.Join(
		change(entry.ContainerFile, func(text string) (string, error) {
			return entry.PinImage(text, owner.Image(o.registry, "foreman-action"), o.digest)
		}),
		change(entry.SlimFile, func(text string) (string, error) { return entry.PinPrograms(text, downloads, sums) }),
	)
	if err == nil {
		fmt.Fprintf(env.Stdout, "%s and %s are pinned in %s\n", entry.ContainerFile, entry.SlimFile, filepath.Join(o.out, "pinned"))
	}
	return err
}

func readSums(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	sums, err := entry.ParseSums(string(text))
	if err != nil {
		return nil, fmt.Errorf("read the checksums %s: %w", file, err)
	}
	return sums, nil
}

// latest prints the value of gh's flag --latest.
func latest(ctx context.Context, env Env, o *options, tag string) error {
	newest, err := o.git(env).Latest(ctx, tag)
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Stdout, newest)
	return nil
}

// compare compares a draft with the checksums of the files that were inspected and signed.
func compare(_ context.Context, env Env, o *options, _ string) error {
	list, err := os.ReadFile(o.sums)
	if err != nil {
		return err
	}
	n, err := contents.Compare(o.dist, string(list))
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%d files of the draft are those of this release\n", n)
	return nil
}

func move(ctx context.Context, env Env, o *options, tag string) error {
	moved, err := o.git(env).Move(ctx, tag)
	if err != nil {
		return err
	}
	for _, name := range moved {
		fmt.Fprintf(env.Stdout, "%s is at %s\n", name, tag)
	}
	if len(moved) == 0 {
		fmt.Fprintf(env.Stdout, "no tag moves to %s\n", tag)
	}
	return nil
}
