package wilson_test

import (
	"math"
	"testing"

	"github.com/org/foreman-action/internal/wilson"
)

func TestBound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		right, judged int
		want          float64
	}{
		{0, 0, 0}, {5, -1, 0}, {0, 10, 0}, {1, 1, 0.270}, {18, 18, 0.869}, {20, 20, 0.881}, {27, 28, 0.855}, {36, 38, 0.853}, {44, 47, 0.851}, {60, 60, 0.957}, {42, 60, 0.596},
	} {
		if got := wilson.Bound(tt.right, tt.judged); math.Abs(got-tt.want) > 0.0006 {
			t.Errorf("%d of %d: got %.4f, want %.3f", tt.right, tt.judged, got, tt.want)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		bound, needed float64
		want          string
	}{
		{wilson.Bound(18, 18), 0.85, "0.87"}, {wilson.Bound(26, 27), 0.85, "0.849"}, {wilson.Bound(27, 28), 0.85, "0.85"},
		{0, 0.85, "0.00"}, {0.849999, 0.85, "0.849"}, {0.8449, 0.85, "0.84"}, {0.9489, 1, "0.95"}, {0.998, 0.999, "0.998"},
	} {
		if got := wilson.Text(tt.bound, tt.needed); got != tt.want {
			t.Errorf("%v of %v: got %s, want %s", tt.bound, tt.needed, got, tt.want)
		}
	}
}

// TestFlawless compares each result with the bounds around it.
func TestFlawless(t *testing.T) {
	t.Parallel()
	for bound, want := range map[float64]int{0: 1, 0.2: 1, 0.85: 16, 0.9: 25, 0.95: 52, 0.98: 133} {
		if got := wilson.Flawless(bound); got != want {
			t.Errorf("%v: got %d, want %d", bound, got, want)
		}
	}
	for i := range 999 {
		bound := float64(i+1) / 1000
		n := wilson.Flawless(bound)
		if wilson.Bound(n, n) < bound || n > 1 && wilson.Bound(n-1, n-1) >= bound {
			t.Errorf("%v: %d is not the smallest", bound, n)
		}
	}
}
