package sanitize

import "strings"

// Markdown escapes text so that it shows as typed; line breaks are kept.
func Markdown(s string) string {
	var b strings.Builder
	for _, r := range clean(s) {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@' || r == '#':
			b.WriteRune(r)
			b.WriteString("\u200B")
		case strings.ContainsRune("\\`|*_[]!~", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Cell makes Markdown for a table cell: one line of at most max runes.
func Cell(s string, max int) string {
	line := strings.Join(strings.Fields(clean(s)), " ")
	if r := []rune(line); len(r) > max && max > 0 {
		line = string(r[:max-1]) + "…"
	}
	return Markdown(line)
}

// Code makes an inline code span.
func Code(s string) string {
	f := strings.Repeat("`", longestRun(s)+1)
	return f + " " + strings.Join(strings.Fields(clean(s)), " ") + " " + f
}

// Fence makes a fenced code block; it ends without a newline.
func Fence(s, lang string) string {
	f := strings.Repeat("`", max(3, longestRun(s)+1))
	return f + lang + "\n" + strings.TrimRight(clean(s), "\n") + "\n" + f
}

func longestRun(s string) int {
	best, n := 0, 0
	for _, r := range s {
		if r != '`' {
			n = 0
			continue
		}
		n++
		best = max(best, n)
	}
	return best
}
