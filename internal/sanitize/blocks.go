package sanitize

import "strings"

// maxDepth limits how deep nested quotes and lists are tracked, so that hostile nesting costs no
// time.
const maxDepth = 100

// blocks tracks the block structure of a Markdown text line by line, by the rules of CommonMark. It
// tracks just enough to know which lines are in a fence and where HTML blocks begin. The zero value
// is the state before the first line.
type blocks struct {
	open []container // quotes and list items, the outermost first
	leaf leaf        // the open block in the innermost container

	last lastLine
}

// lastLine describes the last line that next has read.
type lastLine struct {
	html   bool
	begins bool // the HTML block begins with this line
}

// container is a block quote, or a list item.
type container struct {
	indent int  // number of columns before the content of a list item; 0: a quote
	empty  bool // a list item without any content so far
}

// leaf is an open block with lines of text. The zero value means that there is none, or that the
// next line cannot continue it.
type leaf struct {
	paragraph bool
	fence     string // the run of signs that opened a fence
	html      *html  // an HTML block
}

// inFence reports whether line would be content of a fence if it were the next line.
func (b *blocks) inFence(line string) bool {
	if b.leaf.fence == "" {
		return false
	}
	n, rest := b.match(expandTabs(line))
	return n == len(b.open) && !closes(rest, b.leaf.fence)
}

// next reads the next line.
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

// match returns how many of the open containers the line continues, and the rest of the line after
// their marks.
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

// start opens the blocks that begin on a line. The line continues n of the open containers.
func (b *blocks) start(n int, line string) {
	lazy := b.leaf.paragraph                               // the line may continue a paragraph without the marks of its containers
	inside := lazy && n == len(b.open)                     // the line has all these marks
	shut := func() { b.open, b.leaf = b.open[:n], leaf{} } // closes all blocks that the line does not continue
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

// filled records that all open list items have content.
func (b *blocks) filled() {
	for i := range b.open {
		b.open[i].empty = false
	}
}
