package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/org/foreman-action/queue"
)

// The figures to reach.
const (
	wantCycles = 2.0              // times the best of the peers on SQLite, 8 clients
	goqiteRate = 1431             // cycles a second at FULL, measured before: it cannot be had from here
	wantClaim  = time.Millisecond // p99 of a claim, one client, 100,000 pending
	wantHTTP   = 0.4              // of the bare handler's rate, 64 clients
	wantFetch  = 1.0              // of River's single fetches on PostgreSQL
	manyTasks  = 100_000          // pending
	fewTasks   = 1_000            // pending
)

// clientCounts are how many clients are at work at once.
var clientCounts = []int{1, 8, 64}

// A bench collects what the rounds measured, by row.
type bench struct {
	options
	log   io.Writer
	rate  map[string][]float64 // cycles, calls or requests a second
	p50   map[string][]float64 // milliseconds
	p99   map[string][]float64
	ratio map[string][]float64 // to the slice of the floor beside it
	times map[string][]float64 // how many times the peer of that row ours is, slice by slice
	cpu   map[string][]float64 // microseconds of processor for each request, those of its client among them
	rows  []string             // in the order in which they were first measured
}

func newBench(o options, log io.Writer) *bench {
	return &bench{options: o, log: log, rate: map[string][]float64{}, p50: map[string][]float64{}, p99: map[string][]float64{}, ratio: map[string][]float64{}, times: map[string][]float64{}, cpu: map[string][]float64{}}
}

// scale is how often something is done in a round.
func (b *bench) scale(n int) int {
	if b.quick {
		return max(n/10, 64)
	}
	return n
}

func (b *bench) add(row string, rate float64) {
	if _, known := b.rate[row]; !known {
		b.rows = append(b.rows, row)
	}
	b.rate[row] = append(b.rate[row], rate)
}

func (b *bench) addSample(row string, s sample) {
	b.add(row, s.rate)
	if s.times == nil { // it was not timed one by one
		return
	}
	b.p50[row] = append(b.p50[row], s.quantile(0.5).Seconds()*1000)
	b.p99[row] = append(b.p99[row], s.quantile(0.99).Seconds()*1000)
}

func (b *bench) measure(ctx context.Context) error {
	for round := range b.rounds {
		fmt.Fprintf(b.log, "round %d of %d\n", round+1, b.rounds)
		dir := filepath.Join(b.dir, fmt.Sprint(round))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for _, p := range b.parts() {
			if b.only != "" && b.only != p.name {
				continue
			}
			if err := p.run(ctx, dir); err != nil {
				return err
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// A part is one of those that a round has.
type part struct {
	name string
	run  func(ctx context.Context, dir string) error
}

func (b *bench) parts() []part {
	return []part{{"fsync", b.fsync}, {"cycles", b.cycles}, {"verbs", b.backlogs}, {"http", b.http}, {"postgres", b.onPostgres}}
}

func (b *bench) fsync(ctx context.Context, dir string) error {
	s, err := fsyncFloor(ctx, dir, b.scale(2000))
	if err != nil {
		return err
	}
	b.addSample("floor: append 4 KiB + fsync", s)
	return nil
}

// backlogs measures each verb with few and with many tasks pending.
func (b *bench) backlogs(ctx context.Context, dir string) error {
	for _, pending := range []int{fewTasks, manyTasks} {
		err := onSQLite(ctx, filepath.Join(dir, fmt.Sprintf("pending-%d.db", pending)), func(q queue.Queue) error {
			return b.verbs(ctx, q, "SQLite", pending)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// http measures claims over HTTP.
func (b *bench) http(ctx context.Context, dir string) error {
	return onSQLite(ctx, filepath.Join(dir, "http.db"), func(q queue.Queue) error { return b.overHTTP(ctx, q) })
}

func (b *bench) verbs(ctx context.Context, q queue.Queue, engine string, pending int) error {
	if err := fill(ctx, q, pending); err != nil {
		return err
	}
	for _, clients := range clientCounts {
		err := ourVerbs(ctx, q, clients, b.scale(1000), func(name string, s sample) {
			b.addSample(fmt.Sprintf("%s: %s, %d pending, %d clients", name, engine, pending, clients), s)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// onPostgres measures cycles and verbs on PostgreSQL, cycles and single claims beside River.
func (b *bench) onPostgres(ctx context.Context, _ string) error {
	if b.postgres == "" {
		return nil
	}
	config, err := pgxpool.ParseConfig(b.postgres)
	if err != nil {
		return errors.New("connect to PostgreSQL: the URL cannot be read")
	}
	config.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return errors.New("connect to PostgreSQL: the URL cannot be used")
	}
	defer pool.Close()
	rate, err := riverCycles(ctx, riverpgxv5.New(pool), 8, b.scale(2000))
	if err != nil {
		return fmt.Errorf("cycles of River on PostgreSQL: %w", err)
	}
	b.add("cycles: River on PostgreSQL, 8 clients", rate)
	if err := b.fetches(ctx, pool); err != nil {
		return err
	}
	return onDatabase(ctx, b.postgres, func(q queue.Queue) error {
		for _, clients := range clientCounts {
			rate, err := ourCycles(ctx, q, clients, b.scale(2000))
			if err != nil {
				return err
			}
			b.add(fmt.Sprintf("cycles: ours on PostgreSQL, %d clients", clients), rate)
		}
		if err := b.verbs(ctx, q, "PostgreSQL", fewTasks); err != nil {
			return err
		}
		return b.verbs(ctx, q, "PostgreSQL", manyTasks)
	})
}

// page renders the medians.
func (b *bench) page() string {
	var out strings.Builder
	fmt.Fprintf(&out, "Medians of %d rounds.\n\n", b.rounds)
	fmt.Fprintln(&out, "| what | a second | p50 ms | p99 ms | CPU µs | of the floor |\n|---|---|---|---|---|---|")
	for _, row := range b.rows {
		p50, p99, cpu := "", "", ""
		if list := b.p50[row]; list != nil {
			p50, p99 = fmt.Sprintf("%.2f", median(list)), fmt.Sprintf("%.2f", median(b.p99[row]))
		}
		if list := b.cpu[row]; list != nil {
			cpu = fmt.Sprintf("%.0f", median(list))
		}
		fmt.Fprintf(&out, "| %s | %.0f | %s | %s | %s | %s |\n", row, median(b.rate[row]), p50, p99, cpu, b.ofFloor(row))
	}
	fmt.Fprintln(&out, "\n| to reach | wanted | measured |\n|---|---|---|")
	for _, f := range b.figures() {
		fmt.Fprintf(&out, "| %s | %s | %s |\n", f.what, f.want, f.got)
	}
	return out.String()
}

// ofFloor is a row's rate as a part of what the machine can do at all: requests to a bare
// handler for what goes over HTTP, appends that are on the disk for the rest. Groups of
// clients share a commit, and can be quicker than that.
func (b *bench) ofFloor(row string) string {
	floor := median(b.rate["floor: append 4 KiB + fsync"])
	switch {
	case strings.HasPrefix(row, "floor: "):
		return ""
	case b.ratio[row] != nil:
		return fmt.Sprintf("%.0f %%", 100*median(b.ratio[row]))
	case floor == 0:
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*median(b.rate[row])/floor)
}

// A figure is one that is to be reached.
type figure struct {
	what, want, got string
	reached         bool
}

// figures are those of the parts that were measured.
func (b *bench) figures() []figure {
	var list []figure
	if backlite, river := b.times[rowBacklite], b.times[rowRiver]; backlite != nil {
		least := min(median(backlite), median(river))
		list = append(list, figure{"cycles, 8 clients, in turns with backlite and River", fmt.Sprintf("%.1f times", wantCycles),
			fmt.Sprintf("%.2f times (backlite: %s, River: %s)", least, spread(backlite), spread(river)), least >= wantCycles})
	}
	if ours := median(b.rate[rowCycles]); ours > 0 {
		list = append(list, figure{"the same, beside goqite as it was measured before", fmt.Sprintf("%.1f times", wantCycles),
			fmt.Sprintf("%.2f times (%.0f beside %d)", ours/goqiteRate, ours, goqiteRate), ours >= wantCycles*goqiteRate})
	}
	if claim := median(b.p99[fmt.Sprintf("claim: SQLite, %d pending, 1 clients", manyTasks)]); claim > 0 {
		list = append(list, figure{"claim p99, one client, 100,000 pending", wantClaim.String(), fmt.Sprintf("%.2f ms", claim), claim < wantClaim.Seconds()*1000})
	}
	if ratios := b.ratio["claim over HTTP: SQLite, 64 clients"]; ratios != nil {
		list = append(list, figure{"claims over HTTP beside a bare handler, 64 clients", fmt.Sprintf("%.0f %%", wantHTTP*100),
			fmt.Sprintf("%.0f %% (%.0f beside %.0f; half of the %d pairs from %.0f to %.0f %%)", 100*median(ratios),
				median(b.rate["claim over HTTP: SQLite, 64 clients"]), median(b.rate["floor: net/http, 64 clients"]),
				len(ratios), 100*quantile(ratios, 0.25), 100*quantile(ratios, 0.75)), median(ratios) >= wantHTTP})
	}
	if river := b.times[rowFetches]; river != nil {
		list = append(list, figure{"single claims on PostgreSQL, 8 clients, in turns with River's single fetches", fmt.Sprintf("%.1f times", wantFetch),
			fmt.Sprintf("%s (%.0f beside %.0f)", spread(river), median(b.rate[rowClaims]), median(b.rate[rowFetches])), median(river) >= wantFetch})
	}
	return list
}

// spread tells the median of several ratios, and between which ones half of them lie.
func spread(ratios []float64) string {
	return fmt.Sprintf("%.2f times, half of %d from %.2f to %.2f", median(ratios), len(ratios), quantile(ratios, 0.25), quantile(ratios, 0.75))
}

// judge fails when a figure was missed.
func (b *bench) judge() error {
	var errs []error
	for _, f := range b.figures() {
		if !f.reached {
			errs = append(errs, fmt.Errorf("%s: want %s, got %s", f.what, f.want, f.got))
		}
	}
	return errors.Join(errs...)
}
