package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

func TestTargets(t *testing.T) {
	t.Parallel()
	const msec = time.Millisecond
	node := one(yardstick, 100*msec, 100*msec, 40<<10)
	tests := []struct {
		name    string
		results []result
		size    int64
		missed  []string // the measured values of the missed targets
	}{
		{"all met", []result{node, one("label", 13*msec, 13*msec, 15<<10)}, 15_500_000, nil},
		{"slow", []result{node, one("label", 14*msec, 12*msec, 1)}, 1, []string{"0.140, 0.120"}},
		{"too much CPU", []result{node, one("label", 12*msec, 14*msec, 1)}, 1, []string{"0.120, 0.140"}},
		{"no yardstick", []result{one("label", time.Hour, time.Hour, 15<<10)}, 1, nil},
		{"much memory", []result{node, one("label", msec, msec, 15<<10+52)}, 1, []string{"15.1 MiB"}},
		{"a large program", []result{node}, 15_500_001, []string{"15.50 MB"}},
		{"scenarios without targets", []result{node, one(remembering, time.Hour, 1, 1<<30), one(scanning, time.Hour, 1, 1<<30)}, 1, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var missed []string
			for _, target := range targets(tt.results, tt.size) {
				if !target.met {
					missed = append(missed, target.got)
				}
			}
			if !slices.Equal(missed, tt.missed) {
				t.Errorf("got %q, want %q", missed, tt.missed)
			}
		})
	}
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for _, kind := range []string{"prose", "alternations"} {
		for _, b := range bounds() {
			for _, ns := range []int{9_000_000, 2_000_000, 2_000_000} {
				fmt.Fprintf(&lines, "BenchmarkDecide/%s/body=%d/rules=%d-2   \t 100\t %d ns/op\t 5 B/op\n", kind, b.body, b.rules, ns)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "decide.txt")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(lines.String())
	list, err := decisions(file)
	if err != nil || len(list) != 8 {
		t.Fatalf("got %d targets, %v", len(list), err)
	}
	for _, got := range list {
		if want := !strings.HasPrefix(got.text, "100 rules, 1500 bytes"); got.met != want || got.got != "2.00 ms" {
			t.Errorf("got %+v", got)
		}
	}
	write(strings.ReplaceAll(lines.String(), "rules=1000", "rules=10"))
	if _, err := decisions(file); err == nil || !strings.Contains(err.Error(), "rules=1000") {
		t.Errorf("without a case: %v", err)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	const msec = time.Millisecond
	results := []result{one(yardstick, 20*msec, 10*msec, 40<<10), one("label", 5*msec, 4*msec, 10<<10)}
	got := report(results, targets(results, 15_000_000), "a machine", 1)
	for _, want := range []string{
		"a machine",
		"| label | 5.0 [5.0 to 5.0] | 4.0 | 10.0 | 0.25, 0.40, 0.25 |",
		"| node -e 0 | 20.0 [20.0 to 20.0] | 10.0 | 40.0 | 1.00, 1.00, 1.00 |",
		"| the program: at most 15.5 MB | 15.00 MB | met |",
		"| label: at most 0.13 of node -e 0, wall and CPU | 0.250, 0.400 | **missed** |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
	if got := report(results[1:], nil, "a machine", 1); !strings.Contains(got, "no node here") {
		t.Errorf("got\n%s\nwant it to say that there is no node", got)
	}
}
