package sanitize

import (
	"bytes"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// longest is how far an address or a tag is read, so that many of them in a line take
// no time.
const longest = 1024

// address is one that a text begins with, as GitHub would link it.
type address struct {
	scheme string // "https://"; "" for one that begins with "www."
	host   string // in its ASCII form (IDNA), without port; "" when it has none
	length int    // in bytes; 0: there is no address
}

// addressAt reads the address that s begins with: up to a space, an angle bracket, a
// backtick, a quote or a bar, less the punctuation that ends a sentence.
func addressAt(s string) address {
	var a address
	if n := schemeLen(s); n > 0 {
		a.scheme = s[:n]
	} else if len(s) < 5 || !strings.EqualFold(s[:4], "www.") {
		return a
	}
	cut := len(s) > longest
	if cut {
		s = strings.ToValidUTF8(s[:longest], "")
	}
	whole := s // as far as GitHub may link it, or read the destination of a link
	if end := strings.IndexAny(s, " \t\n"); end >= 0 {
		whole, cut = s[:end], false
	}
	end := strings.IndexFunc(s, endsAddress)
	if end < 0 {
		end = len(s)
	}
	end = len(trimSentence(s[:end]))
	if end <= len(a.scheme) {
		return address{}
	}
	a.length = end
	if rest := whole[len(a.scheme):]; !cut || strings.ContainsAny(rest, "/?#") {
		a.host = hostOf(rest)
	}
	return a
}

// endsAddress matches the characters that end every address.
func endsAddress(r rune) bool {
	switch r {
	case '<', '>', '`', '"', '|':
		return true
	}
	return unicode.IsSpace(r)
}

// longestScheme is what CommonMark allows a scheme to have, in bytes.
const longestScheme = 32

// schemeLen is the length of the scheme and the "://" that s begins with.
func schemeLen(s string) int {
	n := 0
	for n < min(len(s), longestScheme+1) && (isLetter(s[n]) || n > 0 && (isDigit(s[n]) || strings.IndexByte("+.-", s[n]) >= 0)) {
		n++
	}
	if n == 0 || n > longestScheme || !strings.HasPrefix(s[n:], "://") {
		return 0
	}
	return n + len("://")
}

// trimSentence drops the punctuation after an address, and what follows a bracket
// that was not opened within it.
func trimSentence(s string) string {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			s = s[:i]
			break
		}
	}
	return strings.TrimRight(s, ".,:;!?'*_~]")
}

// hostOf returns the host of what follows a scheme, in its ASCII form. It is "" when the
// authority holds anything but a name, a port and the punctuation that ends the text: user
// information, escapes, entities and quotes may hide the host that a browser would go to.
func hostOf(s string) string {
	if end := strings.IndexAny(s, "/?#"); end >= 0 {
		s = s[:end]
	} else {
		s = strings.TrimRight(s, ".,:;!?'\"*_~)]|`>")
	}
	host, port, _ := strings.Cut(s, ":")
	plainRune := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '-' }
	if strings.TrimFunc(port, unicode.IsDigit) != "" || strings.TrimFunc(host, plainRune) != "" {
		return ""
	}
	return Host(host)
}

// Host returns the name of a host as a browser looks it up: in ASCII and lower case, with
// letters beyond ASCII in Punycode (RFC 5891, UTS 46). It is "" for an invalid name. Hosts must
// be compared in this form: "ı" and "K" look like ASCII letters, and folding their case would
// make them so.
func Host(name string) string {
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil {
		return ""
	}
	return ascii
}

// permits reports whether the policy keeps an address a link.
func (a address) permits(allow func(string) bool) bool {
	web := a.scheme == "" || strings.EqualFold(a.scheme, "https://") || strings.EqualFold(a.scheme, "http://")
	return web && a.host != "" && allow(a.host)
}

// passes is how often defuseLinks reads a text at most: two or three times are usual.
const passes = 8

// defuseLinks shows every address whose host is not allowed as code, without its scheme. It reads
// the text again until nothing changes, because a replacement can start or end a code span or a
// fenced code block. If the text still changes after several passes, zero width spaces break the
// remaining addresses.
func defuseLinks(s string, allow func(string) bool) string {
	for range passes {
		lines := strings.Split(s, "\n")
		c := certain(lines)
		var b blocks
		for i, line := range lines {
			if !c.fenced[i] && !b.inFence(line) {
				lines[i] = defuseLine(line, inlineTrust(line, c.inline), allow)
			}
			b.next(lines[i])
		}
		next := strings.Join(lines, "\n")
		if next == s {
			return s
		}
		s = next
	}
	return partLinks(s, allow)
}

// partLinks puts a space into every address whose host is not allowed, in code too.
func partLinks(s string, allow func(string) bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		a := address{}
		if isLetter(s[i]) && (i == 0 || !isAlnum(s[i-1])) {
			a = addressAt(s[i:])
		}
		if a.scheme != "" && !a.permits(allow) {
			b.WriteString(strings.TrimSuffix(a.scheme, "//") + " //")
			i += len(a.scheme)
			continue
		}
		n := max(a.length, 1)
		b.WriteString(s[i : i+n])
		i += n
	}
	return b.String()
}

// defuseLine defuses the addresses of one line that stand in text. Those without a
// scheme are left to the writer.
func defuseLine(s string, trusted func(int) trust, allow func(string) bool) string {
	if !strings.Contains(s, "://") {
		return s
	}
	var out []byte
	for i := 0; i < len(s); {
		a := address{}
		if isLetter(s[i]) && (i == 0 || !isAlnum(s[i-1])) && trusted(i) == prose {
			a = addressAt(s[i:])
		}
		if a.scheme == "" || a.permits(allow) {
			n := max(a.length, 1)
			out = append(out, s[i:i+n]...)
			i += n
			continue
		}
		end := i + a.length
		if bytes.HasSuffix(out, []byte("<")) && strings.HasPrefix(s[end:], ">") {
			out, end = out[:len(out)-1], end+1
		}
		out = append(apart(out), "`"+s[i+len(a.scheme):i+a.length]+"`"...)
		if strings.HasPrefix(s[end:], "`") {
			out = append(out, ' ')
		}
		i = end
	}
	return string(out)
}

// apart keeps the code that comes next apart from what stands before it: a link, whose
// destination it would be, other backticks, a backslash.
func apart(s []byte) []byte {
	switch {
	case bytes.HasSuffix(s, []byte("](")):
		return append(s[:len(s)-1], " ("...)
	case bytes.HasSuffix(s, []byte("`")), bytes.HasSuffix(s, []byte("\\")):
		return append(s, ' ')
	}
	return s
}

// refused reports whether the character at i belongs to an address that is not
// allowed and is still live: the colon before "//", or the last letter of "www".
func (w writer) refused(s string, i int) bool {
	if w.options.AllowLink == nil {
		return false
	}
	start := i
	if s[i] == ':' {
		if !strings.HasPrefix(s[i:], "://") {
			return false
		}
		for start > 0 && (isAlnum(s[start-1]) || strings.IndexByte("+.-", s[start-1]) >= 0) {
			start--
		}
		for start < i && !isLetter(s[start]) {
			start++
		}
		return start < i && !addressAt(s[start:]).permits(w.options.AllowLink)
	}
	start = i - 2
	if start < 0 || !strings.EqualFold(s[start:i], "ww") || !strings.HasPrefix(s[i+1:], ".") || start > 0 && isAlnum(s[start-1]) {
		return false
	}
	return !addressAt(s[start:]).permits(w.options.AllowLink)
}

// refusedMail reports whether the "@" at i stands in an email address whose host is not
// allowed: GitHub links such an address, alone or after "mailto:" and "xmpp:".
func (w writer) refusedMail(s string, i int) bool {
	if w.options.AllowLink == nil || i == 0 || !isAlnum(s[i-1]) && strings.IndexByte("._+-", s[i-1]) < 0 {
		return false
	}
	rest := s[i+1:]
	end := len(rest) - len(strings.TrimLeftFunc(rest, word("-_.")))
	host := strings.Trim(rest[:end], ".-_")
	if host == "" {
		return false
	}
	host = Host(host)
	return host == "" || !w.options.AllowLink(host)
}

// links reports whether the "]" at i would make a link that is not allowed: by what
// follows it, a destination or a definition. In a value none is.
func (w writer) links(s string, i int) bool {
	rest := s[i+1:]
	if rest == "" || strings.IndexByte("([:", rest[0]) < 0 {
		return false
	}
	if w.value {
		return true
	}
	if w.options.AllowLink == nil || rest[0] == '[' {
		return false
	}
	target := strings.TrimLeft(rest[1:], " \t")
	if a := addressAt(target); a.length > 0 {
		return !a.permits(w.options.AllowLink)
	}
	return !relative(target)
}

// relative reports whether a destination is a plain path, query or fragment of the
// page's own host.
func relative(s string) bool {
	after := strings.TrimLeftFunc(s, word("/.-_#?=+%"))
	return after != s && !strings.HasPrefix(s, "//") && (after == "" || strings.IndexByte(" \t)", after[0]) >= 0)
}
