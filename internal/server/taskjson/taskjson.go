// Package taskjson is the JSON form of a task for operators: in the answers of the API and in what the
// commands print. The format is stable: new versions only add fields.
package taskjson

import (
	"time"

	"github.com/org/foreman-action/queue"
)

// A Task is the state of a task.
type Task struct {
	ID        string     `json:"task_id"`
	Version   string     `json:"version"` // changes with each claim, lease and change of the state
	State     string     `json:"state"`
	Agent     string     `json:"agent"`
	Repo      string     `json:"repo"`
	Issue     int        `json:"issue"`
	Held      bool       `json:"held"`
	Behind    string     `json:"behind,omitempty"`
	Draining  bool       `json:"draining"`
	Owner     string     `json:"owner,omitempty"`
	Attempt   int        `json:"attempt"`
	Tries     int        `json:"tries"`
	Asks      int        `json:"asks"` // how often the agent was called again
	Priority  int        `json:"priority"`
	Reason    string     `json:"reason,omitempty"`
	Enqueued  time.Time  `json:"enqueued"`
	Ready     *time.Time `json:"ready,omitempty"`
	Claimed   *time.Time `json:"claimed,omitempty"`
	Until     *time.Time `json:"until,omitempty"`
	Completed *time.Time `json:"completed,omitempty"`
	Ended     *time.Time `json:"ended,omitempty"`
}

// Of returns the JSON form of a task. Its times are in UTC.
func Of(t queue.Info) Task {
	at := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		t = t.UTC()
		return &t
	}
	return Task{
		ID: t.ID, Version: Version(t.Seen()), State: string(t.State), Agent: t.Agent, Repo: t.Repo, Issue: t.Issue, Held: t.Held, Behind: t.Behind, Draining: t.Draining,
		Owner: t.Owner, Attempt: t.Attempt, Tries: t.Tries, Asks: t.Asks, Priority: t.Priority, Reason: t.Reason, Enqueued: t.Enqueued.UTC(),
		Ready: at(t.Ready), Claimed: at(t.Claimed), Until: at(t.Until), Completed: at(t.Completed), Ended: at(t.Ended),
	}
}

// List returns the JSON form of several tasks; never nil.
func List(list []queue.Info) []Task {
	out := make([]Task, 0, len(list))
	for _, t := range list {
		out = append(out, Of(t))
	}
	return out
}
