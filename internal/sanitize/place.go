package sanitize

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/text"
)

// A Place is the kind of place that a value has in a Markdown text.
type Place int

// The places of a value.
const (
	InText          Place = iota // in text
	InCode                       // in a fence, or after a backtick that may open inline code
	InURLHost                    // in the host of an address
	InURLPath                    // in the path or the fragment of an address
	InURLRoot                    // after the first slash of an address without a host
	InURLQuery                   // in the query of an address
	InDestination                // at the start of the destination of a Markdown link
	InAttribute                  // in the quoted value of an attribute of an HTML tag
	InTitle                      // in the title of a Markdown link
	InBareAttribute              // in the value of an attribute without quotes
	InTag                        // elsewhere in an HTML tag
	InHTMLComment
	AtLineStart // at the start of a line of text, of a list item or of a quote
)

// PlaceAt returns the place of a value that follows the text before. It treats HTML in inline code
// as HTML, because text that is escaped for HTML is harmless in code, too.
func PlaceAt(before string) Place {
	lines := strings.Split(before, "\n")
	last := len(lines) - 1
	var b blocks
	start := 0 // first line of the paragraph or the HTML block
	for i, line := range lines[:last] {
		b.next(line)
		switch {
		case b.last.begins:
			start = i
		case strings.TrimSpace(line) == "" && !b.last.html:
			start = i + 1
		}
	}
	if b.inFence(lines[last]) {
		return InCode
	}
	text := strings.Join(lines[start:], "\n")
	open := unclosed(text)
	if open >= 0 && (strings.HasPrefix(text[open:], "<!") || strings.HasPrefix(text[open:], "<?")) {
		return InHTMLComment
	}
	if p, ok := inURL(lines[last]); ok {
		return p
	}
	if address, ok := destinationIn(text); ok {
		return inDestination(address)
	}
	if open >= 0 {
		if m := urlAttribute().FindStringSubmatch(text); m != nil {
			return inDestination(m[1] + m[2])
		}
		if m := srcset().FindStringSubmatch(text); m != nil {
			return inDestination(m[1])
		}
	}
	switch {
	case title().MatchString(text):
		return InTitle
	case open >= 0 && inQuotes(text[open:]):
		return InAttribute
	case open >= 0 && bareAttribute().MatchString(text[open:]):
		return InBareAttribute
	case open >= 0:
		return InTag
	}
	if _, left := codeSpans(lines[last]); left {
		return InCode
	}
	if lineStart().MatchString(lines[last]) {
		return AtLineStart
	}
	return InText
}

// lineStart matches what may precede the text of a line: marks of quotes, lists, tasks and
// footnotes.
var lineStart = text.Regexp(`^[ \t]*(?:(?:>|[-+*]|[0-9]{1,9}[.)]|\[[ xX]\]|` + footnote + `)[ \t]*)*$`)

// digits matches a value that could become the number of a list item, before a dot or a bracket.
var digits = text.Regexp(`^[0-9]{1,9} *$`)

// destinationIn returns the start of a link's destination at the end of a text; ok is false if the
// text does not end in a destination.
func destinationIn(text string) (address string, ok bool) {
	if m := definition().FindStringSubmatch(text); m != nil {
		return m[1], true
	}
	for end := len(text); ; {
		i := strings.LastIndex(text[:end], "](")
		if i < 0 {
			return "", false
		}
		address = strings.TrimPrefix(strings.TrimLeft(text[i+2:], " \t\n"), "<")
		if strings.ContainsAny(address, " \t\n<>") {
			return "", false // the destinations of all earlier links also end before the text's end
		}
		if nested(address) {
			return address, true
		}
		end = i
	}
}

// nested reports whether every closing bracket of a text has an opening one before it.
func nested(s string) bool {
	depth := 0
	for _, c := range s {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return true
}

// footnote matches the start of a footnote's definition, and label the start of a link's
// definition.
const (
	footnote = `\[\^[^\]\s]+\]:`
	label    = `(?m:^) {0,3}\[(?:[^\]^][^\]]*|\^(?:[^\]]*\s[^\]]*)?)?\]:`
)

// bareAttribute matches a tag that ends inside an attribute value without quotes.
var bareAttribute = text.Regexp(`=\s*[^\s"'=<>\x60]*$`)

var (
	// definition matches a text that ends inside the destination of a link's definition.
	definition = text.Regexp(label + `\s*<?([^\s<>]*)$`)
	// urlAttribute matches a tag that ends inside an attribute with an address. srcset matches one
	// that ends inside a list of addresses.
	urlAttribute = text.Regexp(`(?i)\b(?:href|src|cite|longdesc)\s*=\s*(?:"\s*([^"]*)|'\s*([^']*))$`)
	srcset       = text.Regexp(`(?i)\bsrcset\s*=\s*["'](?:[^"']*[\s,])?([^"'\s,]*)$`)
	// title matches a text that ends inside the title of a link.
	title = text.Regexp(`(?:\]\(|` + label + `)\s*\S+\s+(?:"[^"]*|'[^']*|\([^)]*)$`)
)

// inDestination returns the place of a value after before, the start of a link's destination.
func inDestination(before string) Place {
	switch {
	case before == "":
		return InDestination
	case before == "/":
		return InURLRoot
	case strings.HasPrefix(before, "//") || strings.Contains(before, ":"):
		return InURLHost
	case strings.Contains(before, "?") && !strings.Contains(before, "#"):
		return InURLQuery
	}
	return InURLPath
}

// inURL reports whether a line ends inside an address, and the place in it.
func inURL(line string) (Place, bool) {
	word := line[strings.LastIndexAny(line, " \t<>\"'`")+1:]
	_, rest, ok := strings.Cut(word, "://")
	if !ok {
		_, rest, ok = strings.Cut(strings.ToLower(word), "www.")
	}
	query, fragment := strings.Index(rest, "?"), strings.Index(rest, "#")
	switch {
	case !ok:
		return InText, false
	case !strings.ContainsAny(rest, "/?#"):
		return InURLHost, true
	case query >= 0 && fragment < 0:
		return InURLQuery, true
	}
	return InURLPath, true
}

// inQuotes reports whether s, a tag without an end, ends inside a quoted attribute value.
func inQuotes(s string) bool {
	for _, quote := range []string{`"`, "'"} {
		if markupLen(s+quote+">") > 0 && markupLen(s+">") < 0 {
			return true
		}
	}
	return false
}

// Unescapable returns why a value at this place cannot be escaped without changing its meaning. It
// returns "" if it can be escaped.
func (p Place) Unescapable() string {
	switch p {
	case InURLHost:
		return "a value is part of the host of an address, so only its letters, digits and hyphens are kept"
	case InDestination:
		return "a value determines the target of a link"
	case InBareAttribute:
		return "a value is in an unquoted attribute, so only its letters, digits and hyphens are kept"
	case InTag:
		return "a value is in an HTML tag but not in an attribute's value, so it is left out"
	case InText, InCode, InURLPath, InURLRoot, InURLQuery, InAttribute, InTitle, InHTMLComment, AtLineStart:
	}
	return ""
}

// ValueAt is [Value] for a place: whatever the value contains, it does not extend beyond that
// place.
func ValueAt(s string, p Place) string {
	switch p {
	case InTag:
		return ""
	case InURLHost, InBareAttribute:
		return strings.Map(func(r rune) rune {
			if isAlnum(r) || r == '-' {
				return r
			}
			return -1
		}, s)
	case InURLRoot:
		return cmp.Or(ValueAt(s, InURLPath), ".") // not empty: two slashes would begin a host
	case InURLPath:
		s = oneLine(s)
		if s == "." || s == ".." {
			return "" // it would lead to another folder
		}
		return strings.NewReplacer("$", "%24", "@", "%40", ":", "%3A", "=", "%3D").Replace(url.PathEscape(s))
	case InURLQuery:
		return url.QueryEscape(oneLine(s))
	case InDestination:
		return strings.ReplaceAll(outside().ReplaceAllStringFunc(oneLine(s), url.PathEscape), "~", "%7E")
	case InAttribute:
		return strings.NewReplacer(`"`, "”", "'", "’").Replace(Value(s))
	case InTitle:
		return strings.NewReplacer(`"`, "”", "'", "’", "(", "❨", ")", "❩").Replace(Value(s))
	case InHTMLComment:
		return strings.NewReplacer("<", "", ">", "", "-", "\u2010", ":", "\u2236").Replace(Value(s)) // neither the comment's end nor our marker can be spelled
	case AtLineStart:
		if s = unemphasized(Value(s)); digits().MatchString(s) {
			return zwsp + s // else a dot after it would make it the number of a list item
		}
		return s
	case InText:
		return unemphasized(Value(s))
	case InCode:
	}
	return Value(s)
}

// SuppliedAt is [ValueAt] for the address of a web page, or for the full name of a repository, that
// the host of the issue determines. They stay whole wherever they can. A text of another form is an
// untrusted value.
func SuppliedAt(s string, p Place) string {
	switch {
	case (p == InText || p == AtLineStart) && webPage().MatchString(s):
		return unemphasized(s)
	case (p == InCode || p == InTitle || p == InAttribute) && webPage().MatchString(s):
		return s
	case (p == InURLPath || p == InURLRoot) && fullName().MatchString(s):
		return s
	}
	return ValueAt(s, p)
}

// webPage matches an address without any character that could end it, or that has a meaning in
// HTML. fullName matches the owner and the name of a repository.
var (
	webPage  = text.Regexp(`^https?://[A-Za-z0-9.-]+(?::[0-9]+)?(?:/[A-Za-z0-9._-]*[A-Za-z0-9_-])*/[A-Za-z0-9]+$`)
	fullName = text.Regexp(`^[A-Za-z0-9_-]+/[A-Za-z0-9._-]*[A-Za-z0-9_-]$`)
)

// unemphasized escapes backslashes and the signs of emphasis and links, because they could pair
// with signs in the text around the value. It does not escape signs in addresses or underscores
// within words.
func unemphasized(s string) string {
	var b strings.Builder
	if strings.HasPrefix(s, "[") {
		b.WriteString(zwsp) // so that it is no checkbox of a task list
	}
	for i := 0; i < len(s); i++ {
		if i == 0 || strings.IndexByte(" *_~(", s[i-1]) >= 0 {
			if a := addressAt(s[i:]); linked(a) {
				n := wordsOf(s[i : i+a.length])
				b.WriteString(s[i : i+n])
				i += n - 1
				continue
			}
		}
		within := i > 0 && isAlnum(s[i-1]) && i+1 < len(s) && isAlnum(s[i+1])
		if strings.IndexByte("*~[]\\", s[i]) >= 0 || s[i] == '_' && !within {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// wordsOf returns the length of an address up to a place where the link may end: a bracket, a
// backslash, or a sign of emphasis that no letter or digit follows.
func wordsOf(address string) int {
	for i := range len(address) {
		open := i+1 == len(address) || !isAlnum(address[i+1])
		if strings.IndexByte("*_~", address[i]) >= 0 && open || strings.IndexByte(`[]\`, address[i]) >= 0 {
			return i
		}
	}
	return len(address)
}

// linked reports whether GitHub makes a link of an address without any markup.
func linked(a address) bool {
	scheme := strings.ToLower(a.scheme)
	return strings.Contains(a.host, ".") && (scheme == "" || scheme == "http://" || scheme == "https://")
}

// outside matches the characters that must be escaped in the destination of a link.
var outside = text.Regexp(`[^A-Za-z0-9._:/?#!&*+,;=%-]+`)
