package main

import (
	"context"
	"fmt"

	"github.com/org/foreman-action/internal/queuebench/internal/ratio"
)

// A measurement is one row of the report.
type measurement struct {
	row   string
	floor string // the row whose rate limits this one; empty: none
	load  load
	run   workload
}

// A results collects the samples of all measurements. The zero value is empty.
type results struct {
	rows   []*row // in the order of their first samples
	ratios map[[2]string][]float64
}

// A row has the samples of one measurement.
type row struct {
	name, floor string
	samples     []sample
}

// median returns the median of value over the samples.
func (r *row) median(value func(sample) float64) float64 {
	values := make([]float64, len(r.samples))
	for i, s := range r.samples {
		values[i] = value(s)
	}
	return ratio.Quantile(values, 0.5)
}

// row returns the row with that name. If it was not measured, it returns a row without samples.
func (r *results) row(name string) *row {
	for _, known := range r.rows {
		if known.name == name {
			return known
		}
	}
	return &row{}
}

// rate returns the median rate of a row; 0 if it was not measured.
func (r *results) rate(name string) float64 {
	return r.row(name).median(func(s sample) float64 { return s.rate })
}

// ratio returns the rate of row divided by the rate of other, for each turn. It is nil if the two
// rows did not take turns.
func (r *results) ratio(row, other string) []float64 { return r.ratios[[2]string{row, other}] }

// once runs measurements one after the other.
func (r *results) once(ctx context.Context, list ...measurement) error {
	for _, m := range list {
		if err := r.takeTurns(ctx, 1, m); err != nil {
			return err
		}
	}
	return nil
}

// takeTurns runs each measurement once a turn, in at most about a second. Each turn begins with
// another measurement. The speed of a machine changes within seconds by more than the queues
// differ. So their rates are compared within one turn.
func (r *results) takeTurns(ctx context.Context, turns int, list ...measurement) error {
	for turn := range turns {
		rates := map[string]float64{}
		for i := range list {
			m := list[(i+turn)%len(list)]
			s, err := m.run(ctx, m.load)
			if err != nil {
				return fmt.Errorf("%s: %w", m.row, err)
			}
			r.add(m, s)
			rates[m.row] = s.rate
		}
		r.addRatios(rates)
	}
	return nil
}

func (r *results) add(m measurement, s sample) {
	known := r.row(m.row)
	if known.samples == nil {
		known.name, known.floor = m.row, m.floor
		r.rows = append(r.rows, known)
	}
	known.samples = append(known.samples, s)
}

func (r *results) addRatios(rates map[string]float64) {
	if r.ratios == nil {
		r.ratios = map[[2]string][]float64{}
	}
	for row, rate := range rates {
		for other, rateOfOther := range rates {
			pair := [2]string{row, other}
			r.ratios[pair] = append(r.ratios[pair], rate/rateOfOther)
		}
	}
}
