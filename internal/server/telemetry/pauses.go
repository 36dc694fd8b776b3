package telemetry

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/org/foreman-action/queue"
)

// A pauseCollector reports the pauses of the queue at each scrape.
type pauseCollector struct {
	list                 func(ctx context.Context) ([]queue.Pause, error)
	now                  func() time.Time
	log                  *slog.Logger
	labels               *labelValues
	paused, seconds, has *prometheus.Desc
}

func newPauseCollector(list func(ctx context.Context) ([]queue.Pause, error), now func() time.Time, log *slog.Logger) *pauseCollector {
	labels := []string{"scope", "name"}
	return &pauseCollector{
		list: list, now: now, log: log, labels: &labelValues{seen: map[string]map[string]bool{}},
		paused:  prometheus.NewDesc("foreman_paused", "1 for each pause. No pause, no series; missing also while the queue cannot be read.", labels, nil),
		seconds: prometheus.NewDesc("foreman_paused_seconds", "Time since the pause began.", labels, nil),
		has:     prometheus.NewDesc("foreman_paused_tasks", "Tasks that the pause holds, at most 1000.", labels, nil),
	}
}

// Describe implements prometheus.Collector.
func (p *pauseCollector) Describe(c chan<- *prometheus.Desc) {
	c <- p.paused
	c <- p.seconds
	c <- p.has
}

// Collect implements prometheus.Collector. Pauses beyond the number of label values are joined: the
// oldest is reported.
func (p *pauseCollector) Collect(c chan<- prometheus.Metric) {
	ctx, stop := context.WithTimeout(context.Background(), statsTimeout)
	defer stop()
	list, err := p.list(ctx)
	if err != nil {
		p.log.Warn("reading the pauses for the metrics failed", "error", err)
		return
	}
	reported := map[[2]string]bool{}
	for _, one := range list { // the oldest first
		kind := string(one.Scope.Kind)
		key := [2]string{kind, p.labels.of(kind, one.Scope.Name)}
		if reported[key] {
			continue
		}
		reported[key] = true
		gauge := func(d *prometheus.Desc, value float64) {
			c <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, key[:]...)
		}
		gauge(p.paused, 1)
		gauge(p.seconds, max(0, p.now().Sub(one.At).Seconds()))
		gauge(p.has, float64(one.Held))
	}
}
