package telemetry

import (
	"runtime"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/org/foreman-action/queue"
)

// metrics are all that is counted as it happens.
type metrics struct {
	build *prometheus.GaugeVec

	enqueued    *prometheus.CounterVec
	claims      *prometheus.CounterVec
	heartbeats  *prometheus.CounterVec
	completions *prometheus.CounterVec
	requeued    *prometheus.CounterVec
	exhausted   prometheus.Counter
	ended       *prometheus.CounterVec
	releases    *prometheus.CounterVec
	operator    *prometheus.CounterVec
	purged      prometheus.Counter

	pendingTime  prometheus.Histogram
	agentTime    prometheus.Histogram
	finishTime   prometheus.Histogram
	applyTime    prometheus.Histogram
	queueErrors  *prometheus.CounterVec
	settled      *prometheus.CounterVec
	nudges       *prometheus.CounterVec
	restarts     *prometheus.CounterVec
	httpTime     *prometheus.HistogramVec
	githubTime   *prometheus.HistogramVec
	githubLimits prometheus.Counter
	githubLeft   *prometheus.GaugeVec

	pollSuccess  *prometheus.Desc
	pollFailures *prometheus.Desc
}

// The buckets of durations, in seconds: of what waits for agents and people, and of what
// answers at once.
func slowBuckets() []float64 {
	return []float64{.1, .5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 14400, 86400}
}

func fastBuckets() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
}

// newMetrics begins with zeros where an alert looks for the first one.
func newMetrics() *metrics {
	m := makeMetrics()
	for _, what := range []string{"done", "failed", "released", "lost"} {
		m.ended.WithLabelValues(what)
	}
	for _, s := range []queue.State{queue.Pending, queue.Completed} {
		m.requeued.WithLabelValues(string(s))
	}
	return m
}

func makeMetrics() *metrics {
	return &metrics{
		build: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "foreman_build_info", Help: "1; the labels say which program runs."}, []string{"version", "go_version"}),

		enqueued:    counters("foreman_tasks_enqueued_total", "Events that came to the queue, by where they came from and what became of them.", "source", "how"),
		claims:      counters("foreman_claims_total", "Tasks handed out.", "agent"),
		heartbeats:  counters("foreman_heartbeats_total", "Heartbeats of agents.", "outcome"),
		completions: counters("foreman_completions_total", "Decisions sent in by agents.", "outcome"),
		requeued:    counters("foreman_requeued_total", "Tasks whose claim or lease ran out, by the state in which they are again.", "state"),
		exhausted:   prometheus.NewCounter(prometheus.CounterOpts{Name: "foreman_exhausted_total", Help: "Tasks that were given up because no decision came, or could not be carried out."}),
		ended:       counters("foreman_drained_total", "Leases of decisions that ended: done, failed, released, or lost to somebody else.", "outcome"),
		releases:    counters("foreman_releases_total", "Decisions that were put off: by a limit or a stop (free), or by an error that counts as a try.", "cause"),
		operator:    counters("foreman_operator_changes_total", "Tasks that people retried or cancelled.", "verb", "outcome"),
		purged:      prometheus.NewCounter(prometheus.CounterOpts{Name: "foreman_purged_total", Help: "Tasks that were deleted after their retention."}),

		pendingTime: seconds("foreman_task_pending_seconds", "From enqueuing to the first claim."),
		agentTime:   seconds("foreman_task_agent_seconds", "From a claim to its decision, where this process saw both."),
		finishTime:  seconds("foreman_task_finish_seconds", "From the decision to its end, done or failed."),
		applyTime:   seconds("foreman_apply_seconds", "One attempt to carry a decision out."),

		queueErrors: counters("foreman_queue_errors_total", "Calls of the queue that failed because it could not be read or written.", "verb"),
		settled:     counters("foreman_apply_attempts_total", "Attempts to carry a decision out, by how they ended.", "status"),
		nudges:      counters("foreman_nudges_total", "Agents told of a task, or asked, by what came of it.", "agent", "outcome"),
		restarts:    counters("foreman_loop_restarts_total", "Loops of the server that failed and were started again.", "loop"),
		httpTime: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "foreman_http_request_seconds", Help: "Answers of the HTTP API. A long poll counts as next_wait.", Buckets: fastBuckets(),
		}, []string{"verb", "code"}),
		githubTime: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "foreman_github_request_seconds", Help: "Requests to GitHub; code is 0 when there was no answer.", Buckets: fastBuckets(),
		}, []string{"method", "code"}),
		githubLimits: prometheus.NewCounter(prometheus.CounterOpts{Name: "foreman_github_limited_total", Help: "Answers of GitHub that asked to wait."}),
		githubLeft: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "foreman_github_budget_remaining", Help: "Calls left until GitHub's limit, as its last answer said.",
		}, []string{"resource"}),

		pollSuccess:  prometheus.NewDesc("foreman_poll_last_success_timestamp_seconds", "When polling a repository went well last; 0: never.", []string{"repo"}, nil),
		pollFailures: prometheus.NewDesc("foreman_poll_failures", "Polls of a repository that failed since then.", []string{"repo"}, nil),
	}
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func seconds(name, help string) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: slowBuckets()})
}

func (m *metrics) all() []prometheus.Collector {
	return []prometheus.Collector{
		m.build, m.enqueued, m.claims, m.heartbeats, m.completions, m.requeued, m.exhausted, m.ended, m.releases, m.operator, m.purged,
		m.pendingTime, m.agentTime, m.finishTime, m.applyTime, m.queueErrors, m.settled, m.nudges, m.restarts, m.httpTime, m.githubTime,
		m.githubLimits, m.githubLeft,
	}
}

// polls tells of the poller when it is asked.
type polls struct {
	m    *metrics
	list func() []Poll
}

// Describe implements prometheus.Collector.
func (p *polls) Describe(c chan<- *prometheus.Desc) {
	c <- p.m.pollSuccess
	c <- p.m.pollFailures
}

// Collect implements prometheus.Collector.
func (p *polls) Collect(c chan<- prometheus.Metric) {
	for _, one := range p.list() {
		at := 0.0
		if !one.Success.IsZero() {
			at = float64(one.Success.UnixMilli()) / 1000
		}
		c <- prometheus.MustNewConstMetric(p.m.pollSuccess, prometheus.GaugeValue, at, one.Repo)
		c <- prometheus.MustNewConstMetric(p.m.pollFailures, prometheus.GaugeValue, float64(one.Failures), one.Repo)
	}
}

// maxNames is how many values a label has; later ones are "other".
const maxNames = 200

// names bounds the values of labels: a database may hold tasks for agents of long ago.
type names struct {
	mu   sync.Mutex
	seen map[string]map[string]bool
}

// of returns a value for a label. Nothing is "none".
func (n *names) of(label, value string) string {
	if value == "" {
		return "none"
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.seen[label]
	switch {
	case known[value]:
	case len(known) >= maxNames:
		return "other"
	default:
		if n.seen == nil {
			n.seen = map[string]map[string]bool{}
		}
		if known == nil {
			known = map[string]bool{}
			n.seen[label] = known
		}
		known[value] = true
	}
	return value
}

func goVersion() string { return runtime.Version() }
