package jsregexp_test

import (
	"testing"

	"github.com/org/foreman-action/internal/importer/jsregexp"
)

func TestSample(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"(?i)^bug: (crash|hang)": "BUG: CRASH", `[^\r\n]{2,4}x?\s+`: "aa ", `^v\d+\.\d+$`: "v1.1", `a{0,3}`: "", `[[:^ascii:]]`: "\u0080", `a\bb`: "", "(": "",
	} {
		if got := jsregexp.Sample(pattern); got != want {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
}
