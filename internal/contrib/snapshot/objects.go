package snapshot

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git's hash
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/git"
	"github.com/org/foreman-action/internal/text"
)

// Git does not compare objects with their hashes when it reads files, folders and the history.
// Whoever can write to the clone's folder .git can give an object of the base another content, and
// so hide a part of the change from its review. [Scratch.Objects] makes this comparison.

// Objects returns the contents of objects by their hashes. names are hashes, or revisions such as
// HASH^{tree}. Objects skips hashes of zeros, which stand for a missing file. If a content does not
// have its hash, the error is a [contract.Problem]. The caller must have checked the sizes of files
// by [Snapshot.Patch] or [Snapshot.Sizes].
func (s *Scratch) Objects(ctx context.Context, names []string) (map[string][]byte, error) {
	names = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(names))), none)
	objects := make(map[string][]byte, len(names))
	if len(names) == 0 {
		return objects, nil
	}
	out := limited{left: maxPatch}
	err := s.Repo.Stream(ctx, git.Streams{In: strings.NewReader(strings.Join(names, "\n") + "\n"), Out: &out}, "cat-file", "--batch=%(objectname) %(objecttype) %(objectsize)")
	if err != nil {
		return nil, Problem(err)
	}
	rest := out.buf.Bytes()
	for range names {
		header, after, _ := bytes.Cut(rest, []byte("\n"))
		hash, about, _ := strings.Cut(string(header), " ")
		_, length, _ := strings.Cut(about, " ")
		size, err := strconv.Atoi(length)
		if err != nil || size < 0 || size >= len(after) { // a line break follows
			return nil, s.clone.Unreadable(fmt.Errorf("git cat-file printed %q", text.Quote(string(header))))
		}
		objects[hash], rest = after[:size], after[size+1:]
		sum := sha1.New() //nolint:gosec // git's hash
		fmt.Fprintf(sum, "%s\x00%s", about, objects[hash])
		if hex.EncodeToString(sum.Sum(nil)) != hash {
			return nil, s.clone.Mismatch("the object %.12s in %s/.git has another content than its hash says", hash, s.clone.Name)
		}
	}
	return objects, nil
}

// verify compares the objects that differ between the base and the tree of the change with their
// hashes.
func (s *Snapshot) verify(ctx context.Context) error {
	out, err := s.Repo.Run(ctx, "diff-tree", "-r", "-t", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none", s.Base, s.Tree, "--")
	if err != nil {
		return Problem(err)
	}
	changes, err := git.ParseRaw(out)
	if err != nil {
		return err
	}
	names := []string{s.Base, s.Base + "^{tree}", s.Tree}
	for _, c := range changes {
		for _, side := range [][2]string{{c.OldMode, c.OldBlob}, {c.Mode, c.Blob}} {
			if side[0] != git.ModeSubmodule {
				names = append(names, side[1])
			}
		}
	}
	_, err = s.Objects(ctx, names)
	return err
}

// Before reports whether a commit is tip or one of its ancestors.
func (s *Scratch) Before(ctx context.Context, commit, tip string) (bool, error) {
	if commit == tip {
		return true, nil
	}
	out, err := s.Repo.Run(ctx, "rev-list", "--ancestry-path", "--end-of-options", commit+".."+tip)
	if err != nil { // the clone may not have the commit
		return false, ctx.Err()
	}
	const most = 10_000 // whose contents are in memory
	for some := range slices.Chunk(append(strings.Fields(string(out)), tip), most) {
		if _, err := s.Objects(ctx, some); err != nil {
			return false, err
		}
	}
	return len(out) > 0, nil
}

// limited is a buffer with a limit; a write beyond it fails.
type limited struct {
	buf  bytes.Buffer
	left int
}

var errFull = errors.New("the output exceeds its limit")

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errFull
	}
	return l.buf.Write(p)
}

// none reports whether a hash consists of zeros, which means that there is no object.
func none(hash string) bool { return strings.Trim(hash, "0") == "" }
