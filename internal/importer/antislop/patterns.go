package antislop

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// space is the content of a class of RE2: the white space of JavaScript's \s.
const space = `\s\v\p{Z}\x{feff}`

// ConventionalTitle matches a title such as "fix(cli): a typo".
const ConventionalTitle = `^\w+(?:\([^)]+\))?!?:[` + space + `].`

// ConventionalCommit matches the message of a commit whose first line the action accepts: as a
// title, of a merge, or with the number of a pull request at its end.
const ConventionalCommit = `^(?:Merge |\w+(?:\([^)\n]+\))?!?:[\t\v\f\r\p{Zs}\x{feff}][^\r\n\p{Zl}\p{Zp}]|[^\n]*\(#\d+\)(?:\n|$))`

// LinkedIssue matches a text that refers to an issue.
const LinkedIssue = `(?i:https?://github\.com/[\w.-]+/[\w.-]+/issues/\d|GH-\d)|[\w.-]/[\w.-]+#\d|(?:^|[` + space + `(])#\d`

// SpamName matches the login of an author that the action counts as spam.
const SpamName = `\d{4}|^\d+$|(?i:(?:^|-)ai(?:-|$))`

// Extension matches a path that ends with an extension. A name that only begins with a dot has none.
const Extension = `[^/]\.[^./]*$`

// Literal returns a pattern that matches a text, and that may be between backticks on one line.
func Literal(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '`' || !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\x{%x}`, r)
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return b.String()
}

// anyOf returns a pattern that matches any of the patterns.
func anyOf(patterns []string) string { return "(?:" + strings.Join(patterns, "|") + ")" }

// Branches returns a pattern that matches the branches that a list of globs names. In a glob "**"
// stands for any characters, and "*" for any but "/".
func Branches(globs []string) string {
	out := make([]string, len(globs))
	for i, glob := range globs {
		out[i] = strings.ReplaceAll(strings.ReplaceAll(Literal(glob), `\*\*`, ".*"), `\*`, "[^/]*")
	}
	return "^" + anyOf(out) + "$"
}

// Paths returns a pattern that matches the paths that a list names. An item that ends with "/" is a
// folder.
func Paths(list []string) string {
	out := make([]string, len(list))
	for i, path := range list {
		if out[i] = Literal(path); !strings.HasSuffix(path, "/") {
			out[i] += "$"
		}
	}
	return "(?i)^" + anyOf(out)
}

// Extensions returns a pattern that matches the paths with one of the extensions, with or without
// their dots.
func Extensions(list []string) string {
	var out []string
	for _, s := range list {
		if s = strings.TrimPrefix(s, "."); !strings.ContainsAny(s, "./") {
			out = append(out, Literal(s))
		}
	}
	return `(?i)\.` + anyOf(out) + "$"
}

// Issues returns a pattern that matches a text that refers to one of the issues. ok is false if an
// item is no number.
func Issues(list []string) (pattern string, ok bool) {
	out := make([]string, len(list))
	for i, s := range list {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return "", false
		}
		out[i] = strconv.FormatUint(n, 10)
	}
	return `(?:(?i:https?://github\.com/[\w.-]+/[\w.-]+/issues/|GH-)|[\w.-]/[\w.-]+#|(?:^|[` + space + `(])#)0*` + anyOf(out) + `(?:\D|$)`, true
}

// Parts of the pattern of [Visible]. A comment begins with "<!--".
const (
	opening = `<(?:!?-?<)*`                     // a "<", and others that directly follow
	comment = `!--(?:[^-]|-[^-]|--+[^->])*--+>` // the rest of a comment, to its end
	plain   = `[^<!]|![^<-]|!-[^<-]`            // what follows an opening that is no comment
	visible = `^(?:[^<]|` + opening + `(?:` + plain + `|` + comment + `))*`
)

// Visible returns a pattern that matches a text with one of the terms outside of HTML comments. ok
// is false for a term with a "<", or an empty one. Text after a comment without an end does not
// count.
func Visible(terms []string) (pattern string, ok bool) {
	out, before := make([]string, len(terms)), `(?:`+opening+`!?-?)?`
	for i, s := range terms {
		if s == "" || strings.Contains(s, "<") {
			return "", false
		}
		if s[0] == '!' || s[0] == '-' {
			before = ""
		}
		out[i] = Literal(s)
	}
	return visible + before + anyOf(out), true
}

// emoji is the content of a class of RE2: pictographs that the action counts, too. It also counts
// rarer symbols, such as © and arrows.
const emoji = `⌚⌛⏩-⏳☀☁☎☑☔☕☝☠☢☣☮☹☺♥♻⚒⚓⚙⚠⚡⚽⚾⛄⛅⛔⛳⛵⛺✂✅✈✉✊-✍✏✔✖✨✳✴❄❌❎❓-❕❗❣❤➕-➗➡➰⬅-⬇⬛⬜⭐⭕` +
	`🌀-🌡🌤-🎓🎞-🏰🏳-🏵🏷-🏺🐀-📽📿-🔽🕐-🕧🗺-🙏🚀-🛅🟠-🟫🤌-🤺🤼-🥅🥇-🧿🩰-🩼🪀-🪆🪐-🪨`

// MostEmoji is the largest number for [Emoji].
const MostEmoji = 10

// Emoji returns a pattern that matches a text with more than n pictographs and short codes such as
// ":rocket:".
func Emoji(n int, codes bool) string {
	one := "[" + emoji + "]"
	if codes {
		one = `(?:[` + emoji + `]|\B:[\w+-]+:\B)`
	}
	return fmt.Sprintf(`(?s)(?:%s.*?){%d}`, one, n+1)
}
