package main

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/queuebench/internal/ratio"
)

// metrics are the rows of a store's table.
var metrics = []string{
	rate16, rate64, serverCPU, storeCPU, driverCPU, written50, written99, done50, done99,
	flushes1, flushes16, commits1, commits16, messages1, messages16,
}

// report renders the results.
func report(r *results, o options, builds []build, stores []store) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Medians of %d rounds of %d events, %d processors, load average %s at the beginning and %s at the end. The agent gets %d tasks at a time.\n",
		o.rounds, o.events, runtime.NumCPU(), r.load.begin, r.load.end, o.concurrency)
	for _, s := range stores {
		table(&out, r, builds, s, metrics)
		steps(&out, r, builds, s)
		calls(&out, r, builds, s)
	}
	table(&out, r, builds, store{name: scale, title: fmt.Sprintf("PostgreSQL, a GitHub that takes %s for a call", o.slow)}, []string{slowOne, slowTwo})
	for _, b := range builds {
		if two := r.ratios(key{scale, slowTwo, b.name}, key{scale, slowOne, b.name}); two != nil {
			fmt.Fprintf(&out, "\nTwo servers beside one, %s build: %s.\n", b.name, ratio.Spread(two))
		}
	}
	return out.String()
}

// table renders the measured values of a store, if there are some.
func table(out *strings.Builder, r *results, builds []build, s store, metrics []string) {
	head := "| " + s.title
	for _, b := range builds {
		head += " | " + b.name
	}
	if len(builds) == 2 {
		head += " | new beside old (quartiles)"
	}
	head += " |\n" + strings.Repeat("|---", strings.Count(head, "|")) + "|\n"
	for _, metric := range metrics {
		row := []string{"| " + metric}
		measured := false
		for _, b := range builds {
			values := r.values[key{s.name, metric, b.name}]
			measured = measured || len(values) > 0
			row = append(row, fmt.Sprintf("%.1f", ratio.Quantile(values, 0.5)))
		}
		if !measured {
			continue
		}
		if len(builds) == 2 {
			list := r.ratios(key{s.name, metric, builds[1].name}, key{s.name, metric, builds[0].name})
			row = append(row, fmt.Sprintf("%.2f (%.2f to %.2f)", ratio.Quantile(list, 0.5), ratio.Quantile(list, 0.25), ratio.Quantile(list, 0.75)))
		}
		if head != "" {
			out.WriteString("\n" + head)
			head = ""
		}
		out.WriteString(strings.Join(row, " | ") + " |\n")
	}
}

// steps renders when the steps of an event are reached, in the order of the last build.
func steps(out *strings.Builder, r *results, builds []build, s store) {
	at := func(step string, b build) float64 { return ratio.Quantile(r.steps[key{s.name, step, b.name}], 0.5) }
	names := map[string]bool{}
	for k := range r.steps {
		if k.store == s.name {
			names[k.metric] = true
		}
	}
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(out, "\n| %s, one at a time: ms after the webhook was sent", s.title)
	for _, b := range builds {
		fmt.Fprintf(out, " | %s", b.name)
	}
	fmt.Fprintf(out, " |\n|---%s|\n", strings.Repeat("|---", len(builds)))
	last := builds[len(builds)-1]
	for _, step := range slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(at(a, last), at(b, last)), cmp.Compare(at(a, builds[0]), at(b, builds[0])))
	}) {
		fmt.Fprintf(out, "| %s", step)
		for _, b := range builds {
			if r.steps[key{s.name, step, b.name}] == nil {
				out.WriteString(" | never")
				continue
			}
			fmt.Fprintf(out, " | %.1f", at(step, b))
		}
		out.WriteString(" |\n")
	}
}

// calls renders the calls to GitHub of an event.
func calls(out *strings.Builder, r *results, builds []build, s store) {
	patterns := map[string]bool{}
	for _, b := range builds {
		for p := range r.calls[key{store: s.name, build: b.name}] {
			patterns[p] = true
		}
	}
	if len(patterns) == 0 {
		return
	}
	fmt.Fprintf(out, "\n| %s: calls to GitHub an event", s.title)
	for _, b := range builds {
		fmt.Fprintf(out, " | %s", b.name)
	}
	fmt.Fprintf(out, " |\n|---%s|\n", strings.Repeat("|---", len(builds)))
	sums := make([]int, len(builds))
	for _, p := range slices.Sorted(maps.Keys(patterns)) {
		fmt.Fprintf(out, "| `%s`", p)
		for i, b := range builds {
			n := r.calls[key{store: s.name, build: b.name}][p]
			sums[i] += n
			fmt.Fprintf(out, " | %.2f", float64(n)/single)
		}
		out.WriteString(" |\n")
	}
	out.WriteString("| all")
	for _, n := range sums {
		fmt.Fprintf(out, " | %.2f", float64(n)/single)
	}
	out.WriteString(" |\n")
}
