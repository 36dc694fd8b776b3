package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/org/foreman-action/queue"
)

// statsTime is how long counting the tasks may take.
const statsTime = 5 * time.Second

// depth counts the tasks of a queue when it is asked, but not too often.
type depth struct {
	t *Telemetry
	q queue.Queue

	mu    sync.Mutex
	at    time.Time
	stats queue.Stats
	err   error

	tasks, held, draining, agents, oldest, readable *prometheus.Desc
}

func newDepth(t *Telemetry, q queue.Queue) *depth {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("foreman_queue_"+name, help, labels, nil)
	}
	return &depth{
		t: t, q: q,
		tasks:    desc("tasks", "Tasks in the queue.", "state"),
		held:     desc("held_tasks", "Of the pending and completed tasks: held back until a time, such as by the hourly limit, or until another task of their issue has ended."),
		draining: desc("draining_tasks", "Of the completed tasks: being carried out."),
		agents:   desc("agent_tasks", "Tasks of an agent; those held back are also pending.", "agent", "state"),
		oldest:   desc("oldest_pending_seconds", "Age of the oldest pending task; 0: there is none."),
		readable: desc("readable", "Whether the queue could be read, 1 or 0."),
	}
}

// Describe implements prometheus.Collector.
func (d *depth) Describe(c chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{d.tasks, d.held, d.draining, d.agents, d.oldest, d.readable} {
		c <- desc
	}
}

// Collect implements prometheus.Collector.
func (d *depth) Collect(c chan<- prometheus.Metric) {
	stats, err := d.count()
	gauge := func(desc *prometheus.Desc, v float64, labels ...string) {
		c <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v, labels...)
	}
	if err != nil {
		gauge(d.readable, 0)
		return
	}
	gauge(d.readable, 1)
	for _, s := range queue.States() {
		gauge(d.tasks, float64(stats.States[s]), string(s))
	}
	gauge(d.held, float64(stats.Held))
	gauge(d.draining, float64(stats.Draining))
	age := 0.0
	if !stats.Oldest.IsZero() {
		age = max(d.t.o.Now().Sub(stats.Oldest).Seconds(), 0)
	}
	gauge(d.oldest, age)
	for agent, n := range d.byAgent(stats.Agents) {
		gauge(d.agents, float64(n.Pending), agent, "pending")
		gauge(d.agents, float64(n.Held), agent, "held")
		gauge(d.agents, float64(n.Claimed), agent, "claimed")
	}
}

// byAgent adds up those agents that share a name.
func (d *depth) byAgent(list []queue.AgentStats) map[string]queue.AgentStats {
	out := map[string]queue.AgentStats{}
	for _, a := range list {
		name := d.t.names.of("agent", a.Agent)
		sum := out[name]
		sum.Pending, sum.Held, sum.Claimed = sum.Pending+a.Pending, sum.Held+a.Held, sum.Claimed+a.Claimed
		out[name] = sum
	}
	return out
}

func (d *depth) count() (queue.Stats, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.t.o.Now()
	if age := now.Sub(d.at); !d.at.IsZero() && age >= 0 && age < d.t.o.StatsFor {
		return d.stats, d.err
	}
	ctx, stop := context.WithTimeout(context.Background(), statsTime)
	defer stop()
	d.at = now
	if d.stats, d.err = d.q.Stats(ctx); d.err != nil {
		d.t.o.Log.Warn("the queue cannot be counted for the metrics", "error", d.err)
	}
	return d.stats, d.err
}
