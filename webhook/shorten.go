package webhook

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// errTooLong means that an event is longer than any that GitHub sends.
var errTooLong = errors.New("the event is too long")

// A shortener copies JSON and truncates long texts. Its output is valid JSON if and only if its
// input is.
type shortener struct {
	dst  bytes.Buffer
	text int // maximum bytes of a text; a character that begins after this many bytes is dropped

	inText  bool
	n       int  // bytes of the current text that were copied
	cutting bool // the rest of the text is left out
	escape  int  // remaining bytes of an escape sequence
	hex     bool // the escape sequence has the form \uXXXX
}

// shorten returns JSON with texts of at most text bytes, and with at most total bytes. The error is
// errTooLong or that of src.
func shorten(src io.Reader, text, total int) ([]byte, error) {
	s := shortener{text: text}
	chunk := make([]byte, 32<<10)
	for {
		n, err := src.Read(chunk)
		for part := chunk[:n]; len(part) > 0; {
			part = part[s.add(part):]
		}
		switch {
		case s.dst.Len() > total:
			return nil, errTooLong
		case errors.Is(err, io.EOF):
			return s.dst.Bytes(), nil
		case err != nil:
			return nil, err
		}
	}
}

// add processes one or more bytes at the beginning of a chunk, and returns their number.
func (s *shortener) add(chunk []byte) int {
	c := chunk[0]
	switch {
	case !s.inText:
		n := bytes.IndexByte(chunk, '"') + 1
		s.inText, s.n, s.cutting = n > 0, 0, false
		if n == 0 {
			n = len(chunk)
		}
		s.dst.Write(chunk[:n])
		return n
	case s.escape > 0:
		s.escaped(c)
	case c == '"':
		s.dst.WriteByte(c)
		s.inText = false
	case c == '\\':
		s.copy(chunk[:1])
		s.escape, s.hex = 1, false
	case c < ' ': // invalid in JSON
		if s.copy(chunk[:1]); s.cutting {
			s.dst.WriteByte(c)
		}
	default:
		n := plain(chunk)
		s.copy(chunk[:n])
		return n
	}
	return 1
}

// plain returns the number of bytes before the first quote, backslash or control character.
func plain(chunk []byte) int {
	for i, c := range chunk {
		if c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return len(chunk)
}

// escaped processes a byte of an escape sequence. It copies an invalid sequence even if the text is
// being dropped, so that the output is invalid, too.
func (s *shortener) escaped(c byte) {
	switch {
	case !s.cutting:
		s.dst.WriteByte(c)
		s.n++
	case !s.allowed(c):
		s.dst.WriteByte('\\')
		if s.hex {
			s.dst.WriteByte('u')
		}
		s.dst.WriteByte(c)
	}
	s.escape--
	if s.escape == 0 && !s.hex && c == 'u' {
		s.escape, s.hex = 4, true
	}
}

// copy copies bytes of a text, up to the first dropped character.
func (s *shortener) copy(part []byte) {
	if s.cutting {
		return
	}
	n := min(len(part), max(0, s.text-s.n))
	for n < len(part) && !utf8.RuneStart(part[n]) {
		n++
	}
	s.cutting = n < len(part)
	s.dst.Write(part[:n])
	s.n += n
}

// allowed reports whether a byte is valid as the next one of a JSON escape sequence.
func (s *shortener) allowed(c byte) bool {
	if s.hex {
		return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
	}
	return strings.IndexByte(`"\/bfnrtu`, c) >= 0
}
