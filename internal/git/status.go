package git

import (
	"bytes"
	"context"
	"fmt"
)

// A Change is a file that differs from HEAD, or is not tracked.
type Change struct {
	Path string // from the root of the working tree, with slashes; any bytes but NUL
	From string // of a renamed or copied file, where it came from; else empty
	Code string // two letters, as git status has them: of the index and of the working tree
}

// Status returns the changes in the working tree. Changes within submodules are left out.
// With all, files in folders that are not tracked are listed, else only the folders, whose
// paths end in a slash.
func (r Repo) Status(ctx context.Context, all bool) ([]Change, error) {
	untracked := "--untracked-files=normal"
	if all {
		untracked = "--untracked-files=all"
	}
	// Git would read the configuration of a submodule to look into it.
	out, err := r.Run(ctx, "status", "--porcelain=v1", "-z", "--renames", "--ignore-submodules=dirty", untracked)
	if err != nil {
		return nil, err
	}
	return parseStatus(out)
}

// parseStatus parses the output of git status -z: for each file two letters, a space, the path
// and a NUL; a renamed or copied file is followed by its earlier path and a NUL.
func parseStatus(out []byte) ([]Change, error) {
	var list []Change
	for len(out) > 0 {
		entry, rest, ok := bytes.Cut(out, []byte{0})
		if !ok || len(entry) < 4 || entry[2] != ' ' {
			return nil, fmt.Errorf("git status: cannot read the entry %.80q", entry)
		}
		c := Change{Path: string(entry[3:]), Code: string(entry[:2])}
		if bytes.ContainsAny(entry[:2], "RC") {
			from, behind, ok := bytes.Cut(rest, []byte{0})
			if !ok || len(from) == 0 {
				return nil, fmt.Errorf("git status: the entry %.80q lacks its earlier path", entry)
			}
			c.From, rest = string(from), behind
		}
		list, out = append(list, c), rest
	}
	return list, nil
}
