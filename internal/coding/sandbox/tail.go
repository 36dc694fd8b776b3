package sandbox

import (
	"strings"
	"unicode/utf8"
)

// A tail keeps the end of its input. It uses at most twice limit bytes of memory.
type tail struct {
	data  []byte
	limit int // bytes
	cut   bool
}

// Write keeps the bytes, and drops older ones.
func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if len(p) > t.limit {
		p, t.cut = p[len(p)-t.limit:], true
	}
	t.data = append(t.data, p...)
	if len(t.data) > 2*t.limit {
		t.data, t.cut = append(t.data[:0], t.data[len(t.data)-t.limit:]...), true
	}
	return n, nil
}

// String returns the end of the input, at most limit bytes.
func (t *tail) String() string { return string(t.data[max(0, len(t.data)-t.limit):]) }

const (
	// maxOutput is the most characters that a result contains of each stream.
	maxOutput = 20_000
	// maxSecret is the most bytes of a secret that is always recognized, even if the output is cut
	// within it.
	maxSecret = 4 << 10
	// tailBytes is the size of a buffer for maxOutput characters of any length, and for a secret that
	// begins before them.
	tailBytes = maxOutput*utf8.UTFMax + 2*maxSecret
)

// output returns the last maxOutput characters of the input, without secrets.
func (t *tail) output(redact func(string) string) string {
	cut := t.cut || len(t.data) > t.limit
	text := t.String()
	if redact != nil {
		text = redact(text)
	}
	if cut {
		// The text may begin within a secret. redact does not recognize the rest of this secret, so
		// output drops the first maxSecret bytes.
		text = text[min(len(text), maxSecret):]
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	left := utf8.RuneCountInString(text) - maxOutput
	for i := range text {
		if left--; left < 0 {
			return text[i:]
		}
	}
	return text
}
