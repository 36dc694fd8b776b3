package sanitize

import "strings"

// maxDepth bounds how deep quotes and lists are followed, so that hostile nesting
// costs no time.
const maxDepth = 100

// blocks follows the block structure of a Markdown text line by line, as CommonMark
// describes it, far enough to know which lines are in a fence and where HTML blocks
// begin. The zero value stands before the first line.
type blocks struct {
	open []container // quotes and list items, the outermost first
	leaf leaf        // the block of text within the innermost container

	last lastLine
}

// lastLine describes the last line, such as whether it is in an HTML block.
type lastLine struct {
	html   bool
	begins bool // the block begins with this line
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

// next takes in the next line.
func (b *blocks) next(line string) {
	n, rest := b.match(expandTabs(line))
	all := n == len(b.open)
	b.last = lastLine{}
	switch {
	case all && b.leaf.fence != "":
		if closes(rest, b.leaf.fence) {
			b.leaf = leaf{}
		}
		return
	case all && b.leaf.html != nil:
		b.last.html = true
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
			if found.html != nil {
				b.last = lastLine{html: true, begins: true}
				if found.html.ends(text) {
					b.leaf = leaf{}
				}
			}
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
