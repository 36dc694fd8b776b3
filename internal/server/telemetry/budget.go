package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/org/foreman-action/internal/server/budget"
)

// A budgetCollector reports the calls to GitHub at each scrape.
type budgetCollector struct {
	report                    func() budget.Report
	now                       func() time.Time
	calls, left, limit, reset *prometheus.Desc
}

func newBudgetCollector(report func() budget.Report, now func() time.Time) *budgetCollector {
	account := []string{"account", "resource"}
	return &budgetCollector{
		report: report, now: now,
		calls: prometheus.NewDesc("foreman_github_calls_total", "Calls to GitHub that count towards its limit, for decisions on events, and for others such as polls.", []string{"repo", "for"}, nil),
		left:  prometheus.NewDesc("foreman_github_account_calls_left", "Calls that GitHub still accepts from an account in its current hour, including those of other programs.", account, nil),
		limit: prometheus.NewDesc("foreman_github_account_calls_limit", "Calls that GitHub accepts from an account in an hour.", account, nil),
		reset: prometheus.NewDesc("foreman_github_account_reset_seconds", "Time until GitHub's current hour of an account ends; 0: it has ended.", account, nil),
	}
}

// Describe implements prometheus.Collector.
func (b *budgetCollector) Describe(c chan<- *prometheus.Desc) {
	c <- b.calls
	c <- b.left
	c <- b.limit
	c <- b.reset
}

// Collect implements prometheus.Collector. Repositories beyond the maximum of label values are reported
// together; their order does not change, so that each counter only grows.
func (b *budgetCollector) Collect(c chan<- prometheus.Metric) {
	r := b.report()
	rest := budget.Repository{Name: budget.Other}
	for i, repo := range r.Repositories {
		if repo.Name == budget.Other || i >= maxLabelValues {
			rest.Total += repo.Total
			rest.TotalForEvents += repo.TotalForEvents
			continue
		}
		b.count(c, repo)
	}
	if rest.Total > 0 {
		b.count(c, rest)
	}
	for _, a := range r.Accounts {
		if a.Limit == 0 {
			continue // GitHub has not reported a limit, or has none
		}
		reset := 0.0
		if !a.Reset.IsZero() {
			reset = max(0, a.Reset.Sub(b.now()).Seconds())
		}
		for desc, value := range map[*prometheus.Desc]float64{b.left: float64(a.Left), b.limit: float64(a.Limit), b.reset: reset} {
			c <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, a.Name, a.Resource)
		}
	}
}

func (b *budgetCollector) count(c chan<- prometheus.Metric, r budget.Repository) {
	c <- prometheus.MustNewConstMetric(b.calls, prometheus.CounterValue, float64(r.TotalForEvents), r.Name, "event")
	c <- prometheus.MustNewConstMetric(b.calls, prometheus.CounterValue, float64(r.Total-r.TotalForEvents), r.Name, "other")
}
