package telemetry

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
)

// A proposalCollector reports the proposals that wait for people at each scrape.
type proposalCollector struct {
	count   func(ctx context.Context) (int, error)
	log     *slog.Logger
	pending *prometheus.Desc
}

func newProposalCollector(count func(ctx context.Context) (int, error), log *slog.Logger) *proposalCollector {
	return &proposalCollector{
		count: count, log: log,
		pending: prometheus.NewDesc("foreman_proposals_pending", "Proposals that wait for people; missing while the memory cannot be read.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (p *proposalCollector) Describe(c chan<- *prometheus.Desc) { c <- p.pending }

// Collect implements prometheus.Collector.
func (p *proposalCollector) Collect(c chan<- prometheus.Metric) {
	ctx, stop := context.WithTimeout(context.Background(), statsTimeout)
	defer stop()
	n, err := p.count(ctx)
	if err != nil {
		p.log.Warn("counting proposals for the metrics failed", "error", err)
		return
	}
	c <- prometheus.MustNewConstMetric(p.pending, prometheus.GaugeValue, float64(n))
}
