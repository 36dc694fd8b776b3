package similarity

import (
	"fmt"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 3 * maxWords {
		fmt.Fprintf(&many, "word%d ", i)
	}
	tests := []struct {
		a, b string
		want float64
	}{
		{"", "", 0},
		{"a an of", "a an of", 0},
		{"How do I install this?", "how DO I install this", 1},
		{"install this", "remove this", 1.0 / 3},
		{"Übung macht", "übung", 0.5},
		{many.String(), many.String(), 1},
		{many.String() + "last", "last", 0},
	}
	for _, tt := range tests {
		if got := Of(tt.a, tt.b); got != tt.want {
			t.Errorf("Of(%.20q, %.20q): got %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}
