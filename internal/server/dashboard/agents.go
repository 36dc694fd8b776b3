package dashboard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
)

// times are the percentiles of a duration, as text; empty: no values.
type times struct{ P50, P99 string }

// A record is the recent results of an agent.
type record struct {
	done, failed int
	wait, decide []time.Duration
}

// add counts a task that ended. A cancelled task counts neither as done nor as failed.
func (r *record) add(i queue.Info) {
	switch {
	case i.State == queue.Done:
		r.done++
	case strings.HasPrefix(i.Reason, "cancelled by "):
		return
	default:
		r.failed++
	}
	if i.Claimed.IsZero() {
		return
	}
	r.wait = append(r.wait, max(0, i.Claimed.Sub(i.Enqueued)))
	if !i.Completed.IsZero() && !i.Completed.Before(i.Claimed) {
		r.decide = append(r.decide, i.Completed.Sub(i.Claimed))
	}
}

// success formats the percentage of done tasks among those that are done or failed.
func (r *record) success() string {
	n := r.done + r.failed
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %% of %d", 100*r.done/n, n)
}

// newTimes returns the median and the 99th percentile of a list.
func newTimes(list []time.Duration) times {
	if len(list) == 0 {
		return times{}
	}
	slices.Sort(list)
	at := func(percent int) string { return span(list[(len(list)*percent+99)/100-1]) }
	return times{at(50), at(99)}
}

// span formats a length of time.
func span(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}

// agentRows returns the sorted rows of the agents that have open tasks or recently ended tasks.
// Tasks without an agent are those of the server's own rules.
func agentRows(open []queue.AgentStats, recent []queue.Info) []agentRow {
	rows, records := map[string]agentRow{}, map[string]*record{}
	for _, i := range recent {
		r := records[i.Agent]
		if r == nil {
			r = &record{}
			records[i.Agent] = r
		}
		r.add(i)
		rows[i.Agent] = agentRow{}
	}
	for _, a := range open {
		rows[a.Agent] = agentRow{Waiting: a.Pending - a.Held, Held: a.Held, Claimed: a.Claimed}
	}
	delete(rows, "")
	var list []agentRow
	for _, agent := range slices.SortedFunc(maps.Keys(rows), cmp.Compare[string]) {
		row := rows[agent]
		row.Name, row.URL = agentName(agent), filterURL(queue.Filter{Agent: agent})
		if r := records[agent]; r != nil {
			row.Success, row.Wait, row.Decide = r.success(), newTimes(r.wait), newTimes(r.decide)
		}
		list = append(list, row)
	}
	return list
}
