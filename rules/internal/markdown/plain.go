package markdown

import (
	"regexp"
	"slices"
	"strings"
)

// A plainReader goes through a comment line by line and tells what people see of it as plain
// text of its writer. Where Markdown is hard to read it takes text rather for code: a
// command is easily given again.
type plainReader struct {
	fence   fence    // of the code that the line is in; its char is 0 outside of code
	item    int      // spaces before what belongs to the list item that the line may be in
	code    int      // spaces before the code of a list item
	tags    []string // open tags of HTML
	comment commentState
	lazy    bool // the line goes on with a quote, or with code that its list item cut off
	blank   bool // the line before was blank
}

// A commentState is the kind of an open HTML comment.
type commentState byte

const (
	noComment     commentState = iota
	inlineComment              // ends with its paragraph at the latest
	blockComment
)

var (
	listMarkers = regexp.MustCompile(`^(?: {0,3}(?:[-*+]|[0-9]{1,9}[.)])[ \t])+`)
	htmlTokens  = regexp.MustCompile("(?i)`+|<!--(?:-?>)?|-->|</?(?:pre|code|blockquote|samp|kbd|tt|script|style|textarea)\\b")
)

// PlainLines returns the lines of a comment that people see as plain text.
func PlainLines(comment string) []string {
	var r plainReader
	var list []string
	for line := range strings.Lines(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(comment)) {
		line = strings.TrimRight(line, "\n")
		if r.shows(line) {
			list = append(list, line)
		}
		r.blank = strings.Trim(line, " \t") == ""
	}
	return list
}

// shows goes on with the next line.
func (r *plainReader) shows(line string) bool {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	blank := strings.Trim(line, " \t") == ""
	if r.fence.Char != 0 && !r.inCode(line, indent, blank) {
		return false
	}
	if r.comment == blockComment {
		r.html(line, 0)
		return false
	}
	if blank {
		r.lazy, r.comment = false, noComment
		return false
	}
	marker := len(listMarkers.FindString(line))
	text := strings.TrimLeft(line[marker:], " ")
	if f, ok := ParseFence(line[marker:]); ok {
		r.fence, r.comment = f, noComment
		switch {
		case marker > 0:
			r.item = len(line) - len(text)
			r.code = r.item
		case indent >= 2:
			r.code = min(indent, r.item)
		default:
			r.code = 0
		}
		return false
	}
	switch {
	case marker > 0:
		r.item = len(line) - len(text)
	case r.blank && indent < r.item:
		r.item = 0
	}
	own := !r.lazy && r.comment == noComment && len(r.tags) == 0
	if strings.HasPrefix(text, ">") && (marker > 0 || indent <= maxIndent) {
		r.lazy = true
		if own {
			return false
		}
	}
	r.html(line, len(line)-len(text))
	return own && !r.lazy
}

// inCode looks for the end of fenced code. It reports whether the line comes behind it:
// the list item that the code belongs to is over.
func (r *plainReader) inCode(line string, indent int, blank bool) bool {
	if !blank && indent < r.code {
		r.fence, r.lazy, r.item = fence{}, true, 0
		return true
	}
	if f, ok := ParseFence(line[min(indent, r.code):]); ok && f.Bare && f.Char == r.fence.Char && f.Length >= r.fence.Length {
		r.fence, r.lazy = fence{}, false
	}
	return false
}

// html looks for tags and comments in a line whose text begins at start, outside of code
// within the line.
func (r *plainReader) html(line string, start int) {
	if !strings.ContainsAny(line, "<>") {
		return
	}
	tokens := htmlTokens.FindAllStringIndex(line, -1)
	for i := 0; i < len(tokens); i++ {
		at := tokens[i][0]
		token := strings.ToLower(line[at:tokens[i][1]])
		name, closing := strings.CutPrefix(strings.TrimPrefix(token, "<"), "/")
		switch {
		case r.comment != noComment:
			if token == "-->" {
				r.comment = noComment
			}
		case token[0] == '`':
			if n := slices.IndexFunc(tokens[i+1:], func(t []int) bool { return line[t[0]:t[1]] == token }); n >= 0 {
				i += 1 + n
			}
		case token == "<!--" && at == start:
			r.comment = blockComment
		case token == "<!--":
			r.comment = inlineComment
		case strings.HasPrefix(token, "<!--") || token == "-->":
		case closing:
			for n, tag := range slices.Backward(r.tags) {
				if tag == name {
					r.tags = r.tags[:n]
					break
				}
			}
		case len(r.tags) < maxTags:
			r.tags = append(r.tags, name)
		}
	}
}

// maxTags is how many open tags are kept.
const maxTags = 16
