package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A Poll is the state of polling of one repository.
type Poll struct {
	Repo     string    // as configured
	Success  time.Time // of the last successful poll; zero: there was none yet
	Failures int       // failures since the last success
}

// A pollCollector reports the state of polling at each scrape.
type pollCollector struct {
	list              func() []Poll
	success, failures *prometheus.Desc
}

func newPollCollector(list func() []Poll) *pollCollector {
	return &pollCollector{
		list:     list,
		success:  prometheus.NewDesc("foreman_poll_last_success_timestamp_seconds", "Time of the last successful poll of a repository; 0: none yet.", []string{"repo"}, nil),
		failures: prometheus.NewDesc("foreman_poll_failures", "Failed polls of a repository since the last success.", []string{"repo"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (p *pollCollector) Describe(c chan<- *prometheus.Desc) {
	c <- p.success
	c <- p.failures
}

// Collect implements prometheus.Collector.
func (p *pollCollector) Collect(c chan<- prometheus.Metric) {
	for _, one := range p.list() {
		at := 0.0
		if !one.Success.IsZero() {
			at = float64(one.Success.UnixMilli()) / 1000
		}
		c <- prometheus.MustNewConstMetric(p.success, prometheus.GaugeValue, at, one.Repo)
		c <- prometheus.MustNewConstMetric(p.failures, prometheus.GaugeValue, float64(one.Failures), one.Repo)
	}
}
