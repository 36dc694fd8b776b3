package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A Limit is the state of GitHub's limits of one account.
type Limit struct {
	Account string    // as configured
	Until   time.Time // end of the current limit; zero: there is none
}

// A limitCollector reports the state of GitHub's limits at each scrape.
type limitCollector struct {
	list func() []Limit
	now  func() time.Time
	left *prometheus.Desc
}

func newLimitCollector(list func() []Limit, now func() time.Time) *limitCollector {
	return &limitCollector{
		list: list, now: now,
		left: prometheus.NewDesc("foreman_github_limit_seconds", "Time until GitHub's limit of an account ends, during which all its requests wait; 0: no limit.", []string{"account"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (l *limitCollector) Describe(c chan<- *prometheus.Desc) { c <- l.left }

// Collect implements prometheus.Collector.
func (l *limitCollector) Collect(c chan<- prometheus.Metric) {
	for _, one := range l.list() {
		left := max(0, one.Until.Sub(l.now()))
		c <- prometheus.MustNewConstMetric(l.left, prometheus.GaugeValue, left.Seconds(), one.Account)
	}
}
