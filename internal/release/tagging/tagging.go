// Package tagging makes the tags of a release. The commit of a release stands on no branch: it
// is the released commit with the images and the checksums pinned.
//
// The tag of the version is made first, because the release's files are published under it.
// v1 and v1.2 move last, when all files are there.
package tagging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/release/changelog"
	"github.com/org/foreman-action/internal/release/entry"
	"github.com/org/foreman-action/internal/release/version"
)

// A Repository is a clone and its remote.
type Repository struct {
	Dir    string // the root of the working tree
	Remote string // such as origin
	Branch string // of the remote, whose newest commit is released, such as main
	// Env are more variables of git, such as a login at the remote.
	Env []string
}

func (r Repository) repo() repo { return repo{dir: r.Dir, env: r.Env} }

// Pins are the contents of a release that its commit names.
type Pins struct {
	Repository string            // repository that releases, as owner/name
	Server     string            // where its releases are published, such as https://github.com
	Registry   string            // of the image, such as ghcr.io
	Digest     string            // of the action's image
	Sums       map[string]string // of the released programs, by file
	// Exists returns an error when an image cannot be pulled by its digest; if Exists is nil, the
	// image is not checked.
	Exists func(ctx context.Context, image, digest string) error
}

// A Checked is a commit that has passed all checks of a release.
type Checked struct {
	Version version.Version
	Commit  string // to release
	Notes   string // of the changelog

	references map[string]reference // of the remote
}

// Check refuses a tag that is no version or exists, a changed tree, a commit that is not the newest
// of the branch, and a changelog that does not agree. It changes nothing and reports all
// mistakes at once.
func (r Repository) Check(ctx context.Context, tag string) (Checked, error) {
	var mistakes []error
	note := func(err error) {
		if err != nil {
			mistakes = append(mistakes, err)
		}
	}
	var c Checked
	var err error
	c.Version, err = version.Parse(tag)
	note(err)
	valid := err == nil
	git := r.repo()

	changes, err := git.run(ctx, "", "status", "--porcelain", "--untracked-files=all")
	note(err)
	if changes != "" {
		note(fmt.Errorf("the tree has changes: commit or remove them:\n%s", changes))
	}
	c.Commit, err = git.run(ctx, "", "rev-parse", "--verify", "HEAD^{commit}")
	note(err)
	c.references, err = git.references(ctx, r.Remote)
	note(err)
	if err == nil && c.Commit != "" {
		note(r.newest(c))
	}
	if valid {
		note(r.unused(ctx, c))
		c.Notes, err = r.Notes(ctx, cmp.Or(c.Commit, "HEAD"), c.Version)
		note(err)
	}
	if err := errors.Join(mistakes...); err != nil {
		return Checked{}, err
	}
	return c, nil
}

// Notes returns the section of a version in the changelog of a commit.
func (r Repository) Notes(ctx context.Context, commit string, v version.Version) (string, error) {
	text, err := r.repo().file(ctx, commit, "CHANGELOG.md")
	if err != nil {
		return "", err
	}
	return changelog.Section(text, v)
}

// newest refuses a commit other than the newest of the branch.
func (r Repository) newest(c Checked) error {
	switch tip := c.references["refs/heads/"+r.Branch].commit; tip {
	case c.Commit:
		return nil
	case "":
		return fmt.Errorf("%s has no branch %q to release from", r.Remote, r.Branch)
	default:
		return fmt.Errorf("commit %s is not the newest of %s, which is %s at %s: push it, or check out the branch", c.Commit, r.Branch, tip, r.Remote)
	}
}

// unused refuses a tag that exists, here or at the remote.
func (r Repository) unused(ctx context.Context, c Checked) error {
	name := "refs/tags/" + c.Version.Tag()
	if c.references[name].object != "" {
		return fmt.Errorf("tag %s exists at %s: release a new version", c.Version.Tag(), r.Remote)
	}
	local, err := r.repo().run(ctx, "", "for-each-ref", "--format=%(refname)", name)
	if err == nil && local != "" {
		err = fmt.Errorf("tag %s exists in this clone: delete it, or release a new version", c.Version.Tag())
	}
	return err
}

// Commit checks a release and its pins, and makes the release's commit without a tag. All mistakes
// are reported at once. The same release makes the same commit.
func (r Repository) Commit(ctx context.Context, tag string, p Pins) (string, error) {
	c, err := r.Check(ctx, tag)
	files, pinErr := r.pin(ctx, cmp.Or(c.Commit, "HEAD"), tag, p)
	if err := errors.Join(err, pinErr); err != nil {
		return "", err
	}
	if err := r.rename(ctx, c, p, files); err != nil {
		return "", err
	}
	return r.commit(ctx, c, files)
}

// Tag makes the release's commit as [Repository.Commit] does, and pushes its tag. Nothing is
// pushed, and no tag made, when a check fails. It returns the commit of the tag.
func (r Repository) Tag(ctx context.Context, tag string, p Pins) (string, error) {
	commit, err := r.Commit(ctx, tag, p)
	if err != nil {
		return "", err
	}
	name := "refs/tags/" + tag
	git := r.repo()
	// The lease refuses a tag that somebody else has pushed since the check.
	if _, err := git.run(ctx, "", "push", "--atomic", "--force-with-lease="+name+":", r.Remote, commit+":"+name); err != nil {
		return "", fmt.Errorf("push %s: %w", tag, err)
	}
	if _, err := git.run(ctx, "", "update-ref", name, commit, ""); err != nil {
		return "", fmt.Errorf("%s is pushed, but not in this clone: %w", tag, err)
	}
	return commit, nil
}

// pin returns the new contents of the pinned files of a commit, by their paths. The files on the
// disk may differ from it, also when git lists no change.
func (r Repository) pin(ctx context.Context, commit, tag string, p Pins) (map[string]string, error) {
	var mistakes []error
	note := func(err error) bool {
		if err != nil {
			mistakes = append(mistakes, err)
		}
		return err == nil
	}
	owner, err := entry.ParseRepository(p.Repository)
	known := note(err)
	image := owner.Image(p.Registry, "foreman-action")
	if note(entry.CheckDigest(p.Digest)) && known && p.Exists != nil {
		note(p.Exists(ctx, image, p.Digest))
	}
	var downloads string
	if known {
		downloads, err = entry.Downloads(p.Server, owner, tag)
		note(err)
	}
	files := map[string]string{}
	change := func(name string, pinned func(text string) (string, error)) {
		text, err := r.repo().file(ctx, commit, name)
		if note(err) {
			files[name], err = pinned(text)
			note(err)
		}
	}
	if entry.CheckDigest(p.Digest) == nil {
		change(entry.ContainerFile, func(text string) (string, error) { return entry.PinImage(text, image, p.Digest) })
	}
	change(entry.SlimFile, func(text string) (string, error) { return entry.PinPrograms(text, downloads, p.Sums) })
	return files, errors.Join(mistakes...)
}

// rename adds the pages of the documentation and the files for deployments, which name the repository
// that releases.
func (r Repository) rename(ctx context.Context, c Checked, p Pins, files map[string]string) error {
	owner, err := entry.ParseRepository(p.Repository)
	if err != nil {
		return err
	}
	git := r.repo()
	list, err := git.run(ctx, "", "ls-tree", "-r", "-z", c.Commit)
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		kind, name, _ := strings.Cut(line, "\t")
		page := path.Ext(name) == ".md" && (path.Dir(name) == "." || strings.HasPrefix(name, "docs/"))
		deployment := strings.HasPrefix(name, entry.DeployFolder+"/")
		if !page && !deployment || !strings.HasPrefix(kind, "100644 ") {
			continue
		}
		before, err := git.file(ctx, c.Commit, name)
		if err != nil {
			return err
		}
		after := entry.Page(before, p.Server, owner)
		if deployment {
			after = entry.Deployment(before, p.Server, p.Registry, c.Version.Tag(), owner)
		}
		if after != before {
			files[name] = after
		}
	}
	return nil
}

// commit makes a commit on top of the released one, without a change to branch, index or files.
// Its time is that of the released one.
func (r Repository) commit(ctx context.Context, c Checked, files map[string]string) (string, error) {
	folder, err := os.MkdirTemp("", "release-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	git := r.repo()
	date, err := git.run(ctx, "", "show", "-s", "--format=%cI", c.Commit)
	if err != nil {
		return "", err
	}
	git.env = append(slices.Clone(git.env), "GIT_INDEX_FILE="+filepath.Join(folder, "index"), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	if _, err := git.run(ctx, "", "read-tree", c.Commit); err != nil {
		return "", err
	}
	for name, text := range files {
		blob, err := git.run(ctx, text, "hash-object", "-w", "--stdin")
		if err != nil {
			return "", err
		}
		if _, err := git.run(ctx, "", "update-index", "--cacheinfo", "100644,"+blob+","+name); err != nil {
			return "", err
		}
	}
	tree, err := git.run(ctx, "", "write-tree")
	if err != nil {
		return "", err
	}
	return git.run(ctx, "", "commit-tree", tree, "-p", c.Commit, "-m", "Release "+c.Version.Tag())
}

// Latest reports whether no newer version has a tag at the remote. The version itself must have one.
func (r Repository) Latest(ctx context.Context, tag string) (bool, error) {
	v, err := version.Parse(tag)
	if err != nil {
		return false, err
	}
	references, err := r.repo().references(ctx, r.Remote)
	if err != nil {
		return false, err
	}
	if references["refs/tags/"+v.Tag()].object == "" {
		return false, fmt.Errorf("%s has no tag %s: tag the release first", r.Remote, v.Tag())
	}
	newer := func(w version.Version) bool { return w.Compare(v) > 0 }
	return !slices.ContainsFunc(versions(references), newer), nil
}

// Move moves v1 and v1.2 to the tag of a version, at the remote and here, all or none. A tag
// that already covers a newer version stays. A version that pins no image and no programs is
// refused. It returns the tags that moved.
func (r Repository) Move(ctx context.Context, tag string) ([]string, error) {
	v, err := version.Parse(tag)
	if err != nil {
		return nil, err
	}
	git := r.repo()
	references, err := git.references(ctx, r.Remote)
	if err != nil {
		return nil, err
	}
	commit := references["refs/tags/"+v.Tag()].commit
	if commit == "" {
		return nil, fmt.Errorf("%s has no tag %s: tag the release first", r.Remote, v.Tag())
	}
	if _, err := git.run(ctx, "", "fetch", "--no-tags", "--quiet", r.Remote, "refs/tags/"+v.Tag()); err != nil {
		return nil, err
	}
	if err := r.pinned(ctx, commit, v); err != nil {
		return nil, fmt.Errorf("%s is no release: %w", v.Tag(), err)
	}
	moving := slices.DeleteFunc(v.Moving(versions(references)), func(t string) bool { return references["refs/tags/"+t].commit == commit })
	if len(moving) == 0 {
		return nil, nil
	}
	args := []string{"push", "--atomic"}
	for _, name := range moving {
		args = append(args, "--force-with-lease=refs/tags/"+name+":"+references["refs/tags/"+name].object)
	}
	args = append(args, r.Remote)
	for _, name := range moving {
		args = append(args, commit+":refs/tags/"+name)
	}
	if _, err := git.run(ctx, "", args...); err != nil {
		return nil, fmt.Errorf("move %s to %s: %w", strings.Join(moving, " and "), v.Tag(), err)
	}
	var updates strings.Builder
	for _, name := range moving {
		fmt.Fprintf(&updates, "update refs/tags/%s %s\n", name, commit)
	}
	if _, err := git.run(ctx, updates.String(), "update-ref", "--stdin"); err != nil {
		return nil, fmt.Errorf("the tags moved at %s, but not in this clone: %w", r.Remote, err)
	}
	return moving, nil
}

// pinned refuses a commit that is not the release of a version.
func (r Repository) pinned(ctx context.Context, commit string, v version.Version) error {
	git := r.repo()
	container, err := git.file(ctx, commit, entry.ContainerFile)
	if err != nil {
		return err
	}
	slim, err := git.file(ctx, commit, entry.SlimFile)
	if err != nil {
		return err
	}
	return entry.CheckPinned(container, slim, v.Tag())
}

// versions returns the versions with a tag.
func versions(references map[string]reference) []version.Version {
	var list []version.Version
	for name := range references {
		if v, err := version.Parse(strings.TrimPrefix(name, "refs/tags/")); err == nil {
			list = append(list, v)
		}
	}
	return list
}
