package rules

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// searchValues has the qualifiers of GitHub's search for issues, with the values of those that have
// few. The others have none here. Names and values are those of GitHub's page "Searching issues and
// pull requests".
var searchValues = map[string][]string{
	"is": {
		"open", "closed", "issue", "pr", "pull-request", "merged", "unmerged", "draft", "locked", "unlocked", "queued",
		"public", "private", "internal", "archived", "blocked", "blocking", "pinned",
	},
	"state":    {"open", "closed"},
	"no":       {"label", "milestone", "assignee", "project", "type", "parent-issue", "sub-issue", "field"},
	"reason":   {"completed", "not planned", "duplicate", "reopened"},
	"draft":    {"true", "false"},
	"archived": {"true", "false"},
	"linked":   {"pr", "issue"},
	"review":   {"none", "required", "approved", "changes_requested", "changes-requested"},
	"status":   {"pending", "success", "failure"},
	"in":       {"title", "body", "comments"},

	"created": nil, "updated": nil, "closed": nil, "merged": nil,

	"type": nil, "label": nil, "author": nil, "assignee": nil, "mentions": nil, "team": nil, "commenter": nil, "involves": nil,
	"milestone": nil, "project": nil, "language": nil, "comments": nil, "interactions": nil, "reactions": nil,
	"reviewed-by": nil, "review-requested": nil, "user-review-requested": nil, "team-review-requested": nil,
	"head": nil, "base": nil, "sha": nil, "sort": nil, "has": nil, "parent-issue": nil, "sub-issue": nil,
	"blocked-by": nil, "app": nil, "repo": nil, "org": nil, "user": nil,
}

// searchDate matches a bound of a date in a search: a date or a part of one, "*" or a word such as @today.
var searchDate = text.Regexp(`^(\d{4}(-\d\d?){0,2}(T\S*)?|\*|@\S+)$`)

// searchPlain matches a word that is a text to look for.
var searchPlain = text.Regexp(`^[\pL\d][\pL\d_./-]*$`)

// searchOperators returns the words between terms.
func searchOperators() []string { return []string{"AND", "OR", "NOT"} }

// searchSpaced returns the qualifiers whose values often have spaces.
func searchSpaced() []string { return []string{"label", "milestone"} }

// suspicious warns of terms that GitHub's search does not have.
func (s scan) suspicious(f *yamlfile.File) Problems {
	var list Problems
	var last string // the word before
	warn := func(at int, msg string) {
		line, col := text.Position(s.query, at)
		p := f.At(s.node, line, col, "scan: "+msg)
		p.Warning = true
		list = append(list, p)
	}
	for start, word := range s.placed() {
		if name, value, ok := strings.Cut(last, ":"); ok && searchPlain().MatchString(word) && !slices.Contains(searchOperators(), word) && slices.Contains(searchSpaced(), strings.TrimLeft(name, "-(")) &&
			!strings.ContainsAny(value, `")`) {
			warn(start-len(last)-1, fmt.Sprintf(`%s ends at the space, and GitHub looks for the text %q; write %s:"%s %s" for a name with a space, or the text first`,
				text.Shorten(last, text.Quoted), text.Shorten(word, text.Quoted), name, text.Shorten(value, text.Quoted), text.Shorten(word, text.Quoted)))
		}
		last = word
		bare := strings.TrimLeft(word, "-(")
		name, value, ok := strings.Cut(strings.TrimRight(bare, ")"), ":")
		if !ok || strings.ContainsAny(name, `"' `) {
			continue
		}
		if msg := mistaken(strings.ToLower(name), value); msg != "" {
			warn(start+len(word)-len(bare), msg)
		}
	}
	return list
}

// mistaken returns the mistake in a term of a search, or "" if it finds none.
func mistaken(name, value string) string {
	known, isQualifier := searchValues[name]
	if !isQualifier {
		// A text with a colon, such as TypeError:x, is a term, too.
		if meant := yamlfile.Suggest(name, qualifiers()); meant != "" {
			return fmt.Sprintf("GitHub's search has no qualifier %s:; did you mean %s:?", text.Shorten(name, text.Quoted), meant)
		}
		return ""
	}
	switch name {
	case "created", "updated", "closed", "merged":
		for bound := range strings.SplitSeq(strings.Trim(value, `"`), "..") {
			if !searchDate().MatchString(strings.TrimLeft(bound, "<>=")) {
				return fmt.Sprintf(`%s: takes a date, such as %s:<2026-01-31, got %s; an age belongs in the condition: now - issue.updated_at > duration("14d")`, name, name, text.Shorten(value, text.Quoted))
			}
		}
		return ""
	}
	for one := range strings.SplitSeq(value, ",") {
		one = strings.ToLower(strings.Trim(one, `"`))
		if known == nil || slices.Contains(known, one) {
			continue
		}
		if meant := yamlfile.Suggest(one, known); meant != "" {
			return fmt.Sprintf("GitHub's search has no %s:%s; did you mean %s:%s?", name, text.Shorten(one, text.Quoted), name, meant)
		}
		return fmt.Sprintf("GitHub's search has no %s:%s; %s: takes %s", name, text.Shorten(one, text.Quoted), name, strings.Join(known, ", "))
	}
	return ""
}

// placed returns the words of the query with their offsets. Spaces in quotes do not separate words.
func (s scan) placed() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		inQuotes, start := false, 0
		for i, ch := range s.query + " " {
			if ch == '"' {
				inQuotes = !inQuotes
			}
			if ch != ' ' || inQuotes && i < len(s.query) {
				continue
			}
			if !yield(start, s.query[start:i]) {
				return
			}
			start = i + 1
		}
	}
}

func qualifiers() []string {
	list := make([]string, 0, len(searchValues))
	for name := range searchValues {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
