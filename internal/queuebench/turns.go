package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/org/foreman-action/queue"
)

// turns is how many slices each racer has in a round.
const turns = 5

// A racer is a subject that is measured in slices, in turns with others.
type racer struct {
	row string
	run func(ctx context.Context, slice int) (sample, error)
}

// compete measures the first racer beside the others. A machine is now quicker and now slower,
// more than subjects differ: so they take turns in slices of a second or less, who begins changes,
// and what counts is the median of the ratios to the neighbours.
func (b *bench) compete(ctx context.Context, racers ...racer) error {
	n := turns
	if b.quick {
		n = 1
	}
	for slice := range n {
		rate := map[string]float64{}
		for i := range racers {
			r := racers[(i+slice)%len(racers)]
			got, err := r.run(ctx, slice)
			if err != nil {
				return fmt.Errorf("%s: %w", r.row, err)
			}
			b.addSample(r.row, got)
			rate[r.row] = got.rate
		}
		for _, peer := range racers[1:] {
			b.times[peer.row] = append(b.times[peer.row], rate[racers[0].row]/rate[peer.row])
		}
	}
	return nil
}

// The rows that are compared.
const (
	rowCycles   = "cycles: ours on SQLite, 8 clients"
	rowBacklite = "cycles: backlite on SQLite, 8 clients"
	rowRiver    = "cycles: River on SQLite, 8 clients"
	rowClaims   = "claim: ours on PostgreSQL, beside River, 8 clients"
	rowFetches  = "claim: River on PostgreSQL, 8 clients"
)

// cycles measures whole cycles, with 8 clients beside peers, all on SQLite.
func (b *bench) cycles(ctx context.Context, dir string) error {
	n := b.scale(1000)
	peer := func(run func(context.Context, string, int, int) (float64, error)) func(context.Context, int) (sample, error) {
		return func(ctx context.Context, slice int) (sample, error) {
			own := filepath.Join(dir, fmt.Sprint("peer-", slice))
			if err := os.MkdirAll(own, 0o755); err != nil {
				return sample{}, err
			}
			rate, err := run(ctx, own, 8, n)
			return sample{rate: rate}, err
		}
	}
	ours := func(clients, n int, name string) (rate float64, err error) {
		err = onSQLite(ctx, filepath.Join(dir, name), func(q queue.Queue) error {
			rate, err = ourCycles(ctx, q, clients, n)
			return err
		})
		return rate, err
	}
	err := b.compete(ctx,
		racer{rowCycles, func(_ context.Context, slice int) (sample, error) {
			rate, err := ours(8, 2*n, fmt.Sprintf("cycles-8-%d.db", slice))
			return sample{rate: rate}, err
		}},
		racer{rowBacklite, peer(backliteCycles)}, racer{rowRiver, peer(riverSQLiteCycles)})
	if err != nil {
		return err
	}
	for _, clients := range []int{1, 64} {
		rate, err := ours(clients, b.scale(4000), fmt.Sprintf("cycles-%d.db", clients))
		if err != nil {
			return err
		}
		b.add(fmt.Sprintf("cycles: ours on SQLite, %d clients", clients), rate)
	}
	return nil
}

// fetches measures single claims on PostgreSQL beside River's single fetches. Each slice has
// tables of its own, with more in them than is taken.
func (b *bench) fetches(ctx context.Context, pool *pgxpool.Pool) error {
	n := b.scale(2000)
	ours := func(ctx context.Context, _ int) (s sample, err error) {
		err = onDatabase(ctx, b.postgres, func(q queue.Queue) error {
			if err := fill(ctx, q, n+fewTasks); err != nil {
				return err
			}
			s, err = each(ctx, 8, n, func(ctx context.Context, _ int) error {
				_, err := claim(ctx, q)
				return err
			})
			return err
		})
		return s, err
	}
	river := func(ctx context.Context, _ int) (sample, error) { return riverFetches(ctx, pool, 8, n) }
	return b.compete(ctx, racer{rowClaims, ours}, racer{rowFetches, river})
}
