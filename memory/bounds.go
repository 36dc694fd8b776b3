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

// The bounds of a record, beside those of its texts. [Record.Put] keeps a record within
// them by folding the oldest tasks into [Record.Earlier].
const (
	MaxTasks = 100       // tasks kept one by one
	MaxSize  = 256 << 10 // bytes of the encoded record
)

// The bounds of the parts of a record, in bytes and items. A stored record keeps them:
// Encode and Decode refuse any other.
const (
	maxText    = 4 << 10        // the rationale
	maxShort   = 512            // every other string
	maxValues  = 100            // of an action
	maxActions = 200            // of a task that is put
	maxMerged  = 2 * maxActions // of a task that was put more than once
	// maxCount bounds indices, and the counts of an Earlier; sums stop there.
	maxCount = 1 << 30
	// maxRevision is the last one that can be written. It cannot be saved again, so a
	// record that has it counts as broken, and the next save starts anew.
	maxRevision = math.MaxInt32
)

// short reports whether every text is within maxShort.
func short(list ...string) bool {
	return within(maxShort, list...)
}

// within reports whether every text has at most that many bytes when it is stored.
func within(most int, list ...string) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return stored(s) > most })
}

// stored returns the bytes of a string when it is read again: in JSON each byte that is not
// UTF-8 becomes a character.
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

// storable reports whether a time can be written, and also in UTC.
func storable(t time.Time) bool {
	_, err := t.MarshalText()
	y := t.UTC().Year()
	return err == nil && y >= 1 && y <= 9999
}

// clipTime returns t in UTC, as exact as it is stored, and in a year of four digits.
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

// clipAll returns a copy of values within the bounds of an action's.
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
	// One byte, so that the text does not grow again.
	return strings.ToValidUTF8(s, "?")
}

// plus adds counts, and stops at maxCount.
func plus(a, b int) int {
	a = min(max(a, 0), maxCount)
	return a + min(max(b, 0), maxCount-a)
}

// A rooms holds the bytes that each element of a list takes in the stored form of a
// record, with the line's end, two spaces, and the comma of the one before.
type rooms []int

func (r rooms) sum() int {
	n := 0
	for _, size := range r {
		n += size
	}
	return n
}

// roomOf returns the room of each element.
func roomOf[T any](list []T) rooms {
	var sizes rooms
	for _, v := range list {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("  ", " ")
		if err := e.Encode(v); err != nil {
			// It would not be stored at all.
			b.Write(make([]byte, MaxSize))
		}
		sizes = append(sizes, b.Len()-len("\n")+len(",\n  "))
	}
	return sizes
}
