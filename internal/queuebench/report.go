package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/queuebench/internal/ratio"
)

// The targets.
const (
	wantCycles = 2.0              // times the rate of the fastest other queue on SQLite, 8 clients
	goqiteRate = 1431             // cycles a second at FULL, measured earlier; goqite is not run here
	wantClaim  = time.Millisecond // p99 of a claim, one client, 100,000 pending
	wantHTTP   = 0.4              // times the rate of the bare handler, 64 clients
	wantFetch  = 1.0              // times the rate of River's single fetches on PostgreSQL
	wantPeer   = 1.0              // times the rate of River's cycles on PostgreSQL
)

// report renders the medians and the targets.
func report(r *results, rounds int) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Medians of %d rounds.\n\n", rounds)
	fmt.Fprintln(&out, "| what | a second | p50 ms | p99 ms | CPU µs | of the floor |\n|---|---|---|---|---|---|")
	for _, row := range r.rows {
		fmt.Fprintf(&out, "| %s | %.0f | %s | %s | %s | %s |\n", row.name, r.rate(row.name),
			cell("%.2f", row.median(func(s sample) float64 { return s.p50.Seconds() * 1e3 })),
			cell("%.2f", row.median(func(s sample) float64 { return s.p99.Seconds() * 1e3 })),
			cell("%.0f", row.median(func(s sample) float64 { return s.cpu.Seconds() * 1e6 })),
			cell("%.0f %%", 100*ofFloor(r, row.name, row.floor)))
	}
	fmt.Fprintln(&out, "\n| target | wanted | measured |\n|---|---|---|")
	for _, t := range targets(r) {
		fmt.Fprintf(&out, "| %s | %s | %s |\n", t.what, t.want, t.got)
	}
	return out.String()
}

// cell formats a measured value. It returns an empty text for 0, which means not measured.
func cell(format string, value float64) string {
	if value == 0 {
		return ""
	}
	return fmt.Sprintf(format, value)
}

// ofFloor returns the rate of a row divided by the rate of its floor; 0 if the floor was not
// measured. The quotient can exceed 1, because several clients share one commit to the disk.
func ofFloor(r *results, row, floor string) float64 {
	if ratios := r.ratio(row, floor); ratios != nil {
		return ratio.Quantile(ratios, 0.5)
	}
	if rate := r.rate(floor); rate > 0 {
		return r.rate(row) / rate
	}
	return 0
}

// A target is a wanted result, with the measured one.
type target struct {
	what, want, got string
	reached         bool
}

// targets returns the targets whose rows were measured.
func targets(r *results) []target {
	var list []target
	add := func(what, want, got string, reached bool) { list = append(list, target{what, want, got, reached}) }
	if backlite, river := r.ratio(rowCycles, rowBacklite), r.ratio(rowCycles, rowRiver); backlite != nil {
		least := min(ratio.Quantile(backlite, 0.5), ratio.Quantile(river, 0.5))
		add("cycles, 8 clients, in turns with backlite and River", fmt.Sprintf("%.1f times", wantCycles),
			fmt.Sprintf("%.2f times (backlite: %s, River: %s)", least, ratio.Spread(backlite), ratio.Spread(river)), least >= wantCycles)
	}
	if ours := r.rate(rowCycles); ours > 0 {
		add("the same, beside goqite as it was measured before", fmt.Sprintf("%.1f times", wantCycles),
			fmt.Sprintf("%.2f times (%.0f beside %d)", ours/goqiteRate, ours, goqiteRate), ours >= wantCycles*goqiteRate)
	}
	if p99 := r.row(rowClaim).median(func(s sample) float64 { return s.p99.Seconds() }); p99 > 0 {
		add("claim p99, one client, 100,000 pending", wantClaim.String(), fmt.Sprintf("%.2f ms", p99*1e3), p99 < wantClaim.Seconds())
	}
	if ratios := r.ratio(rowHTTPClaim, rowHTTPFloor); ratios != nil {
		add("claims over HTTP beside a bare handler, 64 clients", fmt.Sprintf("%.0f %%", wantHTTP*100),
			fmt.Sprintf("median %.0f %% (%.0f beside %.0f; quartiles %.0f and %.0f %% of %d pairs)", 100*ratio.Quantile(ratios, 0.5),
				r.rate(rowHTTPClaim), r.rate(rowHTTPFloor), 100*ratio.Quantile(ratios, 0.25), 100*ratio.Quantile(ratios, 0.75), len(ratios)),
			ratio.Quantile(ratios, 0.5) >= wantHTTP)
	}
	if river := r.ratio(rowClaims, rowFetches); river != nil {
		add("single claims on PostgreSQL, 8 clients, in turns with River's single fetches", fmt.Sprintf("%.1f times", wantFetch),
			fmt.Sprintf("%s (%.0f beside %.0f)", ratio.Spread(river), r.rate(rowClaims), r.rate(rowFetches)), ratio.Quantile(river, 0.5) >= wantFetch)
	}
	for _, finished := range []string{"", beside100000} {
		if ratios := r.ratio(rowPostgresCycles+finished, rowPostgresRiver+finished); ratios != nil {
			add("cycles on PostgreSQL, 8 clients"+finished+", in turns with River", fmt.Sprintf("%.1f times", wantPeer),
				fmt.Sprintf("%s (%.0f beside %.0f)", ratio.Spread(ratios), r.rate(rowPostgresCycles+finished), r.rate(rowPostgresRiver+finished)), ratio.Quantile(ratios, 0.5) >= wantPeer)
		}
	}
	if ratios := r.ratio(rowManyCycles, rowManyRiver); ratios != nil {
		add("cycles on PostgreSQL, 64 clients, in turns with River", fmt.Sprintf("%.1f times", wantPeer),
			fmt.Sprintf("%s (%.0f beside %.0f)", ratio.Spread(ratios), r.rate(rowManyCycles), r.rate(rowManyRiver)), ratio.Quantile(ratios, 0.5) >= wantPeer)
	}
	return list
}

// missed returns an error for each target that was not reached.
func missed(list []target) error {
	var errs []error
	for _, t := range list {
		if !t.reached {
			errs = append(errs, fmt.Errorf("%s: want %s, got %s", t.what, t.want, t.got))
		}
	}
	return errors.Join(errs...)
}
