package memory

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The bounds of a record. [Record.Put] folds the oldest tasks into [Record.Earlier] to keep a
// record within them. The texts of a record have bounds of their own.
const (
	MaxTasks = 100       // tasks kept one by one
	MaxSize  = 256 << 10 // bytes of the encoded record
)

// The bounds of the parts of a record, in bytes or items. Encode and Decode return an error for a
// record that exceeds them.
const (
	maxText    = 4 << 10        // the rationale
	maxShort   = 512            // every other string
	maxValues  = 100            // values of an action
	maxActions = 200            // actions of a task that is put once
	maxMerged  = 2 * maxActions // actions of a task that is put more than once
	// maxCount is the largest index, and the largest count in an Earlier. Counts do not grow
	// beyond it.
	maxCount = 1 << 30
	// maxRevision is the last revision that can be written. A record with this revision cannot be
	// saved again. It therefore counts as broken, and the next save starts a new record.
	maxRevision = math.MaxInt32
)

// short reports whether every text is within maxShort.
func short(list ...string) bool {
	return within(maxShort, list...)
}

// within reports whether each text, as stored, has no more than most bytes.
func within(most int, list ...string) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return stored(s) > most })
}

// stored returns how many bytes s has after it is written as JSON and read again. JSON replaces
// each byte that is not UTF-8 with the character U+FFFD, which has three bytes.
func stored(s string) int {
	if utf8.ValidString(s) {
		return len(s)
	}
	n := 0
	for _, c := range s {
		n += utf8.RuneLen(c)
	}
	return n
}

// storable reports whether a time can be written, and its year in UTC is in the range 1 to 9999.
func storable(t time.Time) bool {
	_, err := t.MarshalText()
	y := t.UTC().Year()
	return err == nil && y >= 1 && y <= 9999
}

// clipTime returns t in UTC, in milliseconds as it is stored, and within the years 1 to 9999.
func clipTime(t time.Time) time.Time {
	t = t.UTC().Truncate(time.Millisecond)
	switch y := t.Year(); {
	case y < 1:
		return time.Time{}
	case y > 9999:
		return time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	}
	return t
}

// clipAll returns a copy of values within the bounds of an action's values.
func clipAll(values []string) []string {
	values = slices.Clone(values[:min(len(values), maxValues)])
	for i, v := range values {
		values[i] = clip(v, maxShort)
	}
	return values
}

// clip cuts s to n bytes at most, between characters, and replaces invalid UTF-8.
func clip(s string, n int) string {
	if len(s) > n {
		cut := n - len("…")
		for range utf8.UTFMax - 1 {
			if !utf8.RuneStart(s[cut]) {
				cut--
			}
		}
		s = s[:cut] + "…"
	}
	// The replacement has one byte, so the text does not become longer than n.
	return strings.ToValidUTF8(s, "?")
}

// plus returns the sum of two counts, at most maxCount.
func plus(a, b int) int {
	a = min(max(a, 0), maxCount)
	return a + min(max(b, 0), maxCount-a)
}

// A rooms contains the number of bytes of each element of a list in the stored form of a record.
// It includes the newline, the indentation of two spaces, and the comma after the previous
// element.
type rooms []int

func (r rooms) sum() int {
	n := 0
	for _, size := range r {
		n += size
	}
	return n
}

// roomOf returns the stored size of each element.
func roomOf[T any](list []T) rooms {
	var sizes rooms
	for _, v := range list {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("  ", " ")
		if err := e.Encode(v); err != nil {
			// The element cannot be encoded, so its size exceeds every bound.
			b.Write(make([]byte, MaxSize))
		}
		sizes = append(sizes, b.Len()-len("\n")+len(",\n  "))
	}
	return sizes
}
