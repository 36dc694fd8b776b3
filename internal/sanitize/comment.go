package sanitize

import "strings"

// Options list the parts that a text may keep.
type Options struct {
	// AllowMention reports whether a mention stays; login is as written, without the
	// "@": "octocat" or "org/team". Nil allows none.
	AllowMention func(login string) bool
	// AllowLink reports whether an address stays a link; host is in the form of [Host],
	// without port, and of an email address what follows the "@". Nil keeps every link.
	AllowLink func(host string) bool
}

// Comment makes a whole Markdown text that an agent wants posted harmless. Broken,
// by a zero width space, are mentions, references to issues (#1, GH-1, o/r#1) and
// addresses of issues, pull requests, discussions and commits, entities that could
// spell any of them, HTML comments and tags that GitHub does not show, and a command
// ("/close") at the start of a line. Invisible and control characters are dropped.
// Certain code keeps its mentions and references; see the
// package comment. Where o.AllowLink refuses a host, its address is shown as code
// without the scheme.
func Comment(s string, o Options) string {
	s = clean(s)
	if o.AllowLink != nil {
		s = defuseLinks(s, o.AllowLink)
	}
	w := writer{options: o}
	lines := strings.Split(s, "\n")
	c := certain(lines)
	var b blocks
	for i, line := range lines {
		switch {
		case c.fenced[i]:
			lines[i] = w.line(line, fixed(sure))
		case b.inFence(line):
			lines[i] = w.line(line, fixed(likely))
		default:
			lines[i] = w.line(line, inlineTrust(line, c.inline))
		}
		b.next(lines[i])
	}
	return strings.Join(lines, "\n")
}

// Trusted prepares a Markdown text that a maintainer wrote, in which values were put
// by [Value]. Mentions, references, links and HTML stay, zero width spaces too. Our
// own markers are broken, control characters dropped, and line breaks become "\n".
func Trusted(s string) string { return breakMarkers(plain(s)) }

// Value makes one foreign value harmless where a maintainer's own Markdown text, code
// or not, takes it in. It does what [Comment] does, without regard to code, and keeps
// the value from changing the text around it:
//
//   - It is one line: white space, line breaks included, becomes single spaces.
//   - It begins no heading, list, quote, fence, table or command.
//   - It holds no HTML and no Markdown link; an address that stands alone stays one.
//   - Backticks become apostrophes and bars become broken bars (¦), since neither can
//     be escaped in code, and either would turn the maintainer's code into text.
//   - It does not join with what follows it into a mention, a reference or an escape.
func Value(s string) string {
	s = oneLine(s)
	if s == "" {
		return ""
	}
	s = strings.NewReplacer("`", "'", "|", "¦").Replace(s)
	w := writer{value: true}
	out := w.line(s, fixed(prose))
	if strings.IndexByte("#>-+*=~:", s[0]) >= 0 || listMark(s) > 0 {
		out = zwsp + out
	}
	if strings.IndexByte("@#&<\\/-]", s[len(s)-1]) >= 0 && !strings.HasSuffix(out, zwsp) {
		out += zwsp
	}
	return out
}
