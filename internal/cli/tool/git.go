package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/org/foreman-action/internal/cli/envelope"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/handoff"
)

// The codes of problems with git.
const (
	codeGit        = "git_error"
	codeUnknownRef = "unknown_ref"
)

// A file is one that differs from HEAD, or is not tracked.
type file struct {
	Path   string `json:"path"`
	Status string `json:"status"`         // as git status --porcelain prints it, without spaces
	From   string `json:"from,omitempty"` // of a renamed or copied file
}

// changedFiles lists the files of the working tree that changed.
func changedFiles(ctx context.Context, repo git.Repo) ([]file, error) {
	changes, err := repo.Status(ctx, false)
	list := make([]file, 0, len(changes))
	for _, c := range changes {
		list = append(list, file{c.Path, strings.TrimSpace(c.Code), c.From})
	}
	return list, err
}

// gitStatus lists the files of the working tree that changed.
func gitStatus(ctx context.Context, c call) (any, int) {
	list, err := changedFiles(ctx, c.repo)
	if err != nil {
		return failed(gitProblem(err))
	}
	return struct {
		OK    bool   `json:"ok"`
		Files []file `json:"files"`
	}{true, list}, command.ExitOK
}

func gitProblem(err error) *handoff.Problem {
	return &handoff.Problem{Path: envelope.Tool, Code: codeGit, Message: err.Error()}
}

// The limits of a diff, in bytes.
const (
	defaultDiff = 1 << 20
	maxDiff     = 10 << 20
)

// gitDiff returns the changes of the commits since a base.
func gitDiff(ctx context.Context, c call) (any, int) {
	limit := defaultDiff
	if raw, there := c.in["max_bytes"]; there {
		if err := json.Unmarshal(raw, &limit); err != nil || limit < 1 || limit > maxDiff {
			return failed(&handoff.Problem{Path: "max_bytes", Code: handoff.CodeType, Message: fmt.Sprintf("max_bytes must be a whole number from 1 to %d", maxDiff)})
		}
	}
	base, there, problem := c.in.Text("baseRef")
	if problem != nil {
		return failed(problem)
	}
	// A checkout in a workflow has only one local branch, so also try the remote one.
	candidates := []string{base, "origin/" + base}
	if !there {
		candidates = []string{"main", "origin/main", "origin/HEAD"}
	}
	base, from, err := resolve(ctx, c.repo, candidates)
	if errors.Is(err, git.ErrNoCommit) {
		return failed(&handoff.Problem{Path: "baseRef", Code: codeUnknownRef, Message: fmt.Sprintf(
			"baseRef must name a commit, and %s does not; is it fetched (actions/checkout with fetch-depth: 0)?", strings.Join(candidates, " or "))})
	}
	if err != nil {
		return failed(gitProblem(err))
	}
	head, err := c.repo.Resolve(ctx, "HEAD")
	if err != nil {
		return failed(gitProblem(err))
	}
	diff, truncated, err := c.repo.Diff(ctx, from, head, limit)
	if err != nil {
		return failed(gitProblem(err))
	}
	return struct {
		OK        bool   `json:"ok"`
		Diff      string `json:"diff"`
		Base      string `json:"base"`
		Truncated bool   `json:"truncated"`
	}{true, string(diff), base, truncated}, command.ExitOK
}

// resolve returns the first of several names that is a commit, with its hash.
func resolve(ctx context.Context, repo git.Repo, names []string) (name, hash string, err error) {
	for _, name = range names {
		if hash, err = repo.Resolve(ctx, name); !errors.Is(err, git.ErrNoCommit) {
			break
		}
	}
	return name, hash, err
}
