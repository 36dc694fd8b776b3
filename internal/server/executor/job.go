package executor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// A job is a parsed decision.
type job struct {
	event   triage.Delivery
	message *protocol.DecisionMessage // nil: decided without an agent
	trace   string
}

// writes reports whether the decision may write at all.
func (j job) writes() bool { return j.message == nil || j.message.Decision.Writes() }

// sends reports whether the decision may send writes to GitHub: never_again only writes to
// the memory.
func (j job) sends() bool {
	return j.message == nil || j.writes() &&
		slices.ContainsFunc(j.message.Actions, func(a protocol.ActionItem) bool {
			spec, _ := protocol.SpecOf(a.Type)
			return !spec.RecordOnly
		})
}

// identity returns the identity of a decision, by which the journal and the markers in comments
// recognize its writes. The first decision on a task has the task's id. Each later one, after the
// agent was asked again, has an id that is derived from the task's id.
func identity(dec queue.Decision) runner.TaskIdentity {
	id := runner.TaskIdentity{ID: dec.ID, First: dec.Tries == 0 && dec.Leases <= 1}
	for n := range dec.Asks {
		id.Earlier = append(id.Earlier, id.ID)
		id.ID = protocol.DeriveTaskID("asked again", dec.ID, strconv.Itoa(n+1))
	}
	return id
}

// parse parses a decision and its event. An event of another issue than that of the task is
// an error.
func parse(dec queue.Decision) (job, error) {
	var j job
	task, err := protocol.ParseTask(dec.Message)
	if err != nil {
		return j, fmt.Errorf("the task cannot be read: %w", err)
	}
	origin, err := queue.ParseOrigin(dec.Origin)
	if err != nil {
		return j, fmt.Errorf("the origin of the task cannot be read: %w", err)
	}
	if origin.Event == "" { // the queue of the published harness stores only the issue
		origin.Event = triage.EventRepositoryDispatch
	}
	j.trace = origin.Trace
	j.event, err = triage.ParseEvent(triage.EventSource{Name: origin.Event, Repo: dec.Repo, Issue: dec.Issue, Payload: task.Payload})
	if err != nil {
		return j, fmt.Errorf("the event of the task cannot be read: %w", err)
	}
	if !strings.EqualFold(j.event.FullRepo(), dec.Repo) || j.event.Number != dec.Issue {
		return j, fmt.Errorf("the event is about %s, the task about %s#%d", j.event.Ref(), dec.Repo, dec.Issue)
	}
	if dec.Result == nil {
		return j, nil
	}
	m, err := protocol.ParseDecision(dec.Result)
	if err != nil {
		return j, fmt.Errorf("the decision cannot be read: %w", err)
	}
	j.message = &m
	return j, nil
}
