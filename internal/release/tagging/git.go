package tagging

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// A repo runs git in a folder, as the user's own git.
type repo struct {
	dir string
	env []string // more variables
}

// run returns the output of a command of git without its last line break.
func (r repo) run(ctx context.Context, stdin string, args ...string) (string, error) {
	out, err := r.output(ctx, stdin, args...)
	return strings.TrimSuffix(out, "\n"), err
}

// file returns a file of a commit.
func (r repo) file(ctx context.Context, commit, name string) (string, error) {
	return r.output(ctx, "", "show", commit+":"+name)
}

func (r repo) output(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"), r.env...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// A reference is a branch or a tag at a remote.
type reference struct {
	object string // its id: of a commit or, for a tag with a message, of the tag itself
	commit string
}

// references returns the references of a remote by their names, such as refs/tags/v1.
func (r repo) references(ctx context.Context, remote string) (map[string]reference, error) {
	out, err := r.run(ctx, "", "ls-remote", "--heads", "--tags", remote)
	if err != nil {
		return nil, fmt.Errorf("list the tags of %s: %w", remote, err)
	}
	refs := map[string]reference{}
	for line := range strings.Lines(out) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if tag, ok := strings.CutSuffix(name, "^{}"); ok { // follows the line of the tag with a message
			refs[tag] = reference{refs[tag].object, id}
		} else {
			refs[name] = reference{id, id}
		}
	}
	return refs, nil
}
