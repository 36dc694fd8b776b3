package telemetry

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

// metrics are the metrics that are counted as events happen. A new metric needs a field here, named
// like the metric, and a line in newMetrics, which also registers it. Metrics that are computed at
// each scrape are in statsCollector and pollCollector.
type metrics struct {
	labels *labelValues

	enqueued, claims, heartbeats, completions, releases, operatorChanges *prometheus.CounterVec
	requeued, drained, queueErrors                                       *prometheus.CounterVec
	exhausted, purged                                                    prometheus.Counter
	pendingTime, agentTime, finishTime                                   prometheus.Histogram

	applyAttempts, nudges, loopRestarts, proposals *prometheus.CounterVec
	applyTime                                      prometheus.Histogram
	breakerOpen                                    *prometheus.GaugeVec
	judged, permissions                            *prometheus.CounterVec
	judgingWaits                                   *prometheus.GaugeVec

	httpTime, githubTime *prometheus.HistogramVec
	githubLimited        prometheus.Counter
	githubBudget         *prometheus.GaugeVec
	githubOutage         *prometheus.GaugeVec
}

func newMetrics(registry prometheus.Registerer, version string) *metrics {
	f := factory{promauto.With(registry)}
	m := &metrics{
		labels: &labelValues{seen: map[string]map[string]bool{}},

		enqueued:        f.counters("foreman_tasks_enqueued_total", "Events passed to the queue, by source and outcome.", "source", "how"),
		claims:          f.counters("foreman_claims_total", "Tasks handed out.", "agent"),
		heartbeats:      f.counters("foreman_heartbeats_total", "Heartbeats of agents.", "outcome"),
		completions:     f.counters("foreman_completions_total", "Decisions sent in by agents.", "outcome"),
		releases:        f.counters("foreman_releases_total", "Decisions released: by a limit or a stop (free), or by an error that counts as an attempt.", "cause"),
		operatorChanges: f.counters("foreman_operator_changes_total", "Tasks that operators retried, asked again or cancelled.", "verb", "outcome"),
		requeued:        f.counters("foreman_requeued_total", "Tasks whose claim or lease expired, by their new state.", "state"),
		drained:         f.counters("foreman_drained_total", "Leases of decisions that ended: done, failed, released, or lost to another server.", "outcome"),
		queueErrors:     f.counters("foreman_queue_errors_total", "Calls of the queue that failed because it could not be read or written.", "verb"),
		exhausted:       f.counter("foreman_exhausted_total", "Tasks that failed because no decision arrived, or because it could not be applied."),
		purged:          f.counter("foreman_purged_total", "Tasks that were deleted after their retention."),
		pendingTime:     f.slow("foreman_task_pending_seconds", "From enqueuing to the first claim."),
		agentTime:       f.slow("foreman_task_agent_seconds", "From a claim to its decision, if this process recorded both."),
		finishTime:      f.slow("foreman_task_finish_seconds", "From the decision to its end, done or failed."),

		applyAttempts: f.counters("foreman_apply_attempts_total", "Attempts to apply a decision, by their outcome.", "status"),
		nudges:        f.counters("foreman_nudges_total", "Notifications and requests to agents about tasks, by outcome.", "agent", "outcome"),
		loopRestarts:  f.counters("foreman_loop_restarts_total", "Loops of the server that failed and were restarted.", "loop"),
		proposals:     f.counters("foreman_proposals_total", "Proposals that were made, and that ended, by where people answer them.", "carrier", "outcome"),
		breakerOpen:   f.gauges("foreman_agent_breaker_open", "1 while the circuit breaker of an agent is open, else 0; none before the first failure.", "agent"),
		judged:        f.counters("foreman_actions_judged_total", "Actions whose outcome became known: undone by people, rejected ones included, or other.", "outcome"),
		permissions:   f.counters("foreman_permissions_total", "Permissions that a rule or an agent earned or lost by its track record.", "change"),
		judgingWaits:  f.gauges("foreman_judging_waiting_issues", "Issues with actions that the last pass of this server left to be judged.", "repo"),
		applyTime:     f.slow("foreman_apply_seconds", "One attempt to apply a decision."),

		httpTime:      f.fast("foreman_http_request_seconds", "Responses of the HTTP API. A long poll counts as next_wait.", "verb", "code"),
		githubTime:    f.fast("foreman_github_request_seconds", "Requests to GitHub; code is 0 without a response.", "method", "code"),
		githubLimited: f.counter("foreman_github_limited_total", "Responses of GitHub that requested a wait."),
		githubBudget:  f.gauges("foreman_github_budget_remaining", "Calls left until GitHub's limit, by its last response.", "resource"),
		githubOutage:  f.gauges("foreman_github_outage", "1 during an outage of GitHub, or of the server's credentials there, else 0.", "cause"),
	}
	f.gauges("foreman_build_info", "1; the labels identify the running program.", "version", "go_version").WithLabelValues(version, runtime.Version()).Set(1)
	// Alerts need these values before the first event.
	for _, cause := range []string{"credentials", "unavailable"} {
		m.githubOutage.WithLabelValues(cause)
	}
	for _, outcome := range []string{"done", "failed", "released", "lost"} {
		m.drained.WithLabelValues(outcome)
	}
	for _, carrier := range []triage.Carrier{triage.CarrierComment, triage.CarrierGitHub} {
		for _, outcome := range []string{"made", string(memory.Accepted), string(memory.Rejected), string(memory.Overtaken), string(memory.Expired)} {
			m.proposals.WithLabelValues(string(carrier), outcome)
		}
	}
	for _, outcome := range []string{"undone", "other"} {
		m.judged.WithLabelValues(outcome)
	}
	for _, change := range []string{"granted", "lost"} {
		m.permissions.WithLabelValues(change)
	}
	for _, s := range []queue.State{queue.Pending, queue.Completed} {
		m.requeued.WithLabelValues(string(s))
	}
	return m
}

// leaseEnded counts the end of a decision's lease. The statuses are those of package executor.
func (m *metrics) leaseEnded(o observe.Observation) {
	n, result := float64(o.N), "released"
	switch o.Status {
	case "done", "failed":
		result = o.Status
	case "given_up":
		result = "failed"
		m.exhausted.Add(n)
	case "again":
		m.releases.WithLabelValues("error").Add(n)
	case "given_off":
		m.releases.WithLabelValues("free").Add(n)
	case "lost":
		result = "lost"
	}
	m.drained.WithLabelValues(result).Add(n)
	if result == "done" || result == "failed" {
		m.finishTime.Observe(o.Took.Seconds())
	}
}

// A factory creates metrics and registers them.
type factory struct{ promauto.Factory }

func (f factory) counter(name, help string) prometheus.Counter {
	return f.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func (f factory) counters(name, help string, labels ...string) *prometheus.CounterVec {
	return f.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func (f factory) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return f.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

// slow returns a histogram, in seconds, for durations that include waiting for agents or people.
func (f factory) slow(name, help string) prometheus.Histogram {
	return f.NewHistogram(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: []float64{.1, .5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 14400, 86400},
	})
}

// fast is a histogram, in seconds, of HTTP requests.
func (f factory) fast(name, help string, labels ...string) *prometheus.HistogramVec {
	return f.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, labels)
}
