package agentcheck

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/org/foreman-action/agent"
)

// A runner makes checks one after the other, and adds the results to the report.
type runner struct {
	session *session
	done    func(Check) // nil: not called
	report  Report
}

// run makes all checks for the forms of the protocol that the agent speaks.
func (r *runner) run(ctx context.Context) {
	s := r.session
	// The first heartbeat fails, for whichever task it is.
	s.harness.fault("/queue/heartbeat", http.StatusServiceUnavailable)
	stop := r.make(ctx, startChecks(), "")
	wires := []string{cmp.Or(s.wire, Queue)}
	if stop == "" && s.wire == "" {
		wires = detectWires(ctx, s)
	}
	r.report.Wires = []string{}
	for _, wire := range wires {
		r.make(ctx, map[string][]check{Queue: queueChecks(), Sync: syncChecks()}[wire], stop)
		r.report.Wires = append(r.report.Wires, wire)
	}
	r.make(ctx, recordChecks(), "") // the requests so far can be checked even after a stop
	r.make(ctx, endChecks(), "")
}

// make runs checks. If stop is not empty, it skips them for this reason. It returns the reason to
// skip the checks after these; empty: none.
func (r *runner) make(ctx context.Context, list []check, stop string) string {
	for _, c := range list {
		o := skipped("%s", stop)
		if stop == "" {
			o = c.run(ctx, r.session)
			stop = o.stop
		}
		if ctx.Err() != nil {
			return stop
		}
		done := Check{ID: c.id, Wire: c.wire, Must: c.must, Want: c.want, Result: o.result, Got: o.got}
		r.report.Checks = append(r.report.Checks, done)
		if r.done != nil {
			r.done(done)
		}
	}
	return stop
}

// detectWires returns the forms of the protocol that the agent speaks.
func detectWires(ctx context.Context, s *session) []string {
	var wires []string
	claims := s.harness.record().claims
	if status, err := s.agent.nudge(ctx, unknownTask); claims > 0 || err == nil && status < 300 {
		wires = append(wires, Queue)
	}
	// The answer counts as a decision, even one with mistakes, if its status is 200. A receipt
	// has status 202.
	_, err := s.decide(ctx, newTask(nil))
	if e, ok := errors.AsType[*agent.Error](err); err == nil || ok && e.Status == http.StatusOK {
		wires = append(wires, Sync)
	}
	if len(wires) == 0 {
		return []string{Queue}
	}
	return wires
}
