package protocol

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxDays bounds the whole days of a duration: a hundred years.
const maxDays = 36_500

var weeksAndDays = regexp.MustCompile(`^([0-9]{1,5}w)?([0-9]{1,5}d)?`)

// ParseDuration is [time.ParseDuration] with whole weeks and days before the rest, as in
// "1w2d12h": a day is 24 hours. The error is that of time.ParseDuration.
func ParseDuration(s string) (time.Duration, error) {
	unsigned, minus := strings.CutPrefix(s, "-")
	m := weeksAndDays.FindStringSubmatch(unsigned)
	if m[0] == "" {
		return time.ParseDuration(s)
	}
	_, unknown := time.ParseDuration(s) // it knows no days
	days := 7*count(m[1]) + count(m[2])
	if days > maxDays {
		return 0, unknown
	}
	d := time.Duration(days) * 24 * time.Hour
	if rest := unsigned[len(m[0]):]; rest != "" {
		more, err := time.ParseDuration(rest)
		if err != nil || rest[0] == '-' || rest[0] == '+' || d+more < d {
			return 0, unknown
		}
		d += more
	}
	if minus {
		d = -d
	}
	return d, nil
}

// count returns the number before a unit of one letter; 0 when there is none.
func count(s string) int {
	if s == "" {
		return 0
	}
	n, _ := strconv.Atoi(s[:len(s)-1]) // the pattern lets digits through only
	return n
}
