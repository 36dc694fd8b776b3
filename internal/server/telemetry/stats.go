package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/org/foreman-action/queue"
)

// statsTimeout limits counting the tasks.
const statsTimeout = 5 * time.Second

// A statsCollector reports the state of a queue. Scrapes within ttl share one count.
type statsCollector struct {
	queue  Store
	ttl    time.Duration
	now    func() time.Time
	log    *slog.Logger
	labels *labelValues

	mu    sync.Mutex
	at    time.Time
	stats queue.Stats
	err   error // of reading
	full  error // of writing

	tasks, held, draining, agents, oldest, claim, readable, writable *prometheus.Desc
}

func newStatsCollector(q Store, o Options, labels *labelValues) *statsCollector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("foreman_queue_"+name, help, labels, nil)
	}
	return &statsCollector{
		queue: q, ttl: o.StatsFor, now: o.Now, log: o.Log, labels: labels,
		tasks:    desc("tasks", "Tasks in the queue.", "state"),
		held:     desc("held_tasks", "Pending and completed tasks that are delayed until a time, such as by the hourly limit, or until another task of their issue has ended."),
		draining: desc("draining_tasks", "Completed tasks that are being applied."),
		agents:   desc("agent_tasks", "Tasks of an agent; delayed ones are also pending.", "agent", "state"),
		oldest:   desc("oldest_pending_seconds", "Age of the oldest pending task; 0: there is none."),
		claim:    desc("oldest_claim_seconds", "Age of the oldest claim of an agent; 0: there is none."),
		readable: desc("readable", "1 if the queue could be read, else 0."),
		writable: desc("writable", "1 if the queue can be written, else 0, such as with a full disk."),
	}
}

// Describe implements prometheus.Collector.
func (s *statsCollector) Describe(c chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{s.tasks, s.held, s.draining, s.agents, s.oldest, s.claim, s.readable, s.writable} {
		c <- desc
	}
}

// Collect implements prometheus.Collector.
func (s *statsCollector) Collect(c chan<- prometheus.Metric) {
	stats, full, err := s.count()
	gauge := func(desc *prometheus.Desc, v float64, labels ...string) {
		c <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v, labels...)
	}
	gauge(s.writable, working(full))
	gauge(s.readable, working(err))
	if err != nil {
		return
	}
	for _, state := range queue.States() {
		gauge(s.tasks, float64(stats.States[state]), string(state))
	}
	gauge(s.held, float64(stats.Held))
	gauge(s.draining, float64(stats.Draining))
	age := func(since time.Time) float64 {
		if since.IsZero() {
			return 0
		}
		return max(s.now().Sub(since).Seconds(), 0)
	}
	gauge(s.oldest, age(stats.Oldest))
	gauge(s.claim, age(stats.OldestClaim))
	for agent, n := range s.byLabel(stats.Agents) {
		gauge(s.agents, float64(n.Pending), agent, "pending")
		gauge(s.agents, float64(n.Held), agent, "held")
		gauge(s.agents, float64(n.Claimed), agent, "claimed")
	}
}

// working returns 1 without an error, else 0.
func working(err error) float64 {
	if err != nil {
		return 0
	}
	return 1
}

// byLabel adds up the agents that share a label value.
func (s *statsCollector) byLabel(list []queue.AgentStats) map[string]queue.AgentStats {
	out := map[string]queue.AgentStats{}
	for _, a := range list {
		name := s.labels.of("agent", a.Agent)
		sum := out[name]
		sum.Pending, sum.Held, sum.Claimed = sum.Pending+a.Pending, sum.Held+a.Held, sum.Claimed+a.Claimed
		out[name] = sum
	}
	return out
}

// count returns the state of the queue, why it cannot be written, and why it cannot be read.
func (s *statsCollector) count() (stats queue.Stats, full, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if age := now.Sub(s.at); !s.at.IsZero() && age >= 0 && age < s.ttl {
		return s.stats, s.full, s.err
	}
	ctx, stop := context.WithTimeout(context.Background(), statsTimeout)
	defer stop()
	s.at = now
	if s.stats, s.err = s.queue.Stats(ctx); s.err != nil {
		s.log.Warn("counting tasks for the metrics failed", "error", s.err)
	}
	healthy, stop := context.WithTimeout(context.Background(), statsTimeout) // slow counting is no failure to write
	defer stop()
	if s.full = s.queue.Healthy(healthy); s.full != nil {
		s.log.Warn("the queue's database cannot be written", "error", s.full)
	}
	return s.stats, s.full, s.err
}
