package roundtrip_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/roundtrip"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)
	tests := []struct {
		header string
		want   time.Duration
		ok     bool
	}{
		{"0", 0, true},
		{"7", 7 * time.Second, true},
		{" 7 ", 7 * time.Second, true},
		{"2592000", roundtrip.MaxRetryAfter, true},
		{"2592001", roundtrip.MaxRetryAfter, true},
		{"4294967296", roundtrip.MaxRetryAfter, true},
		{"99999999999999999999999", roundtrip.MaxRetryAfter, true},
		{"Fri, 10 Apr 2026 08:30:09 GMT", 9 * time.Second, true},
		{"Friday, 10-Apr-26 08:30:09 GMT", 9 * time.Second, true},
		{"Fri Apr 10 08:30:09 2026", 9 * time.Second, true},
		{"Fri, 10 Apr 2026 08:29:00 GMT", 0, true},
		{"Fri, 31 Dec 9999 23:59:59 GMT", roundtrip.MaxRetryAfter, true},
		{"", 0, false},
		{"-1", 0, false},
		{"1.5", 0, false},
		{"soon", 0, false},
	}
	for _, tt := range tests {
		got, ok := roundtrip.RetryAfter(http.Header{"Retry-After": {tt.header}}, now)
		if got != tt.want || ok != tt.ok {
			t.Errorf("%q: got %v, %v, want %v, %v", tt.header, got, ok, tt.want, tt.ok)
		}
	}
	if got, ok := roundtrip.RetryAfter(nil, now); got != 0 || ok {
		t.Errorf("no header: got %v, %v", got, ok)
	}
}
