package yamlfile

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// maxLine is the largest length in bytes of a line that is searched for a place. In a longer line
// every mistake is placed at the start of its scalar, because a thousand mistakes would cause a
// thousand searches.
const maxLine = 16 << 10

// locate maps a line and column of a scalar's value to those of the file. It returns the start of
// the scalar for a folded block, which loses its line structure, and where value and file do not
// agree.
func locate(s source, n *yaml.Node, line, col int) (int, int) {
	if n == nil {
		return 1, 1
	}
	if n.Line == 0 { // of [Text]
		return line, col
	}
	if n.Kind != yaml.ScalarNode || line < 1 || col < 1 || len(s.line(n.Line)) > maxLine {
		return n.Line, n.Column
	}
	c := cursor{source: s, row: n.Line, col: n.Column - 1}
	c.load()
	c.skipProperties()
	switch {
	case n.Style&yaml.FoldedStyle != 0:
		return n.Line, n.Column
	case n.Style&yaml.LiteralStyle != 0:
		return c.inLiteral(n, line, col)
	default:
		return c.inFlow(n, line, col)
	}
}

// A cursor is a place in the file.
type cursor struct {
	source
	row  int    // from 1
	col  int    // in characters, from 0
	text []rune // of the current line
	end  int    // length of the text without trailing blanks
}

func (c *cursor) load() {
	c.text = []rune(c.line(c.row))
	c.end = len(c.text)
	for c.end > 0 && (c.text[c.end-1] == ' ' || c.text[c.end-1] == '\t') {
		c.end--
	}
}

func (c *cursor) more() bool { return c.row < len(c.lines) }

func (c *cursor) next() {
	c.row++
	c.col = 0
	c.load()
}

// skipProperties skips the anchor and the tag before a value.
func (c *cursor) skipProperties() {
	for {
		if c.blankRest() && c.more() {
			c.next()
			continue
		}
		switch {
		case c.blankRest():
			return
		case c.text[c.col] == ' ' || c.text[c.col] == '\t':
			c.col++
		case c.text[c.col] == '&' || c.text[c.col] == '!':
			for c.col < len(c.text) && c.text[c.col] != ' ' && c.text[c.col] != '\t' {
				c.col++
			}
		default:
			return
		}
	}
}

// blankRest reports whether the rest of the line is blank.
func (c *cursor) blankRest() bool { return c.col >= c.end }

// inLiteral maps a place in a literal block. Its lines are those of the file without the
// indentation.
func (c *cursor) inLiteral(n *yaml.Node, line, col int) (int, int) {
	lines := strings.Split(n.Value, "\n")
	if line > len(lines) || c.row+line > len(c.lines) {
		return n.Line, n.Column
	}
	value := []rune(lines[line-1])
	text := []rune(c.line(c.row + line))
	indent := len(text) - len(value)
	if indent < 0 || string(text[indent:]) != string(value) {
		return n.Line, n.Column
	}
	return c.row + line, indent + min(col, len(value)+1)
}

// inFlow maps a place in a plain or quoted scalar by scanning the scalar again.
func (c *cursor) inFlow(n *yaml.Node, line, col int) (int, int) {
	quote := rune(0)
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		quote = '"'
	case n.Style&yaml.SingleQuotedStyle != 0:
		quote = '\''
	}
	if quote != 0 {
		c.col++
	}
	target := offset(n.Value, line, col)
	for done := 0; done < target; {
		if c.blankRest() && !c.more() {
			return n.Line, n.Column
		}
		done += c.step(quote)
	}
	return c.row, c.col + 1
}

// offset returns the number of characters before a place in the value. It is at most the length of
// the value.
func offset(value string, line, col int) int {
	n := 0
	for _, r := range value {
		if line == 1 && col == 1 {
			break
		}
		switch {
		case r != '\n':
			if line == 1 {
				col--
			}
		case line == 1:
			return n // the column is after the end of its line
		default:
			line--
		}
		n++
	}
	return n
}

// step reads one element of the source: a character, an escape or a line break. It returns the
// number of characters that the element adds to the value: 1 for an escape, 1 or more for a line
// break, 0 for an escaped line break.
func (c *cursor) step(quote rune) int {
	if c.blankRest() {
		return c.fold()
	}
	r := c.text[c.col]
	switch {
	case quote == '"' && r == '\\' && c.col == len(c.text)-1:
		c.fold()
		return 0
	case quote == '"' && r == '\\':
		c.col += escapeLen(c.text[c.col+1])
	case quote == '\'' && r == '\'':
		c.col += 2
	default:
		c.col++
	}
	return 1
}

// escapeLen returns the length of an escape sequence from the character after the backslash.
func escapeLen(r rune) int {
	switch r {
	case 'x':
		return 4
	case 'u':
		return 6
	case 'U':
		return 10
	default:
		return 2
	}
}

// fold skips a line break, the empty lines after it and the indentation of the next line. A
// single break counts as a space; of several breaks, all but the first count.
func (c *cursor) fold() int {
	breaks := 0
	for c.blankRest() && c.more() || breaks == 0 {
		c.next()
		breaks++
	}
	for c.col < len(c.text) && (c.text[c.col] == ' ' || c.text[c.col] == '\t') {
		c.col++
	}
	return max(1, breaks-1)
}
