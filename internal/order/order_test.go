package order_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/org/foreman-action/internal/order"
)

func TestStable(t *testing.T) {
	t.Parallel()
	type pair struct{ key, at int }
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		list := make([]pair, n)
		for i := range list {
			list[i] = pair{r.IntN(10), i}
		}
		byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
		want := slices.Clone(list)
		slices.SortStableFunc(want, byKey)
		if order.Stable(list, byKey); !slices.Equal(list, want) {
			t.Fatalf("%d elements: got %v, want %v", n, list, want)
		}
	}
}
