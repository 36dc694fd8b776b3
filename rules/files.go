package rules

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
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
	globs := make([][]string, 0, len(args)-1)
	for _, g := range args[1:] {
		glob, _ := g.(string)
		globs = append(globs, globParts(glob))
	}
	hits, work := 0, 0
	for _, file := range files {
		parts := strings.Split(file, "/")
		if slices.ContainsFunc(globs, func(glob []string) bool {
			matched, cost := fileMatch(glob, parts)
			work += cost
			return matched
		}) {
			hits++
		}
		if err := r.step(1 + work/worksPerStep); err != nil {
			return nil, err
		}
		work %= worksPerStep
	}
	return holds(hits, len(files)), nil
}

const (
	maxGlobFolders = 32
	worksPerStep   = 8 // comparisons of a folder with a part of a glob
)

// globParts returns the parts of a glob. One that ends with "/" matches everything below
// that folder.
func globParts(glob string) []string {
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	return strings.Split(glob, "/")
}

// checkGlob says what is wrong with a glob of files.
func checkGlob(glob string) error {
	parts := globParts(glob)
	if len(parts) > maxGlobFolders {
		return fmt.Errorf("a glob has at most %d folders", maxGlobFolders)
	}
	for _, p := range parts {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("%q is no glob of files", cut(glob, maxQuoted))
		}
	}
	return nil
}

// fileMatch reports whether a path matches a glob, and how many comparisons that took:
// "*" and "?" stay within a folder, as path.Match has them, and "**" stands for any number
// of folders, none included.
func fileMatch(glob, file []string) (ok bool, work int) {
	if len(glob) > maxGlobFolders || len(glob[0]) > 0 && !strings.ContainsAny(glob[0], `*?[\`) && glob[0] != file[0] {
		return false, 1
	}
	// matched[i] says that the glob so far matches the first i parts.
	matched := make([]bool, len(file)+1)
	matched[0] = true
	for _, p := range glob {
		next := make([]bool, len(file)+1)
		for i, ok := range matched {
			switch {
			case p == "**":
				next[i] = ok || i > 0 && next[i-1]
			case ok && i < len(file):
				work += 1 + len(p)*len(file[i])/bytesPerStep
				m, err := path.Match(p, file[i])
				next[i+1] = next[i+1] || err == nil && m
			}
		}
		matched = next
		work++
	}
	return matched[len(file)], work + len(file)
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
