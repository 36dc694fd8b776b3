package duration_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/duration"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"0", "0s"},
		{"90m", "1h30m0s"},
		{".5h", "30m0s"},
		{"-1h", "-1h0m0s"},
		{"+1h", "1h0m0s"},
		{"14d", "336h0m0s"},
		{"2w", "336h0m0s"},
		{"1w2d12h", "228h0m0s"},
		{"-1d1h", "-25h0m0s"},
		{"1d1.5h", "25h30m0s"},
		{"36500d", "876000h0m0s"},
		{"0d", "0s"},
		{"00036500d", "876000h0m0s"},
		{"36501d", "too long"},
		{"40000d", "too long"},
		{"999999d", "too long"},
		{"5300w", "too long"},
		{"99999w99999d", "too long"},
		{"99999999999999999999w1d2h", "too long"},
		{"36500d2540400h", "too long"},
		{"-40000d", "too long"},
		{"40000dx", ""},
		{"2d1w", ""},
		{"1d1d", ""},
		{"1d-1h", ""},
		{"1d+1h", ""},
		{"1d0", ""},
		{"+1d", ""},
		{"--1d", ""},
		{"1.5d", ""},
		{"d", ""},
		{"1 d", ""},
		{"1d ", ""},
		{"", ""},
	}
	for _, tt := range tests {
		d, err := duration.Parse(tt.in)
		got := d.String()
		switch {
		case errors.Is(err, duration.ErrTooLong):
			got = "too long"
		case err != nil:
			got = ""
		}
		if got != tt.want {
			t.Errorf("Parse(%q): got %v %v, want %q", tt.in, d, err, tt.want)
		}
	}
}

// FuzzParse checks three properties: Parse accepts exactly the texts that Pattern matches, a text
// without a sign is never negative, and results agree with time.ParseDuration.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"1w2d3h", "-1d", "40000d", "1h30m", "0", "2540400h", "1d0", "+1h"} {
		f.Add(s)
	}
	pattern := regexp.MustCompile(duration.Pattern)
	f.Fuzz(func(t *testing.T, s string) {
		d, err := duration.Parse(s)
		plain, bad := time.ParseDuration(s)
		if bad == nil && (err != nil || d != plain) {
			t.Errorf("%q: got %v %v, want %v", s, d, err, plain)
		}
		if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
			return
		}
		if err == nil && (d < 0 || !pattern.MatchString(s)) {
			t.Errorf("%q: got %v, which the pattern matches: %v", s, d, pattern.MatchString(s))
		}
	})
}
