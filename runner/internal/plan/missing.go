package plan

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/foreman-action/triage"
)

const maxLabel = 50 // GitHub's maximum number of characters in a label's name

// NoLabel is the reason of a step whose label the repository does not have.
func NoLabel(name string) string { return fmt.Sprintf("the repository has no label %q", name) }

// MissingLabel returns advice about a label that the repository does not have: the command that
// creates it. It is empty if no label can have that name.
func MissingLabel(on triage.Ref, name string) string {
	if name == "" || utf8.RuneCountInString(name) > maxLabel || strings.ContainsFunc(name, unicode.IsControl) {
		return ""
	}
	return fmt.Sprintf("%q was not added: the repository has no such label; create it with: gh label create --repo %s/%s %s",
		name, on.Owner, on.Repo, shellQuote(name))
}

// shellQuote quotes a text for a shell, as one argument that is not parsed as a flag.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:", r)
	}
	flag := ""
	if strings.HasPrefix(s, "-") {
		flag = "-- "
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return flag + s
	}
	return flag + "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
