package sanitize

import (
	"bytes"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// longest is how many bytes of an address or a tag are read, so that many of them in one line cost
// no time.
const longest = 1024

// address is an address at the start of a text, as GitHub would link it.
type address struct {
	scheme string // such as "https://"; "" if the address begins with "www."
	host   string // in its ASCII form (IDNA), without port; "" if it is not certain
	length int    // in bytes; 0: there is no address
}

// addressAt reads the address at the start of s. It ends before a space, an angle bracket, a
// backtick, a double quote or a bar. Punctuation that ends a sentence is not part of it.
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
	whole := s // the longest text that GitHub may link, or read as the destination of a link
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

// longestScheme is the length that CommonMark allows for a scheme, in bytes.
const longestScheme = 32

// schemeLen returns the length of the scheme and "://" at the start of s.
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

// trimSentence removes the punctuation after an address, and everything from a closing bracket
// without an opening one.
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

// afterName is punctuation that may follow a host at the end of an address. After it, or after the
// host, there may also be "]", "|" and ">", which no host contains (URL Standard, "forbidden domain
// code point"), and anything after these.
const afterName = ".,:;!?'\"*_~)"

// hostOf returns the host at the start of s, the text after a scheme, in its ASCII form. It returns
// "" if the authority contains anything but a name, a port and the punctuation that ends the text.
// User information, escapes, entities and quotes could hide the host that a browser would open.
func hostOf(s string) string {
	if end := strings.IndexAny(s, "/?#"); end >= 0 {
		s = s[:end]
	} else {
		name := strings.TrimRight(s, afterName+"]|>`")
		if strings.HasPrefix(strings.TrimLeft(s[len(name):], afterName), "`") {
			return "" // GitHub and browsers take this backtick as a part of the name
		}
		s = name
	}
	host, port, _ := strings.Cut(s, ":")
	plainRune := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '-' }
	if strings.TrimFunc(port, unicode.IsDigit) != "" || strings.TrimFunc(host, plainRune) != "" {
		return ""
	}
	return Host(host)
}

// Host returns the name of a host as a browser looks it up: in ASCII and lower case, with letters
// beyond ASCII in Punycode (RFC 5891, UTS 46). It returns "" for an invalid name. Hosts must be
// compared in this form. The letter "ı" (U+0131) and the Kelvin sign (U+212A) look like ASCII
// letters, and folding their case would make them equal to these.
func Host(name string) string {
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil {
		return ""
	}
	return ascii
}

// permits reports whether the policy allows an address to stay a link.
func (a address) permits(allow func(string) bool) bool {
	web := a.scheme == "" || strings.EqualFold(a.scheme, "https://") || strings.EqualFold(a.scheme, "http://")
	return web && a.host != "" && allow(a.host)
}

// passes is how often defuseLinks reads a text at most: two or three times are usual.
const passes = 8

// defuseLinks shows every address whose host is not allowed as code, without its scheme. It reads
// the text again until nothing changes, because a replacement can start or end a code span or a
// fenced code block. If the text still changes after several passes, spaces break the remaining
// addresses.
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

// partLinks inserts a space into every address whose host is not allowed, even in code.
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

// defuseLine defuses the addresses of one line that are not in code. It leaves addresses without a
// scheme to the writer.
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

// apart returns s so that code can be appended: it inserts a space if the code would otherwise join
// with the start of a link's destination, with other backticks, or with a backslash.
func apart(s []byte) []byte {
	switch {
	case bytes.HasSuffix(s, []byte("](")):
		return append(s[:len(s)-1], " ("...)
	case bytes.HasSuffix(s, []byte("`")), bytes.HasSuffix(s, []byte("\\")):
		return append(s, ' ')
	}
	return s
}

// refused reports whether the character at i must be broken because its address is not allowed: the
// colon before "//", or the last letter of "www".
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

// refusedMail reports whether the "@" at i is part of an email address whose host is not allowed.
// GitHub links such an address, alone or after "mailto:" and "xmpp:".
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

// links reports whether the "]" at i would make a link that is not allowed. It checks what follows:
// a destination or a definition. A value may contain no link at all.
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

// relative reports whether a destination is a plain path, query or fragment on the host of the
// page.
func relative(s string) bool {
	after := strings.TrimLeftFunc(s, word("/.-_#?=+%"))
	return after != s && !strings.HasPrefix(s, "//") && (after == "" || strings.IndexByte(" \t)", after[0]) >= 0)
}
