package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/release/changelog"
	"github.com/org/foreman-action/internal/release/contents"
	"github.com/org/foreman-action/internal/release/entry"
	"github.com/org/foreman-action/internal/release/version"
)

func inspect(ctx context.Context, env Env, o *options, _ string) error {
	sums, err := readSums(o.sums)
	if err != nil {
		return err
	}
	d, err := contents.Open(o.dist)
	if err != nil {
		return err
	}
	n, err := d.Check(ctx, contents.Want{Version: strings.TrimPrefix(o.version, "v"), Programs: sums, Root: o.root, Manual: o.out})
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%d files of the release are complete, and their programs, completions and manual pages are our own\n", n)
	return nil
}

// files inspects the files of a release, and copies them with the formula and a list of checksums to
// -out/files.
func files(ctx context.Context, env Env, o *options, tag string) error {
	if _, err := version.Parse(tag); err != nil {
		return err
	}
	some := *o
	some.version = tag
	if err := inspect(ctx, env, &some, ""); err != nil {
		return err
	}
	return some.copyFiles()
}

// copyFiles copies the files below -dist, which are inspected.
func (o *options) copyFiles() error {
	owner, err := o.releaser()
	if err != nil {
		return err
	}
	downloads, err := entry.Downloads(o.server, owner, o.version)
	if err != nil {
		return err
	}
	d, err := contents.Open(o.dist)
	if err != nil {
		return err
	}
	formula, err := d.Formula(strings.TrimPrefix(o.version, "v"), downloads, strings.TrimRight(o.server, "/")+"/"+owner.String())
	if err != nil {
		return err
	}
	folder := filepath.Join(o.out, "files")
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return d.Copy(folder, map[string]string{"foreman.rb": formula})
}

// rehearse does all of a release that needs neither a network nor a login. With -short only
// linux-amd64 is built, and goreleaser and the linter of workflows are left out.
func rehearse(ctx context.Context, env Env, o *options, _ string) error {
	o.twice = true
	if o.short {
		o.platforms = "linux-amd64"
	}
	steps := []struct {
		name string
		run  func() error
		long bool
	}{
		{"tags and changelog agree", func() error { return agree(ctx, env, o.root) }, false},
		{"build twice, manual, images", func() error { return build(ctx, env, o, "") }, false},
		{"pin", func() error { return o.pinAny(ctx, env) }, true},
		{"goreleaser check", func() error { return o.tool(ctx, env, "goreleaser", "check") }, true},
		{"goreleaser snapshot", func() error {
			return o.tool(ctx, env, "goreleaser", "release", "--snapshot", "--clean", "--parallelism=2")
		}, true},
		{"files of the release", func() error { return inspect(ctx, env, o, "") }, true},
		{"Homebrew formula, copy of the files", o.copyFiles, true},
		{"lint of the workflows", func() error { return o.actionlint(ctx, env) }, true},
	}
	var mistakes []error
	for _, step := range steps {
		if step.long && o.short {
			continue
		}
		fmt.Fprintf(env.Stdout, "== %s\n", step.name)
		if err := step.run(); err != nil {
			fmt.Fprintf(env.Stdout, "%s: %v\n", step.name, err)
			mistakes = append(mistakes, fmt.Errorf("%s: %w", step.name, err))
		}
	}
	return errors.Join(mistakes...)
}

// pinAny pins the built programs and images, for a repository of any name. pin accepts only versions
// without a suffix, so the suffix of a snapshot is left out.
func (o *options) pinAny(ctx context.Context, env Env) error {
	digest, err := os.ReadFile(o.layout("foreman-action") + ".digest")
	if err != nil {
		return err
	}
	some := *o
	some.digest, some.repository = string(digest), o.anyRepository()
	tag, _, _ := strings.Cut(o.version, "-")
	return pin(ctx, env, &some, tag)
}

func (o *options) anyRepository() string { return cmp.Or(o.repository, entry.Default) }

// releaser returns the repository that releases. Only a snapshot needs none: it gets the default,
// which the programs of a release must not name by accident.
func (o *options) releaser() (entry.Repository, error) {
	if strings.HasSuffix(o.version, "-snapshot") {
		return entry.ParseRepository(o.anyRepository())
	}
	if _, err := version.Parse(o.version); err != nil {
		return entry.Repository{}, err
	}
	return entry.ParseRepository(o.repository)
}

// agree compares the tags of versions with the sections of the changelog: each tag has one, and
// each section but the newest has a tag.
func agree(ctx context.Context, env Env, root string) error {
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("git %s: %w", args[0], err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	shallow, err := git("rev-parse", "--is-shallow-repository")
	if err != nil {
		return err
	}
	if shallow == "true" {
		fmt.Fprintln(env.Stdout, "skipped: a shallow clone has no tags")
		return nil
	}
	tags, err := git("tag", "--list", "v*")
	if err != nil {
		return err
	}
	sections := changelog.Versions(string(text))
	var tagged []version.Version
	var mistakes []error
	for name := range strings.FieldsSeq(tags) {
		v, err := version.Parse(name)
		if err != nil {
			continue // v1, v1.2
		}
		tagged = append(tagged, v)
		if !slices.Contains(sections, v) {
			mistakes = append(mistakes, fmt.Errorf("tag %s has no section in CHANGELOG.md", name))
		}
	}
	for i, v := range sections {
		if i > 0 && !slices.Contains(tagged, v) {
			mistakes = append(mistakes, fmt.Errorf("CHANGELOG.md has a section for %s, which has no tag", v))
		}
		if i > 0 && v.Compare(sections[i-1]) >= 0 {
			mistakes = append(mistakes, fmt.Errorf("CHANGELOG.md: %s stands below %s, which is not newer", v, sections[i-1]))
		}
	}
	return errors.Join(mistakes...)
}

// tool runs a tool of internal/release/tools in the root, with all tools of that module in PATH.
func (o *options) tool(ctx context.Context, env Env, name string, args ...string) error {
	var folders []string
	for _, each := range []string{"goreleaser", "cyclonedx-gomod"} {
		path, err := toolPath(ctx, "tools", each)
		if err != nil {
			return err
		}
		folders = append(folders, filepath.Dir(path))
	}
	path := strings.Join(append(folders, os.Getenv("PATH")), string(os.PathListSeparator))
	vars := []string{"PATH=" + path, "RELEASE_VERSION=" + o.version, "GITHUB_REPOSITORY=" + o.anyRepository()}
	remotes := exec.CommandContext(ctx, "git", "remote")
	remotes.Dir = o.root
	if out, err := remotes.Output(); err == nil && len(out) == 0 {
		// Without a remote goreleaser reads no commit, and its files get the time of the run.
		n, _ := strconv.Atoi(os.Getenv("GIT_CONFIG_COUNT"))
		vars = append(vars, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n+1), fmt.Sprintf("GIT_CONFIG_KEY_%d=remote.origin.url", n),
			fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s/%s", n, o.server, o.anyRepository()))
	}
	return o.exec(ctx, env, vars, filepath.Join(folders[0], name), args...)
}

func (o *options) actionlint(ctx context.Context, env Env) error {
	path, err := toolPath(ctx, "../e2e", "actionlint")
	if err != nil {
		return err
	}
	return o.exec(ctx, env, nil, path)
}

// toolPath builds a tool of a module and returns the path of its program.
func toolPath(ctx context.Context, module, name string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "-C", module, "tool", "-n", name)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("build %s: %w: %s", name, err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

func (o *options) exec(ctx context.Context, env Env, vars []string, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = o.root
	cmd.Env = append(os.Environ(), vars...)
	cmd.Stdout, cmd.Stderr = env.Stdout, env.Stderr
	return cmd.Run()
}
