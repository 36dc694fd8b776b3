package sanitize

import "strings"

// Options list what a text may keep.
type Options struct {
	// AllowMention reports whether a mention may stay. login is as written, without the "@":
	// "octocat" or "org/team". Nil allows none.
	AllowMention func(login string) bool
	// AllowLink reports whether an address may stay a link. host is in the form of [Host], without
	// port. For an email address it is the part after the "@". Nil keeps every link.
	AllowLink func(host string) bool
}

// Comment neutralizes a whole Markdown text that an agent wants to post. It inserts zero width
// spaces to break:
//
//   - mentions, references to issues (#1, GH-1, o/r#1), and addresses of issues, pull requests,
//     discussions and commits,
//   - entities that could spell any of these,
//   - HTML comments, and tags that GitHub does not show,
//   - a command ("/close") at the start of a line.
//
// It drops invisible and control characters. Code that is certainly code keeps its mentions and
// references; see the package comment. If o.AllowLink refuses a host, its address is shown as code
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

// Trusted prepares a Markdown text by a maintainer that contains values from [Value]. It keeps
// mentions, references, links, HTML and zero width spaces. It breaks our own markers, drops control
// characters, and converts line breaks to "\n".
func Trusted(s string) string { return breakMarkers(plain(s)) }

// Value neutralizes one untrusted value for a Markdown text by a maintainer, whether it is put into
// code or not. It does what [Comment] does, but treats nothing as code. It also prevents the value
// from changing the text around it:
//
//   - It is one line: white space, line breaks included, becomes single spaces.
//   - It begins no heading, list, quote, fence, table or command.
//   - It contains no HTML and no Markdown link; an address that stands alone stays one.
//   - Backticks become apostrophes and bars become broken bars (¦), because neither can
//     be escaped in code, and either would turn the maintainer's code into text.
//   - Together with the text after it, it forms no mention, no reference and no escape.
func Value(s string) string {
	s = oneLine(s)
	if s == "" {
		return ""
	}
	s = strings.NewReplacer("`", "'", "|", "¦").Replace(s)
	w := writer{value: true}
	return apartFrom(s, w.line(s, fixed(prose)), "#>-+*=~:")
}
