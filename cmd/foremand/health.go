package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/server/dashboard"
	"github.com/org/foreman-action/internal/server/managed"
	"github.com/org/foreman-action/internal/server/telemetry"
)

// health tells of what the server depends on, by name: nil for what is well. That GitHub
// cannot be asked is not among it: a restart would not help.
func (h *harness) health(ctx context.Context) map[string]error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	all := map[string]error{"queue": healthy(ctx, h.stores.queue)}
	if h.stores.memory != h.stores.queue {
		all["memory"] = healthy(ctx, h.stores.memory)
	}
	for _, l := range h.background.Health() {
		all["loop "+l.Loop] = nil
		if !l.OK {
			all["loop "+l.Loop] = errors.New(cmp.Or(l.Reason, "it is late"))
		}
	}
	if h.fleet != nil {
		for _, s := range h.fleet.Statuses() {
			all["agent "+s.Agent.Name] = nil
			if s.State == managed.Failed || s.State == managed.Waiting {
				all["agent "+s.Agent.Name] = errors.New(s.Reason)
			}
		}
	}
	return all
}

// report is health in the words of the dashboard, with how polling goes.
func (h *harness) report(ctx context.Context) []dashboard.Health {
	var list []dashboard.Health
	for name, err := range h.health(ctx) {
		one := dashboard.Health{Name: name, OK: err == nil}
		if err != nil {
			one.Detail = err.Error()
		}
		list = append(list, one)
	}
	for _, l := range h.background.Health() {
		if i := slices.IndexFunc(list, func(o dashboard.Health) bool { return o.Name == "loop "+l.Loop }); i >= 0 {
			list[i].Since = l.Last
		}
	}
	if h.fleet != nil {
		for _, s := range h.fleet.Statuses() {
			i := slices.IndexFunc(list, func(o dashboard.Health) bool { return o.Name == "agent "+s.Agent.Name })
			list[i].OK, list[i].Detail = s.State == managed.Healthy, fmt.Sprintf("%s %s", s.State, s.Reason)
		}
	}
	if h.poller != nil && h.lead.Load() {
		for _, r := range h.poller.p.Health() {
			one := dashboard.Health{Name: "polling " + r.Repo, OK: r.Err == "", Detail: r.Err, Since: r.Success}
			if r.Slowed {
				one.Detail = "slowed: few calls are left. " + r.Err
			}
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b dashboard.Health) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// polls tells how polling goes, for the metrics.
func (h *harness) polls() []telemetry.Poll {
	if h.poller == nil || !h.lead.Load() {
		return nil
	}
	var list []telemetry.Poll
	for _, r := range h.poller.p.Health() {
		list = append(list, telemetry.Poll{Repo: r.Repo, Success: r.Success, Failures: r.Failures})
	}
	return list
}
