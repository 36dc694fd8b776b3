// Package command is the command table of the release program.
package command

import (
	"cmp"
	"context"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/release/tagging"
)

// An Env is the surroundings of one run.
type Env struct {
	Getenv         func(string) string
	Stdout, Stderr io.Writer
}

// A verb is one command: the argument that it takes, and its work.
type verb struct {
	argument string // its name; empty: it takes none
	purpose  string
	run      func(context.Context, Env, *options, string) error
}

// The options of all verbs; each reads those that it needs.
type options struct {
	root, remote, branch, repository, server, registry string
	out, digest, sums, version, dist                   string
	platforms                                          string
	twice, cold, short                                 bool
}

func verbs() map[string]verb {
	return map[string]verb{
		"check":    {"TAG", "refuse a release whose tag, tree or changelog is wrong", check},
		"notes":    {"TAG", "print the changelog's section of a version", notes},
		"build":    {"", "build the programs, their manual and the images into -out", build},
		"load":     {"", "build the image of the server, and load it into Docker as foremand:VERSION", load},
		"push":     {"TAG", "check, push the images below -out to the registry, and print the digest of the action's", push},
		"commit":   {"TAG", "check, pin, make the commit of the tag without a tag, and print it", commit},
		"tag":      {"TAG", "check, pin the image and the programs, and push the tag of the version", tag},
		"pin":      {"TAG", "write action.yml and slim/action.yml to -out/pinned, as a tag has them", pin},
		"move":     {"TAG", "move v1 and v1.2 to a version", move},
		"inspect":  {"", "check every file of a release below -dist", inspect},
		"files":    {"TAG", "inspect, and copy the files below -dist, the Homebrew formula and the checksums to -out/files", files},
		"compare":  {"", "compare the files of a draft, downloaded to -dist, with the checksums -sums", compare},
		"latest":   {"TAG", "print whether no newer version has a tag: true or false", latest},
		"rehearse": {"", "check all that a release does, without one", rehearse},
	}
}

// Run runs the command that args name.
func Run(ctx context.Context, env Env, args []string) error {
	names := []string{"check", "notes", "build", "load", "commit", "push", "pin", "tag", "inspect", "files", "compare", "latest", "move", "rehearse"}
	if len(args) == 0 {
		for _, name := range names {
			fmt.Fprintf(env.Stderr, "release %-8s [flags] %-3s  %s\n", name, verbs()[name].argument, verbs()[name].purpose)
		}
		return fmt.Errorf("name a command: %s", strings.Join(names, ", "))
	}
	v, ok := verbs()[args[0]]
	if !ok {
		return fmt.Errorf("unknown command %q: want one of %s", args[0], strings.Join(names, ", "))
	}
	var o options
	f := flag.NewFlagSet("release "+args[0], flag.ContinueOnError)
	f.SetOutput(env.Stderr)
	f.StringVar(&o.root, "root", "../..", "the `folder` of the repository")
	f.StringVar(&o.remote, "remote", "origin", "the `remote` that the tags are pushed to")
	f.StringVar(&o.branch, "branch", "main", "the `branch` of the remote whose newest commit is released")
	f.StringVar(&o.repository, "repository", env.Getenv("GITHUB_REPOSITORY"), "the repository that releases, as `owner/name`")
	f.StringVar(&o.server, "server", cmp.Or(env.Getenv("GITHUB_SERVER_URL"), "https://github.com"), "the `address` of its server")
	f.StringVar(&o.registry, "registry", "ghcr.io", "the `host` of the images")
	f.StringVar(&o.out, "out", "", "the `folder` of what build makes, which it empties; default bin/release below -root")
	f.StringVar(&o.dist, "dist", "", "the `folder` of what goreleaser makes; default dist below -root")
	f.StringVar(&o.digest, "digest", "", "the `digest` of the action's image")
	f.StringVar(&o.sums, "sums", "", "the `file` with the checksums of the programs; default checksums.txt in -out")
	f.StringVar(&o.version, "version", "v0.0.0-snapshot", "the `version` that the programs print")
	f.StringVar(&o.platforms, "platforms", "all", "`platforms` to build for, such as linux-amd64,darwin-arm64")
	f.BoolVar(&o.twice, "twice", false, "build in another folder, too, and compare")
	f.BoolVar(&o.cold, "cold", false, "compile the second build from nothing")
	f.BoolVar(&o.short, "short", false, "leave out goreleaser and the workflows")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	o.out = cmp.Or(o.out, filepath.Join(o.root, "bin", "release"))
	o.dist = cmp.Or(o.dist, filepath.Join(o.root, "dist"))
	o.sums = cmp.Or(o.sums, filepath.Join(o.out, "checksums.txt"))
	switch {
	case v.argument == "" && f.NArg() > 0:
		return fmt.Errorf("%s: unexpected argument %q", args[0], f.Arg(0))
	case v.argument != "" && f.NArg() != 1:
		return fmt.Errorf("%s: want one %s after the flags, got %d", args[0], v.argument, f.NArg())
	}
	return v.run(ctx, env, &o, f.Arg(0))
}

func (o *options) git(env Env) tagging.Repository {
	return tagging.Repository{Dir: o.root, Remote: o.remote, Branch: o.branch, Env: login(env, o.server)}
}

// login returns variables with which git sends GITHUB_TOKEN to the server of the repository, and to
// no other. The token stands in no file and in no argument.
func login(env Env, server string) []string {
	token := env.Getenv("GITHUB_TOKEN")
	if token == "" {
		return nil
	}
	n, _ := strconv.Atoi(env.Getenv("GIT_CONFIG_COUNT"))
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
	return []string{
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", n+1),
		fmt.Sprintf("GIT_CONFIG_KEY_%d=http.%s/.extraheader", n, strings.TrimRight(server, "/")),
		fmt.Sprintf("GIT_CONFIG_VALUE_%d=Authorization: Basic %s", n, basic),
	}
}
