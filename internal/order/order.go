// Package order sorts slices of large elements with little code.
package order

import "slices"

// Stable sorts a list as [slices.SortStableFunc] does. That function is compiled again for each type of element,
// to about 10 kB for a large one. Stable sorts the indexes, which all have one type.
func Stable[E any](list []E, compare func(a, b E) int) {
	indexes := make([]int, len(list))
	for i := range indexes {
		indexes[i] = i
	}
	slices.SortStableFunc(indexes, func(i, j int) int { return compare(list[i], list[j]) })
	sorted := make([]E, len(list))
	for at, i := range indexes {
		sorted[at] = list[i]
	}
	copy(list, sorted)
}
