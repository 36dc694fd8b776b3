package git

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git's hash
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
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

// ErrForged is the error for an object whose content does not have its hash. Git itself does not
// compare them when it reads files, folders and the history. Whoever can write to the folder of the
// objects can give an object another content, and so hide a part of a change.
var ErrForged = errors.New("its content does not have its hash")

// Objects reads objects and compares them with their hashes. names are hashes, or revisions such as
// HASH^{tree}; hashes of zeros, which stand for a missing file, are skipped. Objects calls visit
// for each name.
func (r Repo) Objects(ctx context.Context, names []string, visit func(hash string, content []byte)) error {
	names = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(names))), func(name string) bool { return strings.Trim(name, "0") == "" })
	if len(names) == 0 {
		return nil
	}
	out, in := io.Pipe()
	var failed error // of git, once it has ended
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		failed = r.Stream(ctx, Streams{In: strings.NewReader(strings.Join(names, "\n") + "\n"), Out: in}, "cat-file", "--batch=%(objectname) %(objecttype) %(objectsize)")
		in.CloseWithError(failed)
	}()
	lines := bufio.NewReader(out)
	for _, name := range names {
		hash, content, err := readObject(lines)
		if err != nil {
			out.Close() // ends git
			<-ended
			return fmt.Errorf("read the object %.80q: %w", name, err)
		}
		visit(hash, content)
	}
	<-ended
	return failed
}

// readObject reads an object that cat-file prints.
func readObject(from *bufio.Reader) (name string, content []byte, err error) {
	header, err := from.ReadString('\n')
	if err != nil {
		return "", nil, err
	}
	name, about, _ := strings.Cut(strings.TrimSuffix(header, "\n"), " ")
	_, length, _ := strings.Cut(about, " ")
	size, err := strconv.ParseInt(length, 10, 64)
	if err != nil {
		return "", nil, fmt.Errorf("git cat-file printed %.80q", header)
	}
	if size > MaxOutput {
		return "", nil, ErrTooLarge
	}
	var buf bytes.Buffer
	if _, err := io.CopyN(&buf, from, size); err != nil {
		return "", nil, err
	}
	if _, err := from.Discard(1); err != nil { // a line break
		return "", nil, err
	}
	hash := sha1.New
	if len(name) == hex.EncodedLen(sha256.Size) {
		hash = sha256.New
	}
	sum := hash()
	fmt.Fprintf(sum, "%s\x00%s", about, buf.Bytes())
	if hex.EncodeToString(sum.Sum(nil)) != name {
		return "", nil, ErrForged
	}
	return name, buf.Bytes(), nil
}

// IsAncestor reports whether a commit, a hash, is tip or one of its ancestors. It compares the commits
// between them with their hashes, which git merge-base does not.
func (r Repo) IsAncestor(ctx context.Context, commit, tip string) (bool, error) {
	newest, err := r.Run(ctx, "rev-parse", "--verify", "--end-of-options", tip)
	if err != nil {
		return false, err
	}
	if tip = strings.TrimSpace(string(newest)); tip == commit {
		return true, nil
	}
	out, err := r.Run(ctx, "rev-list", "--ancestry-path", "--end-of-options", commit+".."+tip)
	if err != nil {
		return false, err
	}
	if err := r.Objects(ctx, append(strings.Fields(string(out)), tip), func(string, []byte) {}); err != nil {
		return false, err
	}
	return len(out) > 0, nil
}
