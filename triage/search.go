package triage

import "strings"

// FindsPulls reports whether a query in GitHub's search syntax asks for pull requests. A search
// finds either pull requests or issues, never both.
func FindsPulls(query string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		switch strings.TrimLeft(word, "(") {
		case "is:pr", "is:pull-request", "type:pr", "type:pull-request":
			return true
		}
	}
	return false
}

// Sorts reports whether a query in GitHub's search syntax has its own sort.
func Sorts(query string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if strings.HasPrefix(word, "sort:") {
			return true
		}
	}
	return false
}
