// Package duration parses durations with weeks and days, such as 1w2d12h.
package duration

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// MaxDays is the most days that the weeks and days of a duration may have together: a hundred
// years.
const MaxDays = 36_500

// Pattern matches the texts without a sign that [Parse] accepts. It also matches durations of more
// than [MaxDays] days. It has the same meaning in Go and in JSON Schema.
const Pattern = `^(0|([0-9]+w([0-9]+d)?|[0-9]+d)` + rest + `*|` + rest + `+)$`

const rest = `(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))`

// ErrTooLong means that a duration has more than MaxDays days.
var ErrTooLong = fmt.Errorf("a duration has at most %d days", MaxDays)

var weeksAndDays = regexp.MustCompile(`^([0-9]+w)?([0-9]+d)?`)

// Parse accepts what [time.ParseDuration] accepts, with whole weeks and days before it, as in
// "1w2d12h". A day is 24 hours. The error is [ErrTooLong] or an error of time.ParseDuration.
func Parse(s string) (time.Duration, error) {
	unsigned, minus := strings.CutPrefix(s, "-")
	m := weeksAndDays.FindStringSubmatch(unsigned)
	if m[0] == "" {
		return time.ParseDuration(s)
	}
	var more time.Duration
	if after := unsigned[len(m[0]):]; after != "" {
		var err error
		if more, err = time.ParseDuration(after); err != nil || after[0] == '-' || after[0] == '+' || after == "0" {
			_, unknown := time.ParseDuration(s) // time.ParseDuration does not accept days
			return 0, unknown
		}
	}
	days := 7*count(m[1]) + count(m[2])
	d := time.Duration(days)*24*time.Hour + more
	if days > MaxDays || d < more {
		return 0, ErrTooLong
	}
	if minus {
		d = -d
	}
	return d, nil
}

// count returns the number in a text such as "12d". It is 0 for an empty text, and MaxDays+1 for
// every number above MaxDays.
func count(s string) int {
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s[:len(s)-1]) // the pattern matches only digits here
	if err != nil || n > MaxDays {
		return MaxDays + 1
	}
	return n
}
