package sanitize

import "strings"

// maxDepth bounds how deep quotes and lists are followed, so that hostile nesting
// costs no time.
const maxDepth = 100

// blocks follows the block structure of a Markdown text line by line, as CommonMark
// describes it, far enough to know which lines are in a fence and what is open at the
// end. The zero value stands before the first line.
type blocks struct {
	open []container // quotes and list items, the outermost first
	leaf leaf        // the block of text within the innermost container
}

// container is a block quote, or a list item.
type container struct {
	indent int  // columns that the content of an item is indented by; 0: a quote
	empty  bool // an item whose first line has no content yet
}

// leaf is an open block that holds lines of text. The zero value is none, or one
// that the next line cannot continue.
type leaf struct {
	paragraph bool
	fence     string // the opening run of a fence
	html      *html  // an HTML block
}

// inFence reports whether line, when it comes next, is content of a fence.
func (b *blocks) inFence(line string) bool {
	if b.leaf.fence == "" {
		return false
	}
	n, rest := b.match(expandTabs(line))
	return n == len(b.open) && !closes(rest, b.leaf.fence)
}

// closer returns what ends the block that would run on past a blank line into a line
// that begins in the first column; "" when there is none.
func (b *blocks) closer() string {
	switch {
	case len(b.open) > 0:
		return ""
	case b.leaf.html != nil:
		return b.leaf.html.closer
	}
	return b.leaf.fence
}

// next takes in the next line.
func (b *blocks) next(line string) {
	n, rest := b.match(expandTabs(line))
	all := n == len(b.open)
	switch {
	case all && b.leaf.fence != "":
		if closes(rest, b.leaf.fence) {
			b.leaf = leaf{}
		}
		return
	case all && b.leaf.html != nil:
		if b.leaf.html.ends(rest) {
			b.leaf = leaf{}
		}
		return
	}
	b.start(n, rest)
}

// match finds how many of the open containers the line continues, and what remains
// of it within them.
func (b *blocks) match(line string) (int, string) {
	for i, c := range b.open {
		indent, blank := indentOf(line)
		switch {
		case c.indent == 0:
			if indent > 3 || blank || line[indent] != '>' {
				return i, line
			}
			line = strings.TrimPrefix(line[indent+1:], " ")
		case blank:
			if c.empty {
				return i, line
			}
			line = ""
		case indent < c.indent:
			return i, line
		default:
			line = line[c.indent:]
		}
	}
	return len(b.open), line
}

// start opens the blocks that begin on a line, of which n containers continue.
func (b *blocks) start(n int, line string) {
	lazy := b.leaf.paragraph                               // the line may go on with a paragraph without its containers' marks
	inside := lazy && n == len(b.open)                     // it stands in the paragraph itself
	shut := func() { b.open, b.leaf = b.open[:n], leaf{} } // nothing that was open goes on
	for {
		indent, blank := indentOf(line)
		if blank {
			shut()
			return
		}
		if indent > 3 {
			if !lazy {
				shut()
				b.filled()
				return
			}
			break
		}
		text := line[indent:]
		if found, ok := leafStart(text, inside); ok {
			shut()
			b.filled()
			b.leaf = found
			return
		}
		c, rest, ok := containerStart(text, inside)
		if !ok || len(b.open) >= maxDepth {
			break
		}
		shut()
		b.filled()
		if c.indent > 0 {
			c.indent += indent
		}
		b.open = append(b.open, c)
		n, line, lazy, inside = len(b.open), rest, false, false
	}
	if lazy {
		return
	}
	shut()
	b.filled()
	b.leaf.paragraph = true
}

// filled notes that the open items have content.
func (b *blocks) filled() {
	for i := range b.open {
		b.open[i].empty = false
	}
}

// containerStart recognises the mark of a quote or a list item, and returns what
// follows it.
func containerStart(s string, inParagraph bool) (container, string, bool) {
	if s[0] == '>' {
		return container{}, strings.TrimPrefix(s[1:], " "), true
	}
	width := listMark(s)
	if width == 0 {
		return container{}, "", false
	}
	rest := s[width:]
	spaces, blank := indentOf(rest)
	if inParagraph && (blank || width > 1 && strings.TrimLeft(s[:width-1], "0") != "1") {
		return container{}, "", false
	}
	if blank {
		return container{indent: width + 1, empty: true}, "", true
	}
	if spaces > 4 {
		spaces = 1
	}
	return container{indent: width + spaces}, rest[spaces:], true
}

// listMark is the width of the list mark that s begins with; 0: there is none.
func listMark(s string) int {
	n := 0
	if !strings.ContainsRune("-+*", rune(s[0])) {
		for n < len(s) && n < 9 && isDigit(s[n]) {
			n++
		}
		if n == 0 || n == len(s) || s[n] != '.' && s[n] != ')' {
			return 0
		}
	}
	n++
	if n < len(s) && s[n] != ' ' {
		return 0
	}
	return n
}

// leafStart recognises a block that begins with s and is not a paragraph. The zero
// leaf is one that ends with its line.
func leafStart(s string, inParagraph bool) (leaf, bool) {
	if run := fenceRun(s); run != "" {
		return leaf{fence: run}, true
	}
	if h := htmlStart(s, inParagraph); h != nil {
		if h.ends(s) {
			return leaf{}, true
		}
		return leaf{html: h}, true
	}
	return leaf{}, isHeading(s) || isRule(s) || inParagraph && isUnderline(s)
}

// fenceRun returns the run of a fence that s opens, "" when it opens none.
func fenceRun(s string) string {
	n := len(s) - len(strings.TrimLeft(s, "`"))
	if n >= 3 && !strings.Contains(s[n:], "`") {
		return s[:n]
	}
	n = len(s) - len(strings.TrimLeft(s, "~"))
	if n >= 3 {
		return s[:n]
	}
	return ""
}

// closes reports whether line ends a fence that run opened.
func closes(line, run string) bool {
	indent, blank := indentOf(line)
	if blank || indent > 3 {
		return false
	}
	s := strings.TrimRight(line[indent:], " \t")
	return len(s) >= len(run) && strings.Trim(s, run[:1]) == ""
}

// isHeading recognises a heading with number signs.
func isHeading(s string) bool {
	rest := strings.TrimLeft(s, "#")
	n := len(s) - len(rest)
	return 0 < n && n <= 6 && (rest == "" || rest[0] == ' ')
}

// isRule recognises a thematic break.
func isRule(s string) bool {
	s = strings.ReplaceAll(s, " ", "")
	return len(s) >= 3 && strings.Contains("-_*", s[:1]) && strings.Trim(s, s[:1]) == ""
}

// isUnderline recognises the line that makes a heading of the paragraph above it.
func isUnderline(s string) bool {
	s = strings.TrimRight(s, " ")
	return strings.Trim(s, "=") == "" || strings.Trim(s, "-") == ""
}

// indentOf counts the spaces that line begins with, and says whether there is
// nothing else.
func indentOf(line string) (n int, blank bool) {
	n = len(line) - len(strings.TrimLeft(line, " "))
	return n, n == len(line)
}

// expandTabs replaces tabs by spaces up to the next multiple of four columns.
func expandTabs(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var b strings.Builder
	column := 0
	for _, r := range line {
		if r != '\t' {
			b.WriteRune(r)
			column++
			continue
		}
		n := 4 - column%4
		b.WriteString("    "[:n])
		column += n
	}
	return b.String()
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isDigit(c) || isLetter(c) }
