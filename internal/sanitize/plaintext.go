package sanitize

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// zwsp is the zero width space that breaks active sequences.
const zwsp = "\u200b"

// ignorable are the characters that have no width and are invisible, but change how a program reads
// a text. They are Unicode's Default_Ignorable_Code_Point and the marks of interlinear annotation.
var ignorable = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00AD, 0x00AD, 1}, {0x034F, 0x034F, 1}, {0x061C, 0x061C, 1}, {0x115F, 0x1160, 1},
		{0x17B4, 0x17B5, 1}, {0x180B, 0x180F, 1}, {0x200B, 0x200F, 1}, {0x202A, 0x202E, 1},
		{0x2060, 0x206F, 1}, {0x3164, 0x3164, 1}, {0xFE00, 0xFE0F, 1}, {0xFEFF, 0xFEFF, 1},
		{0xFFA0, 0xFFA0, 1}, {0xFFF0, 0xFFFB, 1},
	},
	R32: []unicode.Range32{
		{0x1BCA0, 0x1BCA3, 1}, {0x1D173, 0x1D17A, 1}, {0xE0000, 0xE0FFF, 1},
	},
	LatinOffset: 1,
}

// joined are the scripts in which words need the zero width joiner and non-joiner.
var joined = []*unicode.RangeTable{
	unicode.Arabic, unicode.Bengali, unicode.Devanagari, unicode.Gujarati, unicode.Gurmukhi,
	unicode.Kannada, unicode.Malayalam, unicode.Myanmar, unicode.Oriya, unicode.Sinhala,
	unicode.Syriac, unicode.Tamil, unicode.Telugu,
}

// Text converts s to plain text for a writer that escapes it, such as html/template. It drops
// control, bidirectional and invisible characters and terminal sequences. Every kind of line break
// becomes "\n". Tabs and emoji stay.
func Text(s string) string { return clean(s) }

// clean returns plain text without invisible characters.
func clean(s string) string { return visible(plain(s)) }

// oneLine returns clean text on one line: white space becomes single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// plain returns s as valid UTF-8 whose only control characters are line feed and tab. Every kind of
// line break becomes a line feed; terminal sequences are dropped.
func plain(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && r != '\t' && unicode.IsControl(r) || r == utf8.RuneError || r == '\u2028' || r == '\u2029'
	}) {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(s)
	s = dropEscapes(s)
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// dropEscapes drops whole terminal sequences, not only the escape character, so that no "[31m"
// remains.
func dropEscapes(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i+escapeLen(s[i:]):]
	}
	return b.String() + s
}

// escapeLen returns the length of the terminal sequence at the start of s. It returns 1, the escape
// character alone, if no sequence follows.
func escapeLen(s string) int {
	in := func(i int, low, high byte) bool { return i < len(s) && low <= s[i] && s[i] <= high }
	i := 1
	switch {
	case in(i, ']', ']'):
		end := strings.IndexAny(s[i:], "\a\x1b\n")
		if end < 0 || s[i+end] == '\n' {
			return 1
		}
		i += end + 1
		return len(s) - len(strings.TrimPrefix(s[i:], "\\"))
	case in(i, '[', '['):
		for i++; in(i, '0', '?'); i++ {
		}
	}
	for ; in(i, ' ', '/'); i++ {
	}
	if i > 1 && in(i, '0', '~') {
		return i + 1
	}
	return 1
}

// visible drops invisible, bidirectional and tag characters. It keeps those that belong to an
// emoji. It also keeps joiners between letters of scripts that need them.
func visible(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(ignorable, r) }) {
		return s
	}
	in := []rune(s)
	out := make([]rune, 0, len(in))
	for i := 0; i < len(in); i++ {
		if n := flagLen(in[i:]); n > 0 {
			out = append(out, in[i:i+n]...)
			i += n - 1
			continue
		}
		if !unicode.Is(ignorable, in[i]) || belongs(out, in[i:]) {
			out = append(out, in[i])
		}
	}
	return string(out)
}

// flagLen returns the length of a flag in tag characters (England, Scotland, Wales); 0: there is
// none.
func flagLen(s []rune) int {
	const flag, tags, cancel, n = '\U0001F3F4', 0xE0000, 0xE007F, 7
	if len(s) < n || s[0] != flag || s[n-1] != cancel {
		return 0
	}
	region := slices.Clone(s[1 : n-1])
	for i := range region {
		region[i] -= tags
	}
	if slices.Contains([]string{"gbeng", "gbsct", "gbwls"}, string(region)) {
		return n
	}
	return 0
}

// belongs reports whether the invisible character that rest begins with is part of an emoji or
// of a word, given the kept text before it.
func belongs(kept, rest []rune) bool {
	if len(kept) == 0 {
		return false
	}
	last, next := kept[len(kept)-1], rune(-1)
	if len(rest) > 1 && !unicode.Is(ignorable, rest[1]) {
		next = rest[1]
	}
	switch rest[0] {
	case '\uFE0E', '\uFE0F':
		return emoji(last) || next == '\u20E3' && strings.ContainsRune("#*0123456789", last)
	case '\u200D':
		return (emoji(last) || last == '\uFE0F') && emoji(next) || usesJoiners(last) && usesJoiners(next)
	case '\u200C':
		return usesJoiners(last) && usesJoiners(next)
	}
	return false
}

// emoji reports whether r may be part of an emoji sequence.
func emoji(r rune) bool {
	return unicode.Is(unicode.So, r) || 0x1F3FB <= r && r <= 0x1F3FF ||
		strings.ContainsRune("\u203C\u2049\u2194\u25FB\u25FC\u25FD\u25FE\u3030", r)
}

// usesJoiners reports whether r is a letter of a script that uses joiners.
func usesJoiners(r rune) bool {
	return !unicode.Is(ignorable, r) && (unicode.IsLetter(r) || unicode.IsMark(r)) && unicode.In(r, joined...)
}

// Name sanitizes a label, a login or a keyword. It drops control, bidirectional and zero-width
// characters, including line breaks and tabs, and trims white space. Emoji stay complete, because
// labels are compared with those of the repository.
func Name(s string) string {
	return strings.TrimSpace(visible(strings.NewReplacer("\n", "", "\t", "").Replace(plain(s))))
}

// NamePart sanitizes text that becomes a part of a name. It drops the same characters as [Name], and
// invalid UTF-8, but keeps white space at the ends. It returns at most n characters.
func NamePart(s string, n int) string {
	s = visible(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s))
	if utf8.RuneCountInString(s) > n {
		return string([]rune(s)[:n])
	}
	return s
}
