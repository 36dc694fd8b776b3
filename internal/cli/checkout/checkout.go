// Package checkout finds the repository on GitHub whose checkout a folder is.
package checkout

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/coding/git"
)

// onGitHub matches the address of a GitHub repository in git's configuration.
var onGitHub = regexp.MustCompile(`^(?:https://(?:[^/@]*@)?github\.com/|(?:ssh://)?git@github\.com[:/])([A-Za-z0-9-]+/[A-Za-z0-9._-]+?)(?:\.git)?/?$`)

// Origin returns the GitHub repository of git's remote "origin" in a folder, as "owner/name"; empty: there is none.
func Origin(ctx context.Context, env process.Env, dir string) string {
	if m := onGitHub.FindStringSubmatch(OriginURL(ctx, env, dir)); m != nil {
		return m[1]
	}
	return ""
}

// OriginURL returns the address of git's remote "origin" in a folder; empty: there is none.
func OriginURL(ctx context.Context, env process.Env, dir string) string {
	repo := git.Repo{Dir: dir, Environ: env.Environ(), Limit: 10 * time.Second}
	out, err := repo.Run(ctx, "config", "--local", "--no-includes", "--get", "remote.origin.url")
	if err != nil {
		return "" // there is no git, or no such remote
	}
	return strings.TrimSpace(string(out))
}

// OfOther reports whether a folder is known to be a checkout of other repositories than repo: by the variable
// GITHUB_REPOSITORY, and by git's remote "origin". It is false if neither names a repository.
func OfOther(ctx context.Context, env process.Env, dir, repo string) bool {
	known := false
	for _, name := range []string{env.Getenv("GITHUB_REPOSITORY"), Origin(ctx, env, dir)} {
		if strings.EqualFold(name, repo) {
			return false
		}
		known = known || name != ""
	}
	return known
}
