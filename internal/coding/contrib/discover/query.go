package discover

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/scoring"
	"github.com/org/foreman-action/internal/text"
)

// The limits of GitHub's search.
const (
	maxOperators = 5
	maxQuery     = 256 // characters
)

// openIssues is the query of an empty profile.
const openIssues = "is:issue is:open archived:false"

// Query returns the search query for a profile. Languages, topics and types that do not fit into
// GitHub's limits are omitted; they only affect the score.
func Query(p scoring.Profile) string {
	operators := 0
	query := openIssues
	add := func(words []string, part func([]string) string) {
		for n := len(words); n > 0; n-- {
			longer := query + " " + part(words[:n])
			if cost := n - 1; operators+cost <= maxOperators && utf8.RuneCountInString(longer) <= maxQuery {
				query, operators = longer, operators+cost
				return
			}
		}
	}
	add(p.Languages, func(l []string) string { return either(l, func(s string) string { return "language:" + quote(s) }) })
	add(p.Topics, func(l []string) string { return either(l, quote) })
	for n := len(p.Types); n > 0; n-- {
		if longer := query + " " + labels(p.Types[:n]); utf8.RuneCountInString(longer) <= maxQuery {
			return longer
		}
	}
	return query
}

// either joins words with OR.
func either(words []string, form func(string) string) string {
	if len(words) == 1 {
		return form(words[0])
	}
	var parts []string
	for _, w := range words {
		parts = append(parts, form(w))
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

// labels returns the qualifier for the labels of some types.
func labels(types []string) string {
	var quoted []string
	for _, t := range types {
		for _, l := range scoring.TypeLabels(t) {
			quoted = append(quoted, `"`+l+`"`)
		}
	}
	return "label:" + strings.Join(quoted, ",")
}

// quote quotes a word that GitHub's search would interpret as an operator, as a qualifier or as
// several words.
func quote(s string) string {
	plain := s != "" && !slices.Contains([]string{"AND", "OR", "NOT"}, s) && !strings.HasPrefix(s, "-")
	for _, r := range s {
		if r < 0x80 && !strings.ContainsRune("+#._-", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			plain = false
		}
	}
	if plain {
		return s
	}
	return `"` + strings.ReplaceAll(strings.Join(strings.Fields(text.Plain(s, maxQuery)), " "), `"`, "") + `"`
}

// relax returns wider profiles, the most similar first: without topics, without types, with only
// one language, and an empty one.
func relax(p scoring.Profile) []scoring.Profile {
	var list []scoring.Profile
	p.Topics = nil
	list = append(list, p)
	p.Types = nil
	list = append(list, p)
	if len(p.Languages) > 1 {
		p.Languages = p.Languages[:1]
		list = append(list, p)
	}
	return append(list, scoring.Profile{})
}

// commandFor returns the command that discovers with profile p. If p has no values for a flag and
// the configuration has some, the command has an empty flag.
func commandFor(p, configured scoring.Profile) string {
	words := []string{"contribflow", "discover"}
	add := func(flag string, values, configured []string) {
		if len(values) == 0 && len(configured) > 0 {
			words = append(words, flag, "''")
		}
		for _, v := range values {
			words = append(words, flag, shell(v))
		}
	}
	add("--lang", p.Languages, configured.Languages)
	add("--topic", p.Topics, configured.Topics)
	add("--type", p.Types, configured.Types)
	return strings.Join(append(words, "--json"), " ")
}

// shell quotes a word for a shell.
func shell(s string) string {
	if quote(s) == s {
		return s
	}
	return "'" + strings.ReplaceAll(text.Plain(s, maxQuery), "'", `'\''`) + "'"
}
