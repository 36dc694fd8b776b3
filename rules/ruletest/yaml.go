package ruletest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

var (
	plainText = text.Regexp(`^[A-Za-z][A-Za-z0-9_./*-]*( [A-Za-z0-9_./*-]+)*$`)
	otherType = text.Regexp(`(?i)^(true|false|null|yes|no|on|off|y|n)$`)
)

// scalarText returns a text as YAML that parses to exactly the same text: plain where that is
// unambiguous, as a block indented by indent+2, or quoted. With a negative indent the result is one
// line, which also fits into a list or a mapping in flow style.
func scalarText(s string, indent int) string {
	switch {
	case plainText().MatchString(s) && !otherType().MatchString(s):
		return s
	case indent >= 0 && strings.Contains(s, "\n"):
		block := blockText(s, indent+2)
		// Only the YAML parser can decide whether lines that begin or end with spaces are kept.
		f, err := yamlfile.Parse("", []byte(strings.Repeat(" ", indent)+"v: "+block+"\n"))
		if err == nil && !slices.ContainsFunc([]rune(s), escaped) && yamlfile.Child(f.Root(), "v").Value == s {
			return block
		}
	}
	return quotedText(s)
}

func blockText(s string, indent int) string {
	text, mark := s, "|-"
	if rest, ok := strings.CutSuffix(s, "\n"); ok {
		text, mark = rest, "|"
	}
	for line := range strings.SplitSeq(text, "\n") {
		mark += "\n"
		if line != "" {
			mark += strings.Repeat(" ", indent) + line
		}
	}
	return mark
}

// escaped reports whether a character must be escaped, because YAML does not allow it or because it
// is invisible.
func escaped(r rune) bool {
	return r != '\n' && r != '\t' && !unicode.IsGraphic(r) || r == 0x2028 || r == 0x2029
}

func quotedText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case escaped(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case escaped(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func listText(items []string) string {
	out := make([]string, len(items))
	for i, s := range items {
		out[i] = scalarText(s, -1)
	}
	return "[" + strings.Join(out, ", ") + "]"
}
