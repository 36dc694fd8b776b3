package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// ErrNoCommit is the error for a name that is not a commit of the repository.
var ErrNoCommit = errors.New("there is no such commit")

// Resolve returns the hash of the commit that a branch, a tag or a revision names. The error is
// [ErrNoCommit] if there is no such commit.
func (r Repo) Resolve(ctx context.Context, rev string) (string, error) {
	if rev == "" || strings.HasPrefix(rev, "-") || strings.ContainsRune(rev, 0) {
		return "", fmt.Errorf("resolve %q: %w", rev, ErrNoCommit)
	}
	out, err := r.Run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return "", fmt.Errorf("resolve %q: %w", rev, ErrNoCommit)
	}
	if err != nil {
		return "", err
	}
	return string(bytes.TrimSpace(out)), nil
}

// Diff returns the changes from the merge base of two commits to the second commit, as text: only
// complete lines, at most limit bytes. truncated reports that the diff is longer. base and head
// are hashes, from [Repo.Resolve].
func (r Repo) Diff(ctx context.Context, base, head string, limit int) (diff []byte, truncated bool, err error) {
	out, over, err := r.run(ctx, limit, []string{
		"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--find-renames", "--unified=3",
		"--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=dirty",
		base + "..." + head, "--",
	})
	if over {
		out = out[:bytes.LastIndexByte(out, '\n')+1]
	}
	return out, over, err
}
