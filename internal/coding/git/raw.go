package git

import (
	"bytes"
	"fmt"
	"strings"
)

// The modes of files in git's trees.
const (
	ModeFile       = "100644"
	ModeExecutable = "100755"
	ModeLink       = "120000"
	ModeSubmodule  = "160000"
	ModeFolder     = "040000"
)

// A Raw is a path that differs between two trees.
type Raw struct {
	OldMode, Mode string // "000000": the file does not exist
	OldBlob, Blob string // hashes
	Status        string // A, M, D or T; R or C with the similarity in percent, such as R100
	Path          string // may contain any byte but NUL
	From          string // earlier path of a renamed file, original of a copied file; else empty
}

// ParseRaw parses the output of git diff-tree and git log with --raw -z --no-abbrev.
func ParseRaw(out []byte) ([]Raw, error) {
	list, rest, err := CutRaw(out)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("read the changed paths: %.80q is not an entry", rest)
	}
	return list, err
}

// CutRaw parses the entries at the start of out, and returns the output after them.
func CutRaw(out []byte) (list []Raw, rest []byte, err error) {
	const fields = 5 // mode and blob before, mode and blob after, status
	for {
		out = bytes.TrimLeft(out, "\n") // git log prints line breaks between commits
		if len(out) == 0 || out[0] != ':' {
			return list, out, nil
		}
		about, behind, ok := bytes.Cut(out[1:], []byte{0})
		parts := strings.Fields(string(about))
		if !ok || len(parts) != fields {
			return nil, nil, fmt.Errorf("read the changed paths: %.80q is not an entry", out)
		}
		r := Raw{OldMode: parts[0], Mode: parts[1], OldBlob: parts[2], Blob: parts[3], Status: parts[4]}
		names := []*string{&r.Path}
		if strings.ContainsAny(r.Status[:1], "RC") {
			names = []*string{&r.From, &r.Path}
		}
		for _, name := range names {
			text, after, ok := bytes.Cut(behind, []byte{0})
			if !ok || len(text) == 0 {
				return nil, nil, fmt.Errorf("read the changed paths: the entry %.80q has no path", about)
			}
			*name, behind = string(text), after
		}
		list, out = append(list, r), behind
	}
}

// Leaves reports whether the target of the link name is outside the tree, or may be. In a target
// such as x/.., x may be a link itself, so ".." may lead anywhere. A target in ".git" counts as
// outside.
func Leaves(name, target string) bool {
	if target == "" || strings.HasPrefix(target, "/") || strings.ContainsAny(target, "\\\x00") || len(target) > 1 && target[1] == ':' {
		return true
	}
	up, down := 0, false
	for part := range strings.SplitSeq(target, "/") {
		switch {
		case part == "" || part == ".":
		case part == ".." && down, strings.EqualFold(part, ".git"):
			return true
		case part == "..":
			up++
		default:
			down = true
		}
	}
	return up > strings.Count(name, "/")
}
