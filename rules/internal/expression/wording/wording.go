// Package wording rewrites messages of the expression language for the authors of rules.
package wording

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/text"
)

// CannotRead returns the message for a function that cannot parse a value.
func CannotRead(function, value string) string {
	return fmt.Sprintf("%s cannot read %q", function, text.Shorten(value, text.Quoted))
}

var (
	notNumber   = text.Regexp(`(?s)^invalid operation: (int|float)\((.*)\)$`)
	notDate     = text.Regexp(`(?s)^invalid date (.*)$`)
	notTime     = text.Regexp(`(?s)^parsing time (".*)$`)
	notDuration = text.Regexp(`(?s)^time: .* duration (".*)$`)
)

// Unreadable rewrites the error of a function that could not parse a value. The original error may
// contain the whole text of an issue. ok is false for other errors.
func Unreadable(msg string) (rewritten string, ok bool) {
	if m := notNumber().FindStringSubmatch(msg); m != nil {
		return CannotRead(m[1], m[2]), true
	}
	if m := notDate().FindStringSubmatch(msg); m != nil {
		return CannotRead("date", m[1]), true
	}
	for function, known := range map[string]*regexp.Regexp{"date": notTime(), "duration": notDuration()} {
		if m := known.FindStringSubmatch(msg); m != nil {
			return CannotRead(function, unquoted(m[1])), true
		}
	}
	return "", false
}

// unquoted returns the text of the quoted literal that s starts with.
func unquoted(s string) string {
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return strings.Trim(s, `"`)
	}
	text, err := strconv.Unquote(quoted)
	if err != nil {
		return strings.Trim(quoted, `"`)
	}
	return text
}

var (
	mismatched   = text.Regexp(`^invalid operation: (\S+) \(mismatched types (\S+) and (\S+|\[\]interface \{\})\)$`)
	operatorCase = text.Regexp(`^unexpected token Identifier\("((?i:and|or|not|in|contains|startsWith|endsWith|matches))"\)`)
	operatorCall = text.Regexp(`^unexpected token Operator\("(contains|startsWith|endsWith|matches)"\)`)
)

// OperatorHint suggests a replacement for an operator that does not fit its operands; ""
// when msg is about something else.
func OperatorHint(msg string) string {
	if m := operatorCall().FindStringSubmatch(msg); m != nil {
		return "; " + m[1] + " goes between two texts: write a " + m[1] + " b"
	}
	if m := operatorCase().FindStringSubmatch(msg); m != nil {
		for _, op := range []string{"and", "or", "not", "in", "contains", "startsWith", "endsWith", "matches"} {
			if strings.EqualFold(op, m[1]) {
				return "; write " + op
			}
		}
	}
	m := mismatched().FindStringSubmatch(msg)
	if m == nil {
		return ""
	}
	op, left, right := m[1], m[2], m[3]
	switch {
	case left == "[]string" && (right == "string" && (op == "==" || op == "!=") || op == "contains"):
		return `; to test whether a list contains a text, use in: "bug" in issue.labels`
	case op == "in" && left == "string" && right == "string":
		return `; in looks for an item of a list; a part of a text is found with contains: issue.body contains "panic"`
	case (isNumber(left) && right == "string" || left == "string" && isNumber(right)) && strings.Trim(op, "<>=!") == "":
		return "; write a number without quotes; the length of a text is len(…), and int(…) reads a number from it"
	case left == "bool" && right == "string" || left == "string" && right == "bool":
		return "; write true or false without quotes"
	case left == "time.Duration" && (right == "string" || isNumber(right)), right == "time.Duration" && (left == "string" || isNumber(left)):
		return `; a length of time is written duration("14d")`
	case left == "time.Time" && right == "string" || left == "string" && right == "time.Time":
		return `; compare a time with a time, such as date("2024-01-31")`
	case left == "time.Time" && (right == "time.Duration" || isNumber(right)):
		return "; subtract the time from now: now - issue.created_at"
	}
	return ""
}

// isNumber reports whether a type of Go is that of a number.
func isNumber(typ string) bool { return typ == "int" || typ == "float64" }
