package duration

import (
	"strconv"
	"strings"
	"time"
)

// Since parses the beginning of a period that ends now: a day such as 2026-01-31, or a time before now in
// years, months, weeks, days or hours, such as 1y, 6mo, 4w, 90d or 12h. ok is false for any other text, and for a
// day after now.
func Since(s string, now time.Time) (at time.Time, ok bool) {
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		return day, !day.After(now)
	}
	digits := strings.TrimRight(s, "ymowdh")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > 10_000 {
		return time.Time{}, false
	}
	switch strings.TrimPrefix(s, digits) {
	case "y":
		return now.AddDate(-n, 0, 0), true
	case "mo":
		return now.AddDate(0, -n, 0), true
	case "w":
		return now.AddDate(0, 0, -7*n), true
	case "d":
		return now.AddDate(0, 0, -n), true
	case "h":
		return now.Add(-time.Duration(n) * time.Hour), true
	}
	return time.Time{}, false
}
