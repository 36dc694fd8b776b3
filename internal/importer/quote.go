package importer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/org/foreman-action/internal/text"
)

var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*$`)

// yamlWords are plain scalars that YAML, or an older version of it, takes for no text.
var yamlWords = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"}

// yamlText writes a text as a YAML scalar on one line.
func yamlText(s string) string {
	switch {
	case plainText.MatchString(s) && !slices.Contains(yamlWords, strings.ToLower(s)):
		return s
	case strings.ContainsAny(s, `"\`) && !strings.Contains(s, "'") && !strings.ContainsFunc(s, notPrinted):
		return "'" + s + "'"
	}
	return strconv.Quote(s)
}

// notPrinted reports whether a character would not be seen where it stands.
func notPrinted(r rune) bool { return !unicode.IsPrint(r) }

// block reports whether a text of several lines can stand in a literal block.
func block(s string) bool {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	if len(lines) < 2 || strings.HasPrefix(s, " ") || lines[0] == "" || lines[len(lines)-1] == "" {
		return false
	}
	return !slices.ContainsFunc(lines, func(line string) bool {
		return strings.ContainsFunc(line, notPrinted) || line != "" && strings.TrimSpace(line) == ""
	})
}

// remark makes a text fit for a line of comment.
func remark(s string) string {
	return strings.Map(func(r rune) rune {
		if notPrinted(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ReplaceAll(s, "\t", "  "))
}

// quoted shows a foreign value in a message.
func quoted(s string) string {
	return strconv.Quote(text.Clip(s, 60))
}

// call writes a call of a function with constant texts.
func call(function string, texts ...string) string {
	for i, s := range texts {
		texts[i] = strconv.Quote(s)
	}
	return function + "(" + strings.Join(texts, ", ") + ")"
}

// list writes a list of constant texts.
func list(texts []string) string {
	return "[" + strings.TrimSuffix(strings.TrimPrefix(call("", slices.Clone(texts)...), "("), ")") + "]"
}

// template writes a text that is to stay as it is where {{ }} has a meaning.
func template(s string) string { return strings.ReplaceAll(s, "{{", `{{ "{{" }}`) }

// hasLabel returns the condition that the issue has at least one of the labels.
func hasLabel(names []string) term {
	if len(names) == 0 {
		return term{}
	}
	// In any_label a "*" stands for more than itself.
	if len(names) > 1 && !slices.ContainsFunc(names, func(s string) bool { return strings.Contains(s, "*") }) {
		return is(call("any_label", slices.Clone(names)...))
	}
	terms := make([]term, len(names))
	for i, name := range names {
		terms[i] = is(call("label", name))
	}
	return some(terms...)
}

// not negates a condition.
func not(t term) term {
	if t.empty() {
		return t
	}
	return is("not " + t.inline())
}
