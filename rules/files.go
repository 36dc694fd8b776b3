package rules

import (
	"strings"
	"unicode"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/internal/cost"
	"github.com/org/foreman-action/rules/internal/match"
)

// anyFile is any_file(glob, ...).
func anyFile(args ...any) (any, error) {
	return eachFile(args, func(hits, files int) bool { return hits > 0 })
}

// allFiles is all_files(glob, ...); a pull request without files has none that match.
func allFiles(args ...any) (any, error) {
	return eachFile(args, func(hits, files int) bool { return files > 0 && hits == files })
}

// foldersPerStep is how many names of folders are compared in the time of a step.
const foldersPerStep = 8

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
	hits, globs := 0, make([]match.PathGlob, len(args)-1)
	for i, g := range args[1:] {
		glob, _ := g.(string)
		globs[i] = match.NewPathGlob(glob)
	}
	for _, file := range files {
		hit, work := match.AnyPath(globs, strings.Split(file, "/"))
		if err := r.meter.Steps.Charge(1 + len(file)/cost.BytesPerStep + work/foldersPerStep); err != nil {
			return nil, err
		}
		if hit {
			hits++
		}
	}
	return holds(hits, len(files)), nil
}

// checkGlobs refuses globs of files that match nothing.
func checkGlobs(n *ast.CallNode) error {
	for _, arg := range n.Arguments {
		if glob, ok := constantText(arg); ok {
			if msg := match.PathGlobMistake(glob); msg != "" {
				return refuse(arg, "the glob %q matches no file: %s", text.Shorten(glob, text.Quoted), msg)
			}
		}
	}
	return nil
}

const (
	maxWords  = 2000
	leastWord = 3 // characters; shorter words tell nothing
)

// similar is similar(text, text): how many of the words of both texts together are in
// both, from 0 to 1.
func similar(args ...any) (any, error) {
	r, a, b := arg[*run](args, 0), arg[string](args, 1), arg[string](args, 2)
	if err := r.meter.Steps.Charge(1 + (len(a)+len(b))/wordsPerStep); err != nil {
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
