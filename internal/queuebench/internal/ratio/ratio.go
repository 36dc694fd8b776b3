// Package ratio summarises measurements that were repeated in turns.
package ratio

import (
	"fmt"
	"slices"
)

// Quantile returns the p-quantile of the values, interpolated between the two nearest values; 0
// without values. Quantile(values, 0.5) is the median.
func Quantile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	at := p * float64(len(sorted)-1)
	i := int(at)
	next := sorted[min(i+1, len(sorted)-1)]
	return sorted[i] + (next-sorted[i])*(at-float64(i))
}

// Spread formats the median of ratios, and their lower and upper quartiles.
func Spread(ratios []float64) string {
	return fmt.Sprintf("median %.2f times, quartiles %.2f and %.2f of %d turns", Quantile(ratios, 0.5), Quantile(ratios, 0.25), Quantile(ratios, 0.75), len(ratios))
}
