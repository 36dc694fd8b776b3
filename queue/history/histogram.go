package history

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"math"
	"slices"
	"time"
)

// A Histogram counts durations by size. Bin 0 has the durations below 1 ms. Every other bin is a
// fifth longer than the one before. Nil is empty.
type Histogram map[int]int

const (
	growth  = 1.2
	lastBin = 140 // from 3 years on
)

// bin returns the bin of a duration, which is not negative.
func bin(d time.Duration) int {
	ms := float64(d) / float64(time.Millisecond)
	if ms < 1 {
		return 0
	}
	return min(1+int(math.Log(ms)/math.Log(growth)), lastBin)
}

// plus returns the sum of two histograms. It may change the first one.
func (h Histogram) plus(o Histogram) Histogram {
	if len(o) == 0 {
		return h
	}
	if h == nil {
		return maps.Clone(o)
	}
	for bin, n := range o {
		h[bin] += n
	}
	return h
}

// N returns the number of durations.
func (h Histogram) N() (n int) {
	for _, count := range h {
		n += count
	}
	return n
}

// Percentile returns the duration that p of the durations do not exceed, with p from 0 to 1. The
// result is at most a tenth too low or too high. It is 0 for an empty histogram.
func (h Histogram) Percentile(p float64) time.Duration {
	rank := max(1, int(math.Ceil(p*float64(h.N()))))
	for _, bin := range slices.Sorted(maps.Keys(h)) {
		if rank -= h[bin]; rank <= 0 {
			if bin == 0 {
				return 0
			}
			return time.Duration(math.Pow(growth, float64(bin)-0.5) * float64(time.Millisecond))
		}
	}
	return 0
}

// valid reports whether all bins and counts can occur.
func (h Histogram) valid() bool {
	for bin, n := range h {
		if bin < 0 || bin > lastBin || n < 0 || n > math.MaxInt32 {
			return false
		}
	}
	return true
}

// short shortens a text to at most 600 bytes, so that different texts stay different. PostgreSQL
// indexes only short texts.
func short(s string) string {
	const most = 600
	if len(s) <= most {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return "sha256 " + hex.EncodeToString(sum[:])
}
