package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const yardstick = "node -e 0"

// The targets for one event with ten rules and one write. A time must be below maxTime, or below
// maxRatio of node's time. The ratio also works on a busy machine.
const (
	maxTime   = 7 * time.Millisecond
	maxRSSKiB = 16 << 10
	maxRatio  = 1.0 / 3
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

// report renders the results as a Markdown page.
func report(results []result, machine string, o options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# One event, the whole process\n\n")
	fmt.Fprintf(&b, "%s. %s.\n\n", time.Now().UTC().Format("2006-01-02 15:04 UTC"), machine)
	fmt.Fprintf(&b, "Command: `make bench BENCH_N=%d`. Medians [smallest to largest] of %d interleaved runs after %d to warm up; CPU is\n", o.n, o.n, warmups)
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
	fmt.Fprintf(&b, "\nTargets for one write: at most %s ms wall and CPU, or a third of node in the same run; at most %d MiB.\n",
		ms(maxTime), maxRSSKiB>>10)
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

// judge returns an error for each missed target.
func judge(results []result) error {
	base, hasBase := find(results, yardstick)
	var errs []error
	for _, r := range results {
		if !targeted(r.name) {
			continue
		}
		wall, cpu, peak := median(r.walls()), median(r.cpus()), median(r.peaks())
		slow := wall > maxTime || cpu > maxTime
		if slow && hasBase {
			slow = float64(wall) > maxRatio*float64(median(base.walls())) ||
				float64(cpu) > maxRatio*float64(median(base.cpus()))
		}
		if slow {
			errs = append(errs, fmt.Errorf("%s: %s ms wall, %s ms CPU: want at most %s", r.name, ms(wall), ms(cpu), ms(maxTime)))
		}
		if peak > maxRSSKiB {
			errs = append(errs, fmt.Errorf("%s: %d KiB: want at most %d", r.name, peak, maxRSSKiB))
		}
	}
	return errors.Join(errs...)
}
