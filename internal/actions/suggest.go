package actions

import "strings"

// alternatives returns `"a", "b" or "c"`.
func alternatives(values []string) string {
	var b strings.Builder
	for i, v := range values {
		switch {
		case i > 0 && i == len(values)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(`"` + v + `"`)
	}
	return b.String()
}

// nearest returns the candidate that v was probably meant to be, at most two edits
// away without regard to case. Empty when there is none.
func nearest(v string, candidates []string) string {
	v = strings.ToLower(v)
	best, limit := "", 3
	for _, c := range candidates {
		if d := distance(v, c); d < limit {
			best, limit = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
