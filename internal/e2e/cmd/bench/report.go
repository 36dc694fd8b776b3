package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const yardstick = "node -e 0"

// The targets for one event with ten rules and at most one write. Times and CPU are ratios to node's
// in the same run, so that they hold on any machine.
const (
	maxRatio   = 0.13
	maxRSSKiB  = 15 << 10
	maxProgram = 15_500_000 // bytes
)

// median returns the middle value; of two middle values, the lower one.
func median[T int64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}

func (r result) walls() []time.Duration {
	return collect(r.samples, func(s sample) time.Duration { return s.wall })
}

func (r result) cpus() []time.Duration {
	return collect(r.samples, func(s sample) time.Duration { return s.cpu })
}

func (r result) peaks() []int64 {
	return collect(r.samples, func(s sample) int64 { return s.rssKiB })
}

func collect[T any](samples []sample, field func(sample) T) []T {
	values := make([]T, len(samples))
	for i, s := range samples {
		values[i] = field(s)
	}
	return values
}

func find(results []result, name string) (result, bool) {
	i := slices.IndexFunc(results, func(r result) bool { return r.name == name })
	if i < 0 {
		return result{}, false
	}
	return results[i], true
}

// report renders the results of n rounds, and the targets, as a Markdown page.
func report(results []result, met []target, machine string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# One event, the whole process\n\n")
	fmt.Fprintf(&b, "%s. %s.\n\n", time.Now().UTC().Format("2006-01-02 15:04 UTC"), machine)
	fmt.Fprintf(&b, "Command: `make bench BENCH_N=%d`. Medians [smallest to largest] of %d interleaved runs after %d to warm up; CPU is\n", n, n, warmups)
	fmt.Fprintf(&b, "user and system time, RSS the peak; ten rules, the payload of `issues.opened`, the fake GitHub on loopback.\n\n")
	b.WriteString("| process | wall ms | CPU ms | RSS MiB | wall, CPU, RSS beside node |\n|---|---|---|---|---|\n")
	base, hasBase := find(results, yardstick)
	for _, r := range results {
		walls := r.walls()
		ratio := "no node here"
		if hasBase {
			ratio = fmt.Sprintf("%.2f, %.2f, %.2f", float64(median(walls))/float64(median(base.walls())),
				float64(median(r.cpus()))/float64(median(base.cpus())),
				float64(median(r.peaks()))/float64(median(base.peaks())))
		}
		fmt.Fprintf(&b, "| %s | %s [%s to %s] | %s | %.1f | %s |\n", r.name,
			ms(median(walls)), ms(slices.Min(walls)), ms(slices.Max(walls)), ms(median(r.cpus())),
			float64(median(r.peaks()))/1024, ratio)
	}
	b.WriteString(besides(results))
	b.WriteString("\nTargets of the program, of one event with at most one write, and of one decision by rules:\n\n| target | measured | |\n|---|---|---|\n")
	for _, t := range met {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", t.text, t.got, t.verdict())
	}
	return b.String()
}

// besides renders the comparison with original actions; empty if none was timed.
func besides(results []result) string {
	var b strings.Builder
	for i, r := range results {
		if i == 0 || !strings.HasPrefix(r.name, oursBeside) {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\nOurs under the imported configuration beside the original action, on the same event with one write. Ratios of ours to the original:\n\n" +
				"| original | wall | CPU | RSS | calls of the original | our calls |\n|---|---:|---:|---:|---:|---:|\n")
		}
		theirs := results[i-1]
		fmt.Fprintf(&b, "| %s | %.2f | %.2f | %.2f | %d | %d |\n", theirs.name,
			float64(median(r.walls()))/float64(median(theirs.walls())),
			float64(median(r.cpus()))/float64(median(theirs.cpus())),
			float64(median(r.peaks()))/float64(median(theirs.peaks())), theirs.calls(), r.calls())
	}
	return b.String()
}

// calls returns the calls to GitHub of a run.
func (r result) calls() int { return r.samples[len(r.samples)-1].calls }

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond)) }

// targeted reports whether the targets apply to a scenario.
func targeted(name string) bool {
	others := []string{yardstick, remembering, labeling, scanning}
	return !slices.Contains(others, name) && !strings.HasPrefix(name, oursBeside) && !strings.HasSuffix(name, underNode)
}

// A target is a bound with the measured value.
type target struct {
	text, got string
	met       bool
}

func (t target) verdict() string {
	if t.met {
		return "met"
	}
	return "**missed**"
}

// targets compares the results, and the size of the program in bytes, with their bounds. The times
// are left out if node was not measured.
func targets(results []result, size int64) []target {
	list := []target{{
		fmt.Sprintf("the program: at most %.1f MB", maxProgram/1e6), fmt.Sprintf("%.2f MB", float64(size)/1e6), size <= maxProgram,
	}}
	base, hasBase := find(results, yardstick)
	for _, r := range results {
		if !targeted(r.name) {
			continue
		}
		if hasBase {
			wall := float64(median(r.walls())) / float64(median(base.walls()))
			cpu := float64(median(r.cpus())) / float64(median(base.cpus()))
			list = append(list, target{
				fmt.Sprintf("%s: at most %.2f of %s, wall and CPU", r.name, maxRatio, yardstick), fmt.Sprintf("%.3f, %.3f", wall, cpu), max(wall, cpu) <= maxRatio,
			})
		}
		peak := median(r.peaks())
		list = append(list, target{
			fmt.Sprintf("%s: at most %d MiB", r.name, maxRSSKiB>>10), fmt.Sprintf("%.1f MiB", float64(peak)/1024), peak <= maxRSSKiB,
		})
	}
	return list
}

// A bound is the longest time of one decision of BenchmarkDecide in package rules.
type bound struct {
	rules, body int
	most        time.Duration
}

// bounds returns the bounds, which hold for prose and for prose with alternations.
func bounds() []bound {
	return []bound{
		{100, 1500, 300 * time.Microsecond}, {1000, 1500, 3 * time.Millisecond},
		{100, 64 << 10, 4 * time.Millisecond}, {1000, 64 << 10, 35 * time.Millisecond},
	}
}

// decisions returns the targets of one decision, from the output of BenchmarkDecide in a file. The
// measured value is the median of its runs. A case that the output lacks is an error.
func decisions(file string) ([]target, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	times := map[string][]time.Duration{}
	for _, m := range regexp.MustCompile(`(?m)^BenchmarkDecide/(\S+?)(?:-\d+)?\s+\d+\s+([0-9.]+) ns/op`).FindAllSubmatch(text, -1) {
		ns, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		times[string(m[1])] = append(times[string(m[1])], time.Duration(ns))
	}
	var list []target
	for _, kind := range []string{"prose", "alternations"} {
		for _, b := range bounds() {
			name := fmt.Sprintf("%s/body=%d/rules=%d", kind, b.body, b.rules)
			if len(times[name]) == 0 {
				return nil, fmt.Errorf("%s: no line of BenchmarkDecide/%s", file, name)
			}
			got := median(times[name])
			list = append(list, target{
				fmt.Sprintf("%d rules, %d bytes, %s: at most %s ms", b.rules, b.body, kind, ms(b.most)),
				fmt.Sprintf("%.2f ms", float64(got)/float64(time.Millisecond)), got <= b.most,
			})
		}
	}
	return list, nil
}
