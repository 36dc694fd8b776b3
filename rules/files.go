package rules

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/expr-lang/expr/ast"
)

// anyFile is any_file(glob, ...).
func anyFile(args ...any) (any, error) {
	return eachFile(args, func(hits, files int) bool { return hits > 0 })
}

// allFiles is all_files(glob, ...); a pull request without files has none that match.
func allFiles(args ...any) (any, error) {
	return eachFile(args, func(hits, files int) bool { return files > 0 && hits == files })
}

// eachFile counts the changed files that match one of the globs.
func eachFile(args []any, holds func(hits, files int) bool) (any, error) {
	r := arg[*run](args, 0)
	l, err := r.lookup()
	if err != nil {
		return nil, err
	}
	files, err := l.Files()
	if err != nil {
		return nil, err
	}
	hits, globs := 0, make([]fileGlob, len(args)-1)
	for i, g := range args[1:] {
		glob, _ := g.(string)
		globs[i] = newFileGlob(glob)
	}
	for _, file := range files {
		hit, work := matchesAny(globs, strings.Split(file, "/"))
		if err := r.step(1 + len(file)/bytesPerStep + work/foldersPerStep); err != nil {
			return nil, err
		}
		if hit {
			hits++
		}
	}
	return holds(hits, len(files)), nil
}

// A fileGlob is the folders of a glob between "**", which stand for any number of
// folders, none included. "*" and "?" stay within a folder, as path.Match has them.
type fileGlob [][]string

const anyFolders = "**"

// newFileGlob takes a glob apart; one that ends with "/" stands for everything below that
// folder.
func newFileGlob(glob string) fileGlob {
	if strings.HasSuffix(glob, "/") {
		glob += anyFolders
	}
	g := fileGlob{nil}
	for folder := range strings.SplitSeq(glob, "/") {
		if folder == anyFolders {
			g = append(g, nil)
			continue
		}
		g[len(g)-1] = append(g[len(g)-1], folder)
	}
	return g
}

// matchesAny reports whether one of the globs matches a path, and what that took: the
// number of folders that were compared, more for long ones with stars.
func matchesAny(globs []fileGlob, path []string) (hit bool, work int) {
	for _, g := range globs {
		if work++; g.match(path, &work) {
			return true, work
		}
	}
	return false, work
}

// match reports whether the glob matches a path: its first piece stands at the start,
// its last at the end, and those between them in order, each as early as it can.
func (g fileGlob) match(path []string, work *int) bool {
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

// foldersPerStep is how many names of folders are compared in the time of a step.
const foldersPerStep = 8

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
		*work += len(p) * len(folders[i]) / 32 // names of folders are short
		if ok, err := path.Match(p, folders[i]); !ok || err != nil {
			return false
		}
	}
	return true
}

// checkGlobs refuses globs of files that match nothing.
func checkGlobs(n *ast.CallNode) error {
	for _, arg := range n.Arguments {
		if glob, ok := constantText(arg); ok {
			if msg := globMistake(glob); msg != "" {
				return refuse(arg, "the glob %q matches no file: %s", cut(glob, maxQuoted), msg)
			}
		}
	}
	return nil
}

// globBraces finds alternatives as other programs write them.
var globBraces = regexp.MustCompile(`(^|[^\\])\{[^{}]*,[^{}]*\}`)

// globMistake says why a glob matches no file; "" when it may.
func globMistake(glob string) string {
	_, err := path.Match(glob, "")
	root := strings.TrimPrefix(strings.TrimPrefix(glob, "."), "/")
	switch {
	case glob == "":
		return `all files are "**"`
	case strings.HasPrefix(glob, "!"):
		return "nothing is taken away by !; write not any_file(...)"
	case strings.HasPrefix(glob, "/") || strings.HasPrefix(glob, "./"):
		return fmt.Sprintf("paths begin in the top folder without a slash, %q", root)
	case globBraces.MatchString(glob):
		return `braces are letters; write several globs, "*.js", "*.ts"`
	case err != nil:
		return "a bracket is not closed, or a backslash stands last"
	}
	for folder := range strings.SplitSeq(glob, "/") {
		if folder != anyFolders && strings.Contains(folder, anyFolders) {
			return fmt.Sprintf("** stands for whole folders; write %q", strings.ReplaceAll(glob, folder, "**/"+strings.ReplaceAll(folder, "**", "*")))
		}
	}
	return ""
}

const (
	maxWords  = 2000
	leastWord = 3 // characters; shorter words tell nothing
)

// similar is similar(text, text): how many of the words of both texts together are in
// both, from 0 to 1.
func similar(args ...any) (any, error) {
	r, a, b := arg[*run](args, 0), arg[string](args, 1), arg[string](args, 2)
	if err := r.step(1 + (len(a)+len(b))/wordsPerStep); err != nil {
		return nil, err
	}
	one, other := wordSet(a), wordSet(b)
	both := 0
	for w := range one {
		if other[w] {
			both++
		}
	}
	all := len(one) + len(other) - both
	if all == 0 {
		return 0.0, nil
	}
	return float64(both) / float64(all), nil
}

// wordsPerStep is how many bytes are taken apart in the time of a step.
const wordsPerStep = 16

// wordSet returns the words of a text in lower case.
func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(s), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		if len(set) == maxWords {
			break
		}
		if len([]rune(w)) >= leastWord {
			set[w] = true
		}
	}
	return set
}
