package assembly

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/harness"
	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/internal/server/dashboard"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/internal/server/managed"
	"github.com/org/foreman-action/internal/server/outage"
	"github.com/org/foreman-action/internal/server/recorder"
	"github.com/org/foreman-action/queue"
)

// A health reports the state of a server's parts.
type health struct {
	store   database.Store
	copies  database.Copies
	harness *harness.Harness
	history *recorder.Recorder
	agents  *managed.Supervisor // nil: the server starts no agents
	polling *activePoller
	github  *outage.Monitor // nil: GitHub is never called
	limits  *Limits
	now     func() time.Time
}

// check returns the dependencies of the server by name, each with its error or nil. An outage of
// GitHub or of an agent, and a limit of GitHub, is an [api.DegradedError], because events and agents are
// still served, and a restart of the server would not help.
func (h health) check(ctx context.Context) map[string]error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	all := map[string]error{"queue": h.store.Healthy(ctx)}
	if err := h.copies.Err(); err != nil {
		all["copy of a lost database"] = &api.DegradedError{Err: err}
	}
	for _, l := range h.loops() {
		all["loop "+l.Loop] = nil
		if l.OK {
			continue
		}
		err := errors.New(cmp.Or(l.Reason, "it is late"))
		if l.Optional {
			err = &api.DegradedError{Err: err}
		}
		all["loop "+l.Loop] = err
	}
	if h.github != nil {
		all["github"] = nil
		if err := errors.Join(h.github.Err(), h.limits.err(h.now())); err != nil {
			all["github"] = &api.DegradedError{Err: err}
		}
	}
	var failing []string
	for _, o := range h.harness.Outages() {
		failing = append(failing, fmt.Sprintf("%s has failed since %s: %s", o.Agent, o.Since.UTC().Format(time.DateTime), o.Reason))
	}
	if len(failing) > 0 {
		all["agents"] = &api.DegradedError{Err: errors.New(strings.Join(failing, "; "))}
	}
	if h.agents != nil {
		for _, s := range h.agents.Statuses() {
			all["agent "+s.Agent.Name] = nil
			if s.State == managed.Failed || s.State == managed.Waiting {
				all["agent "+s.Agent.Name] = errors.New(s.Reason)
			}
		}
	}
	return all
}

// loops returns the states of all loops.
func (h health) loops() []harness.Health {
	return append(h.harness.Health(), harness.Health(h.history.Health()))
}

// stuck returns the loops that make no progress. It returns none if healthy returns an error of the
// database, for which they may wait.
func stuck(loops []harness.Health, healthy func() error) (names []string) {
	for _, l := range loops {
		if l.Stuck {
			names = append(names, "loop "+l.Loop)
		}
	}
	if len(names) > 0 && healthy() != nil {
		return nil
	}
	return names
}

// report returns the results of check and the state of polling for the dashboard.
func (h health) report(ctx context.Context) []dashboard.Health {
	var list []dashboard.Health
	for name, err := range h.check(ctx) {
		one := dashboard.Health{Name: name, OK: err == nil}
		if err != nil {
			one.Detail = err.Error()
		}
		list = append(list, one)
	}
	for _, l := range h.loops() {
		if i := slices.IndexFunc(list, func(o dashboard.Health) bool { return o.Name == "loop "+l.Loop }); i >= 0 {
			list[i].Since = l.Last
		}
	}
	if h.agents != nil {
		for _, s := range h.agents.Statuses() {
			i := slices.IndexFunc(list, func(o dashboard.Health) bool { return o.Name == "agent "+s.Agent.Name })
			list[i].OK, list[i].Detail = s.State == managed.Healthy, fmt.Sprintf("%s %s", s.State, s.Reason)
		}
	}
	for _, r := range h.polling.health() {
		one := dashboard.Health{Name: "polling " + r.Repo, OK: r.Err == "", Detail: r.Err, Since: r.Success}
		if r.Slowed {
			one.Detail = "slowed: few calls are left. " + r.Err
		}
		list = append(list, one)
	}
	if held := h.leases(); held != "" {
		list = append(list, dashboard.Health{Name: "leases", OK: true, Detail: held})
	}
	slices.SortFunc(list, func(a, b dashboard.Health) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// leases reports decisions that wait for the end of another server's lease; empty: none. It
// names no server, because anyone may read it.
func (h health) leases() string {
	list := h.harness.Unrenewed()
	if len(list) == 0 {
		return ""
	}
	last := slices.MaxFunc(list, func(a, b queue.ActiveLease) int { return cmp.Compare(a.Left, b.Left) })
	return fmt.Sprintf("leases that their server does not renew: %d; their decisions continue when the leases end, the last one in %s", len(list), last.Left.Round(time.Second))
}
