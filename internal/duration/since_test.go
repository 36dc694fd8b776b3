package duration_test

import (
	"testing"
	"time"

	"github.com/org/foreman-action/internal/duration"
)

func TestSince(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	tests := []struct{ in, want string }{
		{"1y", "2025-03-31T12"}, {"2mo", "2026-01-31T12"}, {"4w", "2026-03-03T12"}, {"90d", "2025-12-31T12"}, {"36h", "2026-03-30T00"},
		{"2026-01-31", "2026-01-31T00"}, {"2026-04-01", ""}, {"2026-02-30", ""}, {"", ""}, {"y", ""}, {"0d", ""}, {"-1d", ""}, {"1", ""},
		{"1m", ""}, {"1yd", ""}, {"1.5y", ""}, {"99999999999999999999y", ""}, {"20000d", ""}, {"1 y", ""},
	}
	for _, tt := range tests {
		got, ok := duration.Since(tt.in, now)
		if text := got.Format("2006-01-02T15"); ok != (tt.want != "") || ok && text != tt.want {
			t.Errorf("%q: got %s, %t, want %q", tt.in, text, ok, tt.want)
		}
	}
}
