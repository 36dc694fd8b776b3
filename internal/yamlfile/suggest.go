package yamlfile

import (
	"strings"
)

// Suggest returns the known word that was probably meant by word, or "" when none is similar. Case,
// and "-" or "_", make no difference.
func Suggest(word string, known []string) string {
	fold := strings.NewReplacer("-", "_", " ", "_")
	w := fold.Replace(strings.ToLower(word))
	if len(w) > maxWord {
		return ""
	}
	best, bestDist := "", (len(w)+1)/3
	for _, k := range known {
		if d := distance(w, fold.Replace(strings.ToLower(k))); d <= bestDist && (best == "" || d < bestDist) {
			best, bestDist = k, d
		}
	}
	return best
}

// maxWord limits the length of a word that is compared, in bytes.
const maxWord = 100

// distance returns the number of insertions, deletions, replacements and swaps of neighbours that
// turn a into b (optimal string alignment).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	var before []int
	last := make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row := make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(y)]
}

// DidYouMean returns "; did you mean X?", or "" when no known word is similar.
func DidYouMean(word string, known []string) string {
	s := Suggest(word, known)
	if s == "" {
		return ""
	}
	return "; did you mean " + s + "?"
}
