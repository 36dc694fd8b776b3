package roundtrip

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter is the longest time that [RetryAfter] returns.
const MaxRetryAfter = 30 * 24 * time.Hour

// RetryAfter returns how long the header Retry-After asks to wait from now on (RFC 9110, section
// 10.2.3): from 0, also for a date in the past, to [MaxRetryAfter]. ok is false without a valid header.
func RetryAfter(h http.Header, now time.Time) (d time.Duration, ok bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	// ParseUint returns the largest number if the value is out of range.
	if n, err := strconv.ParseUint(v, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) {
		return min(time.Duration(n)*time.Second, MaxRetryAfter), true
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	return min(max(at.Sub(now), 0), MaxRetryAfter), true
}
