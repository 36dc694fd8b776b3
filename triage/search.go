package triage

import "strings"

// FindsPulls reports whether a query in the language of GitHub's issue search asks for pull
// requests. A search finds either these or issues.
func FindsPulls(query string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		switch strings.TrimLeft(word, "(") {
		case "is:pr", "is:pull-request", "type:pr", "type:pull-request":
			return true
		}
	}
	return false
}
