package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/text"
)

// Changes returns the paths that differ between two trees or commits.
func (s *Snapshot) Changes(ctx context.Context, from, to string) ([]git.Raw, error) {
	out, err := s.Repo.Run(ctx, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--find-renames", "-l1000", "--ignore-submodules=none", from, to, "--")
	if err != nil {
		return nil, Problem(err)
	}
	return git.ParseRaw(out)
}

// History returns the paths that each commit between the base and the workspace's HEAD changes,
// compared with the commit's parents.
func (s *Snapshot) History(ctx context.Context) ([]git.Raw, error) {
	if s.Head == s.Base {
		return nil, nil
	}
	out, err := s.Repo.Run(ctx, "log", "--format=", "--raw", "-z", "--no-abbrev", "--no-renames", "-m", "--root", "--ignore-submodules=none", s.Base+".."+s.Head, "--")
	if err != nil {
		return nil, Problem(err)
	}
	return git.ParseRaw(out)
}

// Patch returns the change as git apply takes it, and the changed paths. It does not depend
// on the configuration of git, nor on the attributes of files.
func (s *Snapshot) Patch(ctx context.Context) (patch []byte, changes []git.Raw, err error) {
	if changes, err = s.Changes(ctx, s.Base, s.Tree); err != nil || len(changes) == 0 {
		return nil, nil, err
	}
	if err := s.blobsFit(ctx, changes); err != nil {
		return nil, nil, err
	}
	if err := s.verify(ctx); err != nil {
		return nil, nil, err
	}
	patch, err = s.Repo.Run(ctx, "diff-tree", "-r", "-p", "--binary", "--full-index", "--find-renames", "-l1000",
		"--src-prefix=a/", "--dst-prefix=b/", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--unified=3", "--inter-hunk-context=0",
		"--diff-algorithm=myers", "--indent-heuristic", "--submodule=short", "--ignore-submodules=none", s.Base, s.Tree, "--")
	if errors.Is(err, git.ErrTooLarge) {
		return nil, nil, s.tooLarge("the patch has more than %d MB", git.MaxOutput>>20)
	}
	return patch, changes, Problem(err)
}

// Digest returns the SHA-256 of the base and the patch, in hexadecimal.
func (s *Snapshot) Digest(patch []byte) string {
	h := sha256.New()
	io.WriteString(h, s.Base) //nolint:errcheck // a hash has no errors
	h.Write(patch)
	return hex.EncodeToString(h.Sum(nil))
}

// blobsFit checks the sizes of the files before and after a change.
func (s *Snapshot) blobsFit(ctx context.Context, changes []git.Raw) error {
	if len(changes) > maxFiles {
		return s.tooLarge("%d files are changed; a patch may have at most %d", len(changes), maxFiles)
	}
	sizes, err := s.Sizes(ctx, changes)
	if err != nil {
		return err
	}
	total := int64(0)
	for _, c := range changes {
		for _, blob := range []string{c.OldBlob, c.Blob} {
			if err := s.add(&total, c.Path, sizes[blob]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sizes returns the sizes in bytes of the files before and after changes. The keys are the hashes
// of the files.
func (s *Snapshot) Sizes(ctx context.Context, changes []git.Raw) (map[string]int64, error) {
	sizes := map[string]int64{}
	var list strings.Builder
	for _, c := range changes {
		for _, side := range [][2]string{{c.OldMode, c.OldBlob}, {c.Mode, c.Blob}} {
			if _, known := sizes[side[1]]; !known && strings.HasPrefix(side[0], "1") && side[0] != git.ModeSubmodule {
				sizes[side[1]] = 0
				list.WriteString(side[1] + "\n")
			}
		}
	}
	if len(sizes) == 0 {
		return sizes, nil
	}
	var out bytes.Buffer
	err := s.Repo.Stream(ctx, git.Streams{In: strings.NewReader(list.String()), Out: &out}, "cat-file", "--batch-check=%(objectname) %(objectsize)")
	if err != nil {
		return nil, Problem(err)
	}
	for line := range strings.Lines(out.String()) {
		hash, size, _ := strings.Cut(strings.TrimSpace(line), " ")
		if sizes[hash], err = strconv.ParseInt(size, 10, 64); err != nil {
			return nil, fmt.Errorf("read the size of a file: git cat-file printed %q", text.Quote(line))
		}
	}
	return sizes, nil
}
