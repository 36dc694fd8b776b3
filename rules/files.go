package rules

import (
	"path"
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
	hits := 0
	for _, file := range files {
		for _, g := range args[1:] {
			glob, _ := g.(string)
			if err := r.step(1 + len(glob)*len(file)/bytesPerStep); err != nil {
				return nil, err
			}
			if fileMatch(glob, file) {
				hits++
				break
			}
		}
	}
	return holds(hits, len(files)), nil
}

const maxGlobFolders = 32

// fileMatch reports whether a path matches a glob: "*" and "?" stay within a folder, as
// path.Match has them, and "**" stands for any number of folders, none included. A glob
// that ends with "/" matches everything below that folder.
func fileMatch(glob, file string) bool {
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	pattern, parts := strings.Split(glob, "/"), strings.Split(file, "/")
	if len(pattern) > maxGlobFolders {
		return false
	}
	// matched[i] says that pattern so far matches the first i parts.
	matched := make([]bool, len(parts)+1)
	matched[0] = true
	for _, p := range pattern {
		next := make([]bool, len(parts)+1)
		for i, ok := range matched {
			switch {
			case p == "**":
				next[i] = ok || i > 0 && next[i-1]
			case ok && i < len(parts):
				m, err := path.Match(p, parts[i])
				next[i+1] = next[i+1] || err == nil && m
			}
		}
		matched = next
	}
	return matched[len(parts)]
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
