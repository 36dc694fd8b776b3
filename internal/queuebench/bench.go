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
	log  io.Writer
	rate map[string][]float64 // cycles, calls or requests a second
	p50  map[string][]float64 // milliseconds
	p99  map[string][]float64
	rows []string // in the order in which they were first measured
}

func newBench(o options, log io.Writer) *bench {
	return &bench{options: o, log: log, rate: map[string][]float64{}, p50: map[string][]float64{}, p99: map[string][]float64{}}
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
		for _, part := range []func(context.Context, string) error{b.floors, b.cycles, b.backlogs, b.onPostgres} {
			if err := part(ctx, dir); err != nil {
				return err
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) floors(ctx context.Context, dir string) error {
	s, err := fsyncFloor(ctx, dir, b.scale(2000))
	if err != nil {
		return err
	}
	b.addSample("floor: append 4 KiB + fsync", s)
	for _, clients := range clientCounts {
		s, err := posts(ctx, bareHandler(), clients, b.scale(20_000))
		if err != nil {
			return err
		}
		b.addSample(fmt.Sprintf("floor: net/http, %d clients", clients), s)
	}
	return nil
}

// cycles measures whole cycles beside peers, all on SQLite.
func (b *bench) cycles(ctx context.Context, dir string) error {
	n := b.scale(2000)
	peers := []struct {
		name string
		run  func(context.Context, string, int, int) (float64, error)
	}{{"backlite", backliteCycles}, {"River", riverSQLiteCycles}}
	for _, p := range peers {
		rate, err := p.run(ctx, dir, 8, n)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		b.add("cycles: "+p.name+" on SQLite, 8 clients", rate)
	}
	for _, clients := range clientCounts {
		err := onSQLite(ctx, filepath.Join(dir, fmt.Sprintf("cycles-%d.db", clients)), func(q queue.Queue) error {
			rate, err := ourCycles(ctx, q, clients, b.scale(4000))
			b.add(fmt.Sprintf("cycles: ours on SQLite, %d clients", clients), rate)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// backlogs measures each verb with few and with many tasks pending, and claims over HTTP.
func (b *bench) backlogs(ctx context.Context, dir string) error {
	for _, pending := range []int{fewTasks, manyTasks} {
		err := onSQLite(ctx, filepath.Join(dir, fmt.Sprintf("pending-%d.db", pending)), func(q queue.Queue) error {
			return b.verbs(ctx, q, "SQLite", pending)
		})
		if err != nil {
			return err
		}
	}
	return onSQLite(ctx, filepath.Join(dir, "http.db"), func(q queue.Queue) error { return b.overHTTP(ctx, q) })
}

func (b *bench) verbs(ctx context.Context, q queue.Queue, engine string, pending int) error {
	if err := fill(ctx, q, pending); err != nil {
		return err
	}
	for _, clients := range clientCounts {
		got, err := ourVerbs(ctx, q, clients, b.scale(1000))
		if err != nil {
			return err
		}
		for _, verb := range verbs {
			b.addSample(fmt.Sprintf("%s: %s, %d pending, %d clients", verb, engine, pending, clients), got[verb])
		}
	}
	return nil
}

// overHTTP measures claims through the server.
func (b *bench) overHTTP(ctx context.Context, q queue.Queue) error {
	h, err := handler(q)
	if err != nil {
		return err
	}
	for _, clients := range clientCounts {
		n := b.scale(8000)
		if err := fill(ctx, q, n); err != nil {
			return err
		}
		s, err := posts(ctx, h, clients, n)
		if err != nil {
			return err
		}
		b.addSample(fmt.Sprintf("claim over HTTP: SQLite, %d clients", clients), s)
	}
	return nil
}

// onPostgres measures cycles and verbs on PostgreSQL, and single claims beside River.
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
	s, err := riverFetches(ctx, pool, 8, b.scale(2000))
	if err != nil {
		return fmt.Errorf("river on PostgreSQL: %w", err)
	}
	b.addSample("claim: River on PostgreSQL, 8 clients", s)
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
	fmt.Fprintln(&out, "| what | a second | p50 ms | p99 ms | of the floor |\n|---|---|---|---|---|")
	for _, row := range b.rows {
		p50, p99 := "", ""
		if list := b.p50[row]; list != nil {
			p50, p99 = fmt.Sprintf("%.2f", median(list)), fmt.Sprintf("%.2f", median(b.p99[row]))
		}
		fmt.Fprintf(&out, "| %s | %.0f | %s | %s | %s |\n", row, median(b.rate[row]), p50, p99, b.ofFloor(row))
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
	floor := "floor: append 4 KiB + fsync"
	switch {
	case strings.HasPrefix(row, "floor: "):
		return ""
	case strings.Contains(row, "over HTTP"):
		_, clients, _ := strings.Cut(row, ", ")
		floor = "floor: net/http, " + clients
	}
	return fmt.Sprintf("%.0f %%", 100*median(b.rate[row])/median(b.rate[floor]))
}

// A figure is one that is to be reached.
type figure struct {
	what, want, got string
	reached         bool
}

func (b *bench) figures() []figure {
	best := max(goqiteRate, median(b.rate["cycles: backlite on SQLite, 8 clients"]), median(b.rate["cycles: River on SQLite, 8 clients"]))
	cycles := median(b.rate["cycles: ours on SQLite, 8 clients"])
	claim := median(b.p99[fmt.Sprintf("claim: SQLite, %d pending, 1 clients", manyTasks)])
	http := median(b.rate["claim over HTTP: SQLite, 64 clients"]) / median(b.rate["floor: net/http, 64 clients"])
	list := []figure{
		{"cycles, 8 clients, beside the best peer (goqite as it was measured before)", fmt.Sprintf("%.1f times", wantCycles),
			fmt.Sprintf("%.2f times (%.0f beside %.0f)", cycles/best, cycles, best), cycles >= wantCycles*best},
		{"claim p99, one client, 100,000 pending", wantClaim.String(), fmt.Sprintf("%.2f ms", claim), claim < wantClaim.Seconds()*1000},
		{"claims over HTTP beside a bare handler, 64 clients", fmt.Sprintf("%.0f %%", wantHTTP*100), fmt.Sprintf("%.0f %%", http*100), http >= wantHTTP},
	}
	if b.postgres != "" {
		ours := median(b.rate[fmt.Sprintf("claim: PostgreSQL, %d pending, 8 clients", fewTasks)])
		river := median(b.rate["claim: River on PostgreSQL, 8 clients"])
		list = append(list, figure{"single claims on PostgreSQL beside River's single fetches, 8 clients", fmt.Sprintf("%.1f times", wantFetch),
			fmt.Sprintf("%.2f times (%.0f beside %.0f)", ours/river, ours, river), ours >= wantFetch*river})
	}
	return list
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
