package sanitize

import (
	"slices"
	"strings"
)

// html is an open HTML block.
type html struct {
	marks []string // in lower case; the block ends with the line that contains one of them; none: with a blank line
}

// ends reports whether line is the last one of the block.
func (h *html) ends(line string) bool {
	if len(h.marks) == 0 {
		return strings.Trim(line, " \t") == ""
	}
	line = strings.ToLower(line)
	return slices.ContainsFunc(h.marks, func(m string) bool { return strings.Contains(line, m) })
}

// rawTags are the elements whose content is not Markdown.
var rawTags = []string{"pre", "script", "style", "textarea"}

// blockTags begin an HTML block anywhere, even in a paragraph.
var blockTags = strings.Fields(`address article aside base basefont blockquote body caption center col colgroup
	dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head
	header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section
	source summary table tbody td tfoot th thead title tr track ul`)

// htmlStart recognises the seven kinds of HTML blocks, nil when s begins none.
func htmlStart(s string, inParagraph bool) *html {
	if s[0] != '<' || len(s) < 2 {
		return nil
	}
	for _, h := range []struct{ start, end string }{{"<!--", "-->"}, {"<?", "?>"}, {"<![CDATA[", "]]>"}} {
		if strings.HasPrefix(s, h.start) {
			return &html{marks: []string{h.end}}
		}
	}
	if s[1] == '!' && len(s) > 2 && 'A' <= s[2] && s[2] <= 'Z' {
		return &html{marks: []string{">"}}
	}
	closing := strings.HasPrefix(s, "</")
	name, after := tagName(s)
	ended := after == "" || strings.ContainsRune(" >", rune(after[0]))
	switch {
	case !closing && ended && slices.Contains(rawTags, name):
		return &html{marks: []string{"</pre>", "</script>", "</style>", "</textarea>"}}
	case slices.Contains(blockTags, name) && (ended || strings.HasPrefix(after, "/>")):
		return &html{}
	}
	if t := tagAt(s); !inParagraph && t.length > 0 && strings.Trim(s[t.length:], " \t") == "" {
		return &html{}
	}
	return nil
}

// tagName returns the name of the tag at the start of s, in lower case, and the rest of s after the
// name.
func tagName(s string) (name, after string) {
	s = strings.TrimPrefix(s[1:], "/")
	n := 0
	for n < len(s) && (isLetter(s[n]) || n > 0 && (isDigit(s[n]) || s[n] == '-')) {
		n++
	}
	return strings.ToLower(s[:n]), s[n:]
}

// tag is a complete tag.
type tag struct {
	name    string // in lower case
	length  int    // in bytes; 0: there is no complete tag
	closing bool
	bare    bool // without attributes
}

// tagAt reads the tag at the start of s. The tag must end on the same line.
func tagAt(s string) tag {
	t := tag{closing: strings.HasPrefix(s, "</"), bare: true}
	name, rest := tagName(s)
	if t.name = name; name == "" {
		return tag{}
	}
	for !t.closing {
		after, ok := cutAttribute(rest)
		if !ok {
			break
		}
		t.bare, rest = false, after
	}
	rest = strings.TrimLeft(rest, " \t")
	if !t.closing {
		rest = strings.TrimPrefix(rest, "/")
	}
	if !strings.HasPrefix(rest, ">") {
		return tag{}
	}
	t.length = len(s) - len(rest) + 1
	return t
}

// cutAttribute removes a space and the attribute after it from the start of s.
func cutAttribute(s string) (string, bool) {
	rest := strings.TrimLeft(s, " \t")
	if rest == s || rest == "" || !isLetter(rest[0]) && rest[0] != '_' && rest[0] != ':' {
		return s, false
	}
	rest = strings.TrimLeftFunc(rest, word("_:.-"))
	value, ok := strings.CutPrefix(strings.TrimLeft(rest, " \t"), "=")
	if !ok {
		return rest, true
	}
	value = strings.TrimLeft(value, " \t")
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		_, after, ok := strings.Cut(value[1:], value[:1])
		return after, ok
	}
	n := strings.IndexAny(value, " \t\"'=<>`")
	if n < 0 {
		n = len(value)
	}
	return value[n:], n > 0
}

// shownTags are the elements that GitHub shows in a comment. GitHub drops other tags, so Comment
// breaks them and they are shown as typed: "List<String>" stays readable.
var shownTags = strings.Fields(`a abbr b bdo blockquote br caption cite code dd del details dfn div dl dt em figcaption
	figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p picture pre q rp rt ruby s samp small source span strike
	strong sub summary sup table tbody td tfoot th thead tr tt ul var wbr`)
