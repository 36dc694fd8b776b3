package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
)

// badCharacter finds a byte that a YAML document must not contain. The parser would report it
// without a position.
func badCharacter(s source, src []byte) (Problem, bool) {
	if utf8.Valid(src) && !slices.ContainsFunc(s.lines, hasBadRune) {
		return Problem{}, false
	}
	for i, line := range s.lines {
		col := 1
		for j, r := range line {
			switch {
			case r == utf8.RuneError && !strings.HasPrefix(line[j:], string(utf8.RuneError)):
				return s.problem(i+1, col, fmt.Sprintf("byte %#02x is not UTF-8; save the file as UTF-8", line[j])), true
			case badRune(r):
				return s.problem(i+1, col, fmt.Sprintf("character %U is not allowed in YAML", r)), true
			}
			col++
		}
	}
	return Problem{}, false
}

func hasBadRune(line string) bool { return strings.ContainsFunc(line, badRune) }

// badRune reports whether YAML 1.2 §5.1 excludes a character. The parser accepts U+FFFE and U+FFFF,
// and gives a confusing error for a byte order mark inside the text.
func badRune(r rune) bool {
	return r < 0x20 && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff
}

// errSecond means that a second document follows.
var errSecond = errors.New("a second document starts here; a file contains only one")

// decodeOne decodes the only document of src. An empty src gives an empty node.
func decodeOne(src []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc, next yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return &doc, nil
		}
		return nil, err
	}
	switch err := dec.Decode(&next); {
	case errors.Is(err, io.EOF):
		return &doc, nil
	case err != nil:
		return nil, err
	default:
		return nil, errSecond
	}
}

// syntaxProblem turns an error of the parser into a problem. The parser reports the line where the
// surrounding construct starts, or no line. So syntaxProblem searches for the shortest prefix of
// src that fails in the same way, and reports its end.
func syntaxProblem(s source, src []byte, err error) Problem {
	reason := parserReason(err)
	fails := func(n int) bool {
		_, err := decodeOne(src[:n])
		return err != nil && parserReason(err) == reason
	}
	ends := lineEnds(src)
	line := sort.Search(len(ends)-1, func(i int) bool { return fails(ends[i]) })
	start := 0
	if line > 0 {
		start = ends[line-1]
	}
	n := sort.Search(ends[line]-start, func(i int) bool { return fails(start + i) })
	text := s.line(line + 1)
	col := utf8.RuneCount(src[start : start+n])
	// If the place is at the end of the line or before its text, move it to the text.
	indent := len(text) - len(strings.TrimLeft(text, " \t"))
	col = max(min(col, utf8.RuneCountInString(text)), indent+1)
	if errors.Is(err, errSecond) {
		col = 1
	}
	if strings.HasPrefix(reason, "did not find expected ',' or '") {
		if quoted, at, ok := quoteFlow(text); ok {
			return s.problem(line+1, at, "in {…} an unquoted value ends at \"?\" and \": \"; quote it: "+short(quoted))
		}
	}
	return s.problem(line+1, col, explain(s, reason, line+1))
}

// lineEnds returns the offset of the end of each line of src.
func lineEnds(src []byte) []int {
	var ends []int
	for i, c := range src {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	if len(ends) == 0 || ends[len(ends)-1] < len(src) {
		ends = append(ends, len(src))
	}
	return ends
}

// parserReason returns the parser's error without its prefix and its line.
func parserReason(err error) string {
	s := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(s, "line "); ok {
		if _, text, ok := strings.Cut(rest, ": "); ok {
			return text
		}
	}
	return s
}

const (
	hintBlock = "quote the whole value, or put it on its own line under \"|\""
	hintNot   = "to negate, write not instead of !, or quote the whole value"
)

// A trap is a way to write a value that looks right but is not YAML.
type trap struct {
	value *regexp.Regexp // matches the text after "key: "
	hint  string
}

// traps returns the traps; the first one that matches is used.
func traps() []trap {
	return []trap{
		{regexp.MustCompile(`^!`), "a value that starts with ! is a YAML tag; " + hintNot},
		{regexp.MustCompile("^`"), "a value cannot start with a backtick; " + hintBlock},
		{regexp.MustCompile(`^[@%]`), "a value cannot start with @ or %; " + hintBlock},
		{regexp.MustCompile(`^"(?:[^"\\]|\\.)*"\s*[^\s#,\]}]`), "a value that starts with a quote ends at the closing one; " + hintBlock},
		{regexp.MustCompile(`^'(?:[^']|'')*'\s*[^\s#,\]}]`), "a value that starts with a quote ends at the closing one; " + hintBlock},
		{regexp.MustCompile(`^[\[{].*[\]}]\s*[^\s#,\]}]`), "a value that starts with [ or { ends at the closing bracket; " + hintBlock},
		{regexp.MustCompile(`^[^"'\[{].*: `), "a plain value cannot contain \": \"; " + hintBlock},
		{regexp.MustCompile(`\s#`), "\" #\" starts a comment; " + hintBlock},
	}
}

var (
	// keyPrefix matches the list dashes and the key before a value.
	keyPrefix = text.Regexp(`^\s*(?:- +)*(?:[\w./-]+:\s+)?`)
	tabIndent = text.Regexp(`^ *\t`)
)

// explain returns the message for the parser's reason. It names the wrong text and the right form.
func explain(s source, reason string, line int) string {
	switch reason {
	case errSecond.Error():
		return reason
	case "did not find expected <document start>":
		return "the document ends before this text"
	}
	text := s.line(line)
	if tabIndent().MatchString(text) {
		return "indent with spaces; YAML does not allow tabs there"
	}
	value := text[len(keyPrefix().FindString(text)):]
	for _, t := range traps() {
		if t.value.MatchString(value) {
			return t.hint
		}
	}
	// A comment ended the value, and the parser noticed that only on the next line.
	if before := s.line(line - 1); strings.Contains(before, " #") {
		return "the value on the line above ends at \" #\", which starts a comment; " + hintBlock
	}
	return reworded(reason, text)
}
