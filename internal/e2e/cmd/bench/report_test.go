package main

import (
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		values []int64
		want   int64
	}{
		{"one", []int64{4}, 4},
		{"odd", []int64{9, 1, 5}, 5},
		{"even takes the lower", []int64{4, 1, 3, 2}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := median(tt.values); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// one returns a result of a single run.
func one(name string, wall, cpu time.Duration, rssKiB int64) result {
	return result{name, []sample{{wall, cpu, rssKiB, 0}}}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const msec = time.Millisecond
	node := one(yardstick, 60*msec, 60*msec, 40<<10)
	tests := []struct {
		name    string
		results []result
		want    string // part of the error; empty: no error
	}{
		{"all met", []result{one("label", 7*msec, 7*msec, 16<<10)}, ""},
		{"slow, no yardstick", []result{one("label", 8*msec, 7*msec, 16<<10)}, "8.0 ms wall"},
		{"too much CPU, no yardstick", []result{one("label", 7*msec, 9*msec, 16<<10)}, "9.0 ms CPU"},
		{"slow on a slow machine", []result{node, one("label", 20*msec, 20*msec, 16<<10)}, ""},
		{"slow beside the yardstick", []result{node, one("label", 21*msec, 20*msec, 16<<10)}, "21.0 ms wall"},
		{"large", []result{one("label", msec, msec, 16<<10+1)}, "16385 KiB"},
		{"the yardstick itself is not judged", []result{node}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := judge(tt.results)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	const msec = time.Millisecond
	results := []result{one(yardstick, 20*msec, 10*msec, 40<<10), one("label", 5*msec, 4*msec, 10<<10)}
	got := report(results, "a machine", options{n: 1})
	for _, want := range []string{
		"a machine",
		"| label | 5.0 [5.0 to 5.0] | 4.0 | 10.0 | 0.25, 0.40, 0.25 |",
		"| node -e 0 | 20.0 [20.0 to 20.0] | 10.0 | 40.0 | 1.00, 1.00, 1.00 |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
	if got := report(results[1:], "a machine", options{n: 1}); !strings.Contains(got, "no node here") {
		t.Errorf("got\n%s\nwant it to say that there is no node", got)
	}
}
