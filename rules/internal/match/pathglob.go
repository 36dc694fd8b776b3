package match

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// A PathGlob contains the folders of a glob, split at each "**", which stands for zero or more
// folders. "*" and "?" stay within a folder, as in [path.Match].
type PathGlob [][]string

const anyFolders = "**"

// NewPathGlob splits a glob. One that ends with "/" stands for everything below that folder.
func NewPathGlob(glob string) PathGlob {
	if strings.HasSuffix(glob, "/") {
		glob += anyFolders
	}
	g := PathGlob{nil}
	for folder := range strings.SplitSeq(glob, "/") {
		if folder == anyFolders {
			g = append(g, nil)
			continue
		}
		g[len(g)-1] = append(g[len(g)-1], folder)
	}
	return g
}

// AnyPath reports whether one of the globs matches a path. work is the number of folders that were
// compared; long names compared with "*" count more.
func AnyPath(globs []PathGlob, path []string) (hit bool, work int) {
	for _, g := range globs {
		if work++; g.match(path, &work) {
			return true, work
		}
	}
	return false, work
}

// match reports whether the glob matches a path. The first piece must match at the start and the
// last at the end. The pieces between them must follow in order; each is matched as early as
// possible.
func (g PathGlob) match(path []string, work *int) bool {
	first, last := g[0], g[len(g)-1]
	if len(g) == 1 {
		return len(path) == len(first) && sameFolders(first, path, work)
	}
	if len(path) < len(first)+len(last) || !sameFolders(first, path, work) || !sameFolders(last, path[len(path)-len(last):], work) {
		return false
	}
	path = path[len(first) : len(path)-len(last)]
	for _, piece := range g[1 : len(g)-1] {
		for ; ; path = path[1:] {
			if len(path) < len(piece) {
				return false
			}
			if sameFolders(piece, path, work) {
				break
			}
		}
		path = path[len(piece):]
	}
	return true
}

// sameFolders reports whether the beginning of a path matches a piece of a glob.
func sameFolders(piece, folders []string, work *int) bool {
	for i, p := range piece {
		*work++
		if !strings.ContainsAny(p, `*?[\`) {
			if p != folders[i] {
				return false
			}
			continue
		}
		*work += len(p) * len(folders[i]) / 32 // no extra work for names of ordinary length
		if ok, err := path.Match(p, folders[i]); !ok || err != nil {
			return false
		}
	}
	return true
}

// globBraces matches alternatives as in other glob languages, such as *.{js,ts}.
var globBraces = regexp.MustCompile(`(^|[^\\])\{[^{}]*,[^{}]*\}`)

// PathGlobMistake returns why a glob matches no file; "" when it may match one.
func PathGlobMistake(glob string) string {
	_, err := path.Match(glob, "")
	root := strings.TrimPrefix(strings.TrimPrefix(glob, "."), "/")
	switch {
	case glob == "":
		return `all files are "**"`
	case strings.HasPrefix(glob, "!"):
		return "! does not exclude files; write not any_file(...)"
	case strings.HasPrefix(glob, "/") || strings.HasPrefix(glob, "./"):
		return fmt.Sprintf("paths start at the repository's root, without a slash: %q", root)
	case globBraces.MatchString(glob):
		return `braces have no special meaning; write several globs, "*.js", "*.ts"`
	case err != nil:
		return "a bracket is not closed, or the last character is a backslash"
	}
	for folder := range strings.SplitSeq(glob, "/") {
		if folder != anyFolders && strings.Contains(folder, anyFolders) {
			return fmt.Sprintf("** stands for whole folders; write %q", strings.ReplaceAll(glob, folder, "**/"+strings.ReplaceAll(folder, "**", "*")))
		}
	}
	return ""
}
