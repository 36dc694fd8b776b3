package sanitize

import (
	"slices"
	"strings"
	"unicode"
)

// trust is how certainly a place of a text is code.
type trust int

const (
	prose  trust = iota // not code
	likely              // the structure suggests code, but GitHub may read it otherwise
	sure                // certainly code
)

// fixed returns a function that returns the same trust for each place of a line.
func fixed(t trust) func(int) trust { return func(int) trust { return t } }

// inlineTrust returns a function that returns the trust at an offset of a line: prose outside of
// code spans, inside them sure if proven, else likely. Calls must be in ascending order of the
// offset.
func inlineTrust(line string, proven bool) func(int) trust {
	spans, _ := codeSpans(line)
	if len(spans) == 0 {
		return fixed(prose)
	}
	within := likely
	if proven {
		within = sure
	}
	return func(i int) trust {
		for len(spans) > 0 && spans[0].end <= i {
			spans = spans[1:]
		}
		if len(spans) > 0 && spans[0].start <= i {
			return within
		}
		return prose
	}
}

// writer inserts zero width spaces into lines that contain none.
type writer struct {
	options Options
	value   bool // the line is a value: the text around it is unknown
	indent  int  // number of bytes of white space at the start of the line
}

// line breaks the active sequences in a line.
func (w writer) line(s string, trusted func(int) trust) string {
	w.indent = len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(s[i])
		if strings.IndexByte("@#-/&<:wW]", s[i]) >= 0 && w.acts(s, i, trusted(i)) {
			b.WriteString(zwsp)
		}
	}
	return b.String()
}

// acts reports whether a zero width space must follow the character at i.
func (w writer) acts(s string, i int, t trust) bool {
	rest := s[i+1:]
	if t == sure {
		return s[i] == '/' && i == w.indent && isCommand(rest, true)
	}
	switch s[i] {
	case '@':
		return w.mentions(s, i)
	case '#':
		return rest != "" && isDigit(rest[0])
	case '-':
		return isTicket(s, i)
	case '/':
		return i == w.indent && isCommand(rest, t != prose) || isReference(s, i)
	case '&':
		return isEntity(rest)
	case '<':
		return w.opens(s, i, t)
	case ']':
		return w.links(s, i)
	}
	return w.refused(s, i)
}

// mentions reports whether the "@" at i begins a mention that is not allowed.
func (w writer) mentions(s string, i int) bool {
	if inEmail(s, i) {
		return w.refusedMail(s, i)
	}
	rest := s[i+1:]
	if !w.value && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
		return false
	}
	return w.options.AllowMention == nil || !w.allowed(rest) || w.refusedMail(s, i)
}

// inEmail reports whether the "@" at i follows an ASCII letter or digit, as in an email address. It
// returns false after an underscore, which may be emphasis, and after other letters, because GitHub
// then recognises a mention. It also returns false at the end of another address (of mail or of a
// page): GitHub makes that address a link, and reads the "@" separately.
func inEmail(s string, i int) bool {
	if i == 0 || !isAlnum(s[i-1]) {
		return false
	}
	start := i
	for start > 0 && (isAlnum(s[start-1]) || strings.IndexByte("._+-", s[start-1]) >= 0) {
		start--
	}
	if start > 0 && strings.IndexByte("@/:", s[start-1]) >= 0 {
		before := strings.ToLower(s[max(0, start-len("mailto:")):start])
		return strings.HasSuffix(before, "mailto:") || strings.HasSuffix(before, "xmpp:")
	}
	return !containsFold(s[start:i], "www.")
}

// allowed reports whether s begins with a login or a team that may be mentioned. The next character
// must not be one that could make it another login or team.
func (w writer) allowed(s string) bool {
	rest := strings.TrimLeftFunc(s, word("-_"))
	login := s[:len(s)-len(rest)]
	if login == "" || !isAlnum(login[0]) {
		return false
	}
	if team, ok := strings.CutPrefix(rest, "/"); ok {
		rest = strings.TrimLeftFunc(team, word("-_"))
		login = s[:len(s)-len(rest)]
	}
	return (rest == "" || strings.IndexByte("/\\&", rest[0]) < 0) && w.options.AllowMention(login)
}

// isTicket recognises the hyphen of "GH-1". The hyphen may be escaped.
func isTicket(s string, i int) bool {
	before := strings.TrimSuffix(s[:i], "\\")
	n := len(before)
	return n >= 2 && strings.EqualFold(before[n-2:], "gh") && (n == 2 || !isAlnum(before[n-3])) &&
		i+1 < len(s) && isDigit(s[i+1])
}

// isCommand reports whether a line that begins with a slash is a command to a bot; rest is the text
// after the slash, which must begin with a word. In code, where absolute paths are common, only a
// space may follow the word.
func isCommand(rest string, inCode bool) bool {
	end := strings.TrimLeftFunc(rest, word("-_"))
	if len(end) == len(rest) || !isLetter(rest[0]) {
		return false
	}
	return !inCode || end == "" || end[0] == ' ' || end[0] == '\t'
}

// isReference recognises the last slash of an address such as "/owner/repo/pull/1", with any host
// or without one. Slashes may be escaped.
func isReference(s string, i int) bool {
	if i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\t' {
		return false
	}
	before := strings.TrimSuffix(s[:i], "\\")
	slash := strings.LastIndexByte(before, '/')
	if slash < 1 || s[slash-1] == ' ' {
		return false
	}
	switch strings.ToLower(before[slash+1:]) {
	case "issues", "issue", "pull", "pulls", "discussions", "commit", "commits":
		return true
	}
	return false
}

// typography are the entities that may stay, because none of them spells an active character.
var typography = strings.Fields(`amp lt gt quot apos nbsp ensp emsp thinsp middot bull hellip mdash ndash lsquo rsquo
	ldquo rdquo laquo raquo larr rarr uarr darr harr copy reg trade times divide plusmn deg sect para euro pound yen
	cent check checkmark infin ne le ge`)

// isEntity reports whether rest, the text after an ampersand, makes it an entity that could spell a
// mention, a reference or an address. A numeric entity could spell any character.
func isEntity(rest string) bool {
	if rest == "" {
		return false
	}
	if rest[0] == '#' {
		return true
	}
	end := strings.TrimLeftFunc(rest, word(""))
	name := rest[:len(rest)-len(end)]
	return name != "" && strings.HasPrefix(end, ";") && !slices.Contains(typography, name)
}

// opens reports whether the "<" at i has to be broken: it opens an HTML comment, a declaration,
// or a tag that GitHub would not show.
func (w writer) opens(s string, i int, t trust) bool {
	before, s := s[max(0, i-longest):i], s[i:min(len(s), i+longest)]
	switch {
	case len(s) == 1:
		return false
	case s[1] == '!' || s[1] == '?':
		return true
	case !isLetter(s[1]) && s[1] != '/':
		return false
	case w.value:
		return true
	case t != prose:
		return w.linkTag(s)
	}
	if u := addressAt(s[1:]); u.scheme != "" {
		return u.length+1 >= len(s) || s[u.length+1] != '>' || w.options.AllowLink != nil && !u.permits(w.options.AllowLink)
	}
	g := tagAt(s)
	switch {
	case g.length == 0, !slices.Contains(shownTags, g.name):
		return true
	case w.options.AllowLink != nil && !g.bare:
		return g.name != "details"
	case g.name == "pre" && g.closing:
		return !containsFold(before, "<pre")
	case g.name == "pre":
		// A <pre> without a </pre> on the same line could make the following lines part of it.
		return !containsFold(s, "</pre>")
	}
	return false
}

// linkTag reports whether s begins with an address in angle brackets that AllowLink refuses. It
// also reports a tag that GitHub shows and that may contain an address: a tag with attributes, or
// one that continues on the next line. It returns false if AllowLink is nil.
func (w writer) linkTag(s string) bool {
	if w.options.AllowLink == nil {
		return false
	}
	if u := addressAt(s[1:]); u.scheme != "" {
		return !u.permits(w.options.AllowLink)
	}
	if rest := strings.TrimLeftFunc(s[1:], word("+.-")); strings.HasPrefix(rest, ":") {
		return true // an address with another scheme, such as mailto
	}
	g := tagAt(s)
	name, _ := tagName(s)
	// Browsers treat <image> as <img>.
	return (name == "image" || slices.Contains(shownTags, name)) && (g.length == 0 || !g.bare)
}

// containsFold reports whether s contains sub, ignoring case. sub must be in lower case.
func containsFold(s, sub string) bool { return strings.Contains(strings.ToLower(s), sub) }
