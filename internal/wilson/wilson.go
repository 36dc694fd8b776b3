// Package wilson computes how sure a share is that was found in a few cases.
package wilson

import (
	"fmt"
	"math"
)

// z is the 95 % quantile of the normal distribution.
const z = 1.6448536269514722

// Bound returns the lower end of the one-sided 95 % confidence interval of a share of right outcomes among
// the judged ones, by Wilson's score interval without continuity correction; 0 if nothing was judged.
// https://www.itl.nist.gov/div898/handbook/prc/section2/prc241.htm
func Bound(right, judged int) float64 {
	if judged <= 0 {
		return 0
	}
	n := float64(judged)
	share := float64(right) / n
	return max(0, (share+z*z/(2*n)-z*math.Sqrt(share*(1-share)/n+z*z/(4*n*n)))/(1+z*z/n))
}

// Text returns a bound with two digits after the point. A bound below the one that is needed is rounded down with three
// digits where two would look like enough.
func Text(bound, needed float64) string {
	if bound < needed && math.Round(bound*100)/100 >= needed {
		return fmt.Sprintf("%.3f", math.Floor(bound*1000)/1000)
	}
	return fmt.Sprintf("%.2f", bound)
}

// Flawless returns the smallest number of judged outcomes that reach a bound if all of them are right. The
// bound is from 0 to less than 1.
func Flawless(bound float64) int {
	// The bound of n of n is 1/(1+z²/n).
	n := max(1, int(z*z*bound/(1-bound)))
	for Bound(n, n) < bound {
		n++
	}
	return n
}
