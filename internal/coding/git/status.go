package git

import (
	"bytes"
	"context"
	"fmt"
)

// A Change is a file that differs from HEAD, or is not tracked.
type Change struct {
	Path string // from the root of the working tree, with slashes; any bytes but NUL
	From string // earlier path of a renamed file, or the original of a copied file; else empty
	Code string // two letters of git status: state in the index, state in the working tree
}

// Status returns the changes in the working tree. It ignores changes within submodules. With all,
// it lists every untracked file. Without all, it lists an untracked folder as one path that ends
// in a slash.
func (r Repo) Status(ctx context.Context, all bool) ([]Change, error) {
	untracked := "--untracked-files=normal"
	if all {
		untracked = "--untracked-files=all"
	}
	// To look into a submodule, git would read its configuration, which is untrusted.
	out, err := r.Run(ctx, "status", "--porcelain=v1", "-z", "--renames", "--ignore-submodules=dirty", untracked)
	if err != nil {
		return nil, err
	}
	return parseStatus(out)
}

// parseStatus parses the output of git status -z. Each file has two letters, a space, its path and
// a NUL. A renamed or copied file is followed by its earlier path and a NUL.
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
