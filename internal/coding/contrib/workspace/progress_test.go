package workspace

import (
	"slices"
	"testing"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	var got []int
	p := &progress{report: func(n int) { got = append(got, n) }}
	for _, text := range []string{
		"Cloning into 'x'...\nremote: Counting objects:  50% (1/2)\r", "Receiving objects:  10% (1/10)\rReceiving obj", "ects:  50% (5/10)\rReceiving objects:  50% (5/10)\r",
		"Receiving objects: 100% (10/10), done.\nResolving deltas:  50% (1/2)\r", "Receiving objects:  20%\rResolving deltas: 100% (2/2), done.\n", "Receiving objects: 99999999999999999999%\n",
	} {
		if n, err := p.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
	}
	if want := []int{9, 45, 90, 95, 100}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
